#include "tests/llm_gateway/service/running_gateway.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "tests/llm_gateway/support/sample_problem.h"

namespace warpsmith::gateway {
namespace {

template <typename Value>
Value OrThrow(absl::StatusOr<Value> value) {
  if (!value.ok()) throw std::runtime_error(Message(value.status()));
  return *std::move(value);
}

}  // namespace

std::string Model(const std::string& name, const std::string& scenario, const std::string& more) {
  return "  - {name: " + name + ", provider: openai_compatible, model: x, idle_seconds: 60" + more + ", base_url: @" +
         scenario + "\n";
}

std::string Code(const std::string& text) { return "```cuda\n" + text + "```"; }

v1::ImplementIdeaRequest ImplementRequest(int count, const std::string& idempotency_key) {
  v1::ImplementIdeaRequest request;
  *request.mutable_context() = LayerNormContext();
  request.mutable_idea()->set_title("An idea");
  request.set_count(count);
  request.mutable_call()->set_idempotency_key(idempotency_key);
  return request;
}

std::vector<v1::Implementation> ReadAll(grpc::ClientReader<v1::Implementation>& reader) {
  std::vector<v1::Implementation> all;
  v1::Implementation one;
  while (reader.Read(&one)) all.push_back(one);
  return all;
}

RunningGateway::RunningGateway(FakeModelServer& server, const std::string& models, const std::string& data,
                               const std::string& head, GatewayMetrics* metrics) {
  std::string text = head + "models:\n";
  std::istringstream lines(models);
  for (std::string line; std::getline(lines, line);) {
    const size_t at = line.find("@");
    text += at == line.npos ? line + "\n" : line.substr(0, at) + server.BaseUrl(line.substr(at + 1)) + "}\n";
  }
  GatewayFolders folders;
  folders.prompts = WARPSMITH_SOURCE_DIR "/llm_gateway/prompts";
  folders.recipes = WARPSMITH_SOURCE_DIR "/llm_gateway/catalog/recipes";
  folders.data = data;
  parts_ = OrThrow(BuildGateway(OrThrow(ParseConfig(text, "g.yaml")), folders, transport_, RealClock(), metrics));
  service_ = std::make_unique<GrpcGatewayService>(*parts_.gateway, *parts_.checker, *parts_.estimator, *parts_.pool);
  running_ = OrThrow(StartServer("127.0.0.1:0", {service_.get()}));
  stub_ = v1::GatewayService::NewStub(ConnectTo(address()));
}

RunningGateway::~RunningGateway() {
  service_->CancelAll();
  StopServer(*running_.server, 5);
}

std::vector<v1::Implementation> RunningGateway::Implement(const v1::ImplementIdeaRequest& request) {
  grpc::ClientContext context;
  auto reader = stub_->ImplementIdea(&context, request);
  std::vector<v1::Implementation> all = ReadAll(*reader);
  if (const grpc::Status status = reader->Finish(); !status.ok()) throw std::runtime_error(status.error_message());
  std::sort(all.begin(), all.end(),
            [](const v1::Implementation& a, const v1::Implementation& b) { return a.index() < b.index(); });
  return all;
}

}  // namespace warpsmith::gateway
