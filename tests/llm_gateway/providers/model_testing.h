// What the tests of models over HTTP share: a key, a configuration with short deadlines, and one call, whose waits
// between tries take no time although its clock counts them.
// Threading: one thread, but for the transport.
#ifndef WARPSMITH_TESTS_LLM_GATEWAY_PROVIDERS_MODEL_TESTING_H_
#define WARPSMITH_TESTS_LLM_GATEWAY_PROVIDERS_MODEL_TESTING_H_

#include <atomic>
#include <string>

#include "common/clock.h"
#include "llm_gateway/http/curl_transport.h"
#include "llm_gateway/providers/http_model.h"

namespace warpsmith::gateway {

inline constexpr char kTestKey[] = "sk-test-0123456789abcdefghijklmnop";

inline ModelConfig TestModel(const std::string& provider, const std::string& base_url) {
  ModelConfig config;
  config.name = "m";
  config.provider = provider;
  config.place = "g.yaml:2: models[0]";
  config.base_url = base_url;
  config.model = "fake-model";
  config.first_byte_seconds = 10;
  config.idle_seconds = 10;
  config.total_seconds = 30;
  return config;
}

inline PromptRequest TestPrompt() {
  PromptRequest request;
  request.messages = {{"system", "contract", true}, {"user", "question", false}};
  return request;
}

class HurriedClock final : public Clock {
 public:
  TimePoint Now() const override { return RealClock().Now() + Duration(skipped_.load()); }
  int64_t WallMicros() const override { return RealClock().WallMicros() + skipped_.load() / 1000; }
  void SleepFor(Duration duration) override { skipped_ += duration.count(); }

 private:
  std::atomic<int64_t> skipped_{0};  // nanoseconds
};

inline Completion Ask(const ModelConfig& config, const PromptRequest& request, Cancellation& cancellation, Clock& clock,
                      const DeltaCallback& on_delta = nullptr) {
  static CurlTransport transport;
  HttpModel model(
      config, MakeWireFormat(config), [config] { return KeyOf(config); }, transport, clock, [] { return 0.5; });
  return model.Complete(request, on_delta, cancellation);
}

inline Completion Ask(const ModelConfig& config, const PromptRequest& request = TestPrompt(),
                      Cancellation* cancellation = nullptr, const DeltaCallback& on_delta = nullptr) {
  Cancellation own;
  HurriedClock clock;
  return Ask(config, request, cancellation != nullptr ? *cancellation : own, clock, on_delta);
}

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_TESTS_LLM_GATEWAY_PROVIDERS_MODEL_TESTING_H_
