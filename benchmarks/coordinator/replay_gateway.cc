#include "benchmarks/coordinator/replay_gateway.h"

#include <fmt/format.h>

#include "benchmarks/coordinator/answers.h"
#include "common/grpc_channel.h"
#include "warpsmith/v1/gateway.grpc.pb.h"

namespace warpsmith::bench {
namespace {

void FillCall(const v1::CallContext& context, v1::ModelCall* call) {
  call->set_provider("simulated");
  call->set_model(context.models_size() == 1 ? context.models(0) : "simulated");
  call->set_effort(context.effort());
  call->set_prompt_variant(context.prompt_variant());
  call->set_input_tokens(6000);
  call->set_output_tokens(3000);
  call->set_usd(0.01);
  call->set_tries(1);
  call->set_finish_reason("stop");
  call->set_raw_reply(KernelSource("raw"));
}

}  // namespace

class ReplayGateway::Service final : public v1::GatewayService::Service {
 public:
  explicit Service(std::atomic<int64_t>& calls) : calls_(calls) {}

  grpc::Status ProposeIdeas(grpc::ServerContext*, const v1::ProposeIdeasRequest* request,
                            v1::ProposeIdeasReply* reply) override {
    const int64_t number = ++calls_;
    FillCall(request->call(), reply->add_calls());
    for (int i = 0; i < request->count(); ++i) *reply->add_ideas() = SimulatedIdea(fmt::format("call {}", number), i);
    return grpc::Status::OK;
  }

  grpc::Status ImplementIdea(grpc::ServerContext*, const v1::ImplementIdeaRequest* request,
                             grpc::ServerWriter<v1::Implementation>* writer) override {
    for (const int index : request->indexes()) {
      v1::Implementation implementation;
      implementation.set_index(index);
      implementation.set_status("ok");
      implementation.set_source(KernelSource(fmt::format("{}/{}/{}", request->idea().id(), index, ++calls_)));
      FillCall(request->call(), implementation.mutable_call());
      if (!writer->Write(implementation)) return {grpc::StatusCode::CANCELLED, "the coordinator went away"};
    }
    return grpc::Status::OK;
  }

  grpc::Status Repair(grpc::ServerContext*, const v1::RepairRequest* request, v1::Implementation* reply) override {
    reply->set_status("ok");
    reply->set_source(KernelSource(fmt::format("repair {}/{}", request->failed().candidate_id(), ++calls_)));
    FillCall(request->call(), reply->mutable_call());
    return grpc::Status::OK;
  }

  grpc::Status ListModels(grpc::ServerContext*, const v1::ListModelsRequest*, v1::ListModelsReply* reply) override {
    v1::ModelDescription* model = reply->add_models();
    model->set_name("simulated");
    model->set_provider("simulated");
    model->set_enabled(true);
    return grpc::Status::OK;
  }

 private:
  std::atomic<int64_t>& calls_;
};

struct ReplayGateway::Server {
  RunningServer running;
};

ReplayGateway::ReplayGateway() : service_(std::make_unique<Service>(calls_)), server_(std::make_unique<Server>()) {}

absl::StatusOr<std::unique_ptr<ReplayGateway>> ReplayGateway::Start() {
  std::unique_ptr<ReplayGateway> gateway(new ReplayGateway());
  WARPSMITH_ASSIGN_OR_RETURN(gateway->server_->running, StartServer("127.0.0.1:0", {gateway->service_.get()}));
  return gateway;
}

ReplayGateway::~ReplayGateway() {
  if (server_->running.server) StopServer(*server_->running.server, 0.2);
}

std::string ReplayGateway::address() const { return fmt::format("127.0.0.1:{}", server_->running.port); }

}  // namespace warpsmith::bench
