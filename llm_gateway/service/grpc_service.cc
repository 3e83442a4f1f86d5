#include "llm_gateway/service/grpc_service.h"

#include "llm_gateway/async/wait_point.h"
#include "llm_gateway/service/call_log.h"
#include "llm_gateway/service/call_reactors.h"

namespace warpsmith::gateway {

grpc::ServerUnaryReactor* GrpcGatewayService::ProposeIdeas(grpc::CallbackServerContext*,
                                                           const v1::ProposeIdeasRequest* request,
                                                           v1::ProposeIdeasReply* reply) {
  return UnaryCall::Start(active_, pool_, [this, request, reply](Cancellation& cancellation) -> absl::Status {
    WARPSMITH_ASSIGN_OR_RETURN(*reply, gateway_.ProposeIdeas(*request, cancellation));
    LogCalls(*reply);
    return absl::OkStatus();
  });
}

grpc::ServerWriteReactor<v1::Implementation>* GrpcGatewayService::ImplementIdea(
    grpc::CallbackServerContext*, const v1::ImplementIdeaRequest* request) {
  return StreamCall<v1::Implementation>::Start(
      active_, pool_, [this, request](const StreamCall<v1::Implementation>::Emit& emit, Cancellation& cancellation) {
        return gateway_.ImplementIdea(
            *request,
            [&emit](v1::Implementation implementation, bool last) {
              LogCall("implementation", implementation.call(), implementation.status());
              return emit(std::move(implementation), last);
            },
            cancellation);
      });
}

grpc::ServerUnaryReactor* GrpcGatewayService::Repair(grpc::CallbackServerContext*, const v1::RepairRequest* request,
                                                     v1::Implementation* reply) {
  return UnaryCall::Start(active_, pool_, [this, request, reply](Cancellation& cancellation) -> absl::Status {
    WARPSMITH_ASSIGN_OR_RETURN(*reply, gateway_.Repair(*request, cancellation));
    LogCall("repair", reply->call(), reply->status());
    return absl::OkStatus();
  });
}

grpc::ServerBidiReactor<v1::Calls, v1::CallReplies>* GrpcGatewayService::Converse(grpc::CallbackServerContext*) {
  return conversations_.Start();
}

grpc::ServerUnaryReactor* GrpcGatewayService::ListModels(grpc::CallbackServerContext*, const v1::ListModelsRequest*,
                                                         v1::ListModelsReply* reply) {
  return UnaryCall::Start(active_, pool_, [this, reply](Cancellation&) {
    *reply = gateway_.ListModels();
    return absl::OkStatus();
  });
}

grpc::ServerWriteReactor<v1::ModelCheck>* GrpcGatewayService::CheckModels(grpc::CallbackServerContext*,
                                                                          const v1::CheckModelsRequest* request) {
  return StreamCall<v1::ModelCheck>::Start(
      active_, pool_, [this, request](const StreamCall<v1::ModelCheck>::Emit& emit, Cancellation& cancellation) {
        return checker_.Check(
            *request,
            [&emit](const v1::ModelCheck& check) {
              LogCall("check", check.call(), check.ok() ? "ok" : "failed");
              return emit(check, false);
            },
            cancellation);
      });
}

grpc::ServerUnaryReactor* GrpcGatewayService::Estimate(grpc::CallbackServerContext*, const v1::EstimateRequest* request,
                                                       v1::EstimateReply* reply) {
  return UnaryCall::Start(active_, pool_, [this, request, reply](Cancellation&) {
    absl::Status status;
    RunBlocking([&] {  // many prompts are put together and counted
      absl::StatusOr<v1::EstimateReply> estimate = estimator_.Estimate(*request);
      status = estimate.status();
      if (estimate.ok()) *reply = *std::move(estimate);
    });
    return status;
  });
}

}  // namespace warpsmith::gateway
