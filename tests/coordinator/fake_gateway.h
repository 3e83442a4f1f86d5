// A FAKE gateway for tests: real gRPC on loopback, but no models. Ideas are numbered, kernels are short texts that
// carry the time that the scripted worker will report ("ms=0.8") and an outcome ("outcome=wrong_output"). Threading:
// the knobs may be turned at any time.
#ifndef WARPSMITH_TESTS_COORDINATOR_FAKE_GATEWAY_H_
#define WARPSMITH_TESTS_COORDINATOR_FAKE_GATEWAY_H_

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "warpsmith/v1/gateway.pb.h"

namespace warpsmith::testing {

std::string KernelText(const std::string& name, double ms, const std::string& outcome = "ok");

class FakeGateway {
 public:
  explicit FakeGateway(int port = 0);  // 0: any free one
  ~FakeGateway();
  int port() const { return port_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  // Breaks the stream with UNAVAILABLE after so many implementations, once. Negative: never.
  std::atomic<int> break_after{-1};
  std::atomic<bool> exhausted{false};    // no further ideas
  std::atomic<bool> same_source{false};  // every kernel is the same but for layout
  std::atomic<int> delay_ms{0};          // before each reply
  std::atomic<int> fail_calls{0};        // so many calls fail with INTERNAL
  std::atomic<int> fallback_calls{0};    // calls that failed before each implementation's last one
  std::atomic<double> usd_a_call{0.01};
  std::atomic<int> catalog_ideas{0};  // how many the model "catalog" has for each kernel
  // Set before the first call.
  std::function<std::string(const v1::ImplementIdeaRequest&, int index)> write_kernel;
  std::vector<v1::ModelDescription> models;  // empty: "fake-model" without a price

  std::vector<std::vector<int>> asked_indexes() const;  // of each ImplementIdea call
  std::vector<v1::ProposeIdeasRequest> proposals() const;
  std::vector<v1::RepairRequest> repairs() const;
  std::vector<v1::ImplementIdeaRequest> implementations() const;

 private:
  class Service;
  std::unique_ptr<Service> service_;
  struct Server;
  std::unique_ptr<Server> server_;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::vector<int>> asked_;
  std::vector<v1::ProposeIdeasRequest> proposals_;
  std::vector<v1::RepairRequest> repairs_;
  std::vector<v1::ImplementIdeaRequest> implementations_;
};

}  // namespace warpsmith::testing

#endif  // WARPSMITH_TESTS_COORDINATOR_FAKE_GATEWAY_H_
