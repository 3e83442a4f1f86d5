// Starts a fake server of models and stops it with its owner: tests/support/fake_openai_server.py, which speaks
// OpenAI's chat format, or fake_provider_server.py beside this file, which speaks Responses, Anthropic's and Gemini's.
// Threading: one thread.
#ifndef WARPSMITH_TESTS_LLM_GATEWAY_SUPPORT_FAKE_MODEL_SERVER_H_
#define WARPSMITH_TESTS_LLM_GATEWAY_SUPPORT_FAKE_MODEL_SERVER_H_

#include <memory>
#include <string>
#include <vector>

#include "common/child_process.h"
#include "common/file.h"
#include "common/json.h"

namespace warpsmith::gateway {

class FakeModelServer {
 public:
  // `scenarios` as the script's --script takes them; throws std::runtime_error where it does not start.
  explicit FakeModelServer(const Json& scenarios, const std::vector<std::string>& more_arguments = {},
                           const std::string& script = "tests/support/fake_openai_server.py");

  int port() const { return port_; }
  std::string BaseUrl(const std::string& scenario, const std::string& version = "v1") const;
  Json Requests() const;  // what it received
  Json RequestsOf(const std::string& scenario) const;

 private:
  TemporaryDirectory folder_;
  std::unique_ptr<ChildProcess> child_;
  int port_ = 0;
};

class FakeProviderServer : public FakeModelServer {
 public:
  explicit FakeProviderServer(const Json& scenarios)
      : FakeModelServer(scenarios, {}, "tests/llm_gateway/support/fake_provider_server.py") {}
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_TESTS_LLM_GATEWAY_SUPPORT_FAKE_MODEL_SERVER_H_
