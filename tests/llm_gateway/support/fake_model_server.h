// Starts tests/support/fake_openai_server.py, a fake that speaks OpenAI's chat format, and stops it with its owner.
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
  explicit FakeModelServer(const Json& scenarios, const std::vector<std::string>& more_arguments = {});

  int port() const { return port_; }
  std::string BaseUrl(const std::string& scenario) const;
  Json Requests() const;  // what it received
  Json RequestsOf(const std::string& scenario) const;

 private:
  TemporaryDirectory folder_;
  std::unique_ptr<ChildProcess> child_;
  int port_ = 0;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_TESTS_LLM_GATEWAY_SUPPORT_FAKE_MODEL_SERVER_H_
