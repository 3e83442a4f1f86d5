// The gateway's service on a loopback port, in this process, over models at a fake server; and what tests ask of it.
// Threading: one thread makes it; its stub is safe from any.
#ifndef WARPSMITH_TESTS_LLM_GATEWAY_SERVICE_RUNNING_GATEWAY_H_
#define WARPSMITH_TESTS_LLM_GATEWAY_SERVICE_RUNNING_GATEWAY_H_

#include <memory>
#include <string>
#include <vector>

#include "common/grpc_channel.h"
#include "llm_gateway/http/curl_transport.h"
#include "llm_gateway/service/build_gateway.h"
#include "llm_gateway/service/grpc_service.h"
#include "tests/llm_gateway/support/fake_model_server.h"

namespace warpsmith::gateway {

inline constexpr char kCandidate[] =
    "/* warpsmith-plan\n{\"version\": 1, \"steps\": [{\"copy\": \"x\", \"to\": \"output\"}]}\n*/\n";

// A scenario of one action, given as an object.
inline Json One(const Json& action) { return Json::array({action}); }
// A model of Running's configuration, at a scenario of the fake server; `more`: further fields, ", tries: 1".
std::string Model(const std::string& name, const std::string& scenario, const std::string& more = "");
std::string Code(const std::string& text);
v1::ImplementIdeaRequest ImplementRequest(int count, const std::string& idempotency_key = "");
std::vector<v1::Implementation> ReadAll(grpc::ClientReader<v1::Implementation>& reader);

class RunningGateway {
 public:
  // Throws std::runtime_error with the reason where it cannot be built. `head`: lines before "models:".
  RunningGateway(FakeModelServer& server, const std::string& models, const std::string& data = "",
                 const std::string& head = "", GatewayMetrics* metrics = nullptr);
  ~RunningGateway();
  v1::GatewayService::Stub& stub() { return *stub_; }
  GrpcGatewayService& service() { return *service_; }
  GatewayParts& parts() { return parts_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(running_.port); }

  std::vector<v1::Implementation> Implement(const v1::ImplementIdeaRequest& request);

 private:
  CurlTransport transport_{2};
  GatewayParts parts_;
  std::unique_ptr<GrpcGatewayService> service_;
  RunningServer running_;
  std::unique_ptr<v1::GatewayService::Stub> stub_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_TESTS_LLM_GATEWAY_SERVICE_RUNNING_GATEWAY_H_
