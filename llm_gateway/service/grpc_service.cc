#include "llm_gateway/service/grpc_service.h"

#include "common/grpc_status.h"
#include "common/log.h"

namespace warpsmith::gateway {
namespace {

// What a call took, without anything that a model or a user wrote.
void LogCall(const char* kind, const v1::ModelCall& call, const std::string& status) {
  spdlog::info("{} by {}: {} ({:.2f} s, {} tries, {} + {} tokens)", kind, call.model(), status, call.seconds(),
               call.tries(), call.input_tokens(), call.output_tokens() + call.reasoning_tokens());
}

}  // namespace

grpc::Status GrpcGatewayService::ProposeIdeas(grpc::ServerContext* context, const v1::ProposeIdeasRequest* request,
                                              v1::ProposeIdeasReply* reply) {
  Cancellation cancellation;
  ClientWatch::Guard guard(
      watch_, [context] { return context->IsCancelled(); }, cancellation);
  auto answer = gateway_.ProposeIdeas(*request, cancellation);
  if (!answer.ok()) return ToGrpc(answer.status());
  for (const v1::ModelCall& call : answer->calls()) LogCall("ideas", call, call.finish_reason());
  *reply = *std::move(answer);
  return grpc::Status::OK;
}

grpc::Status GrpcGatewayService::ImplementIdea(grpc::ServerContext* context, const v1::ImplementIdeaRequest* request,
                                               grpc::ServerWriter<v1::Implementation>* writer) {
  Cancellation cancellation;
  ClientWatch::Guard guard(
      watch_, [context] { return context->IsCancelled(); }, cancellation);
  return ToGrpc(gateway_.ImplementIdea(
      *request,
      [writer](const v1::Implementation& implementation) {
        LogCall("implementation", implementation.call(), implementation.status());
        return writer->Write(implementation);
      },
      cancellation));
}

grpc::Status GrpcGatewayService::Repair(grpc::ServerContext* context, const v1::RepairRequest* request,
                                        v1::Implementation* reply) {
  Cancellation cancellation;
  ClientWatch::Guard guard(
      watch_, [context] { return context->IsCancelled(); }, cancellation);
  auto answer = gateway_.Repair(*request, cancellation);
  if (!answer.ok()) return ToGrpc(answer.status());
  LogCall("repair", answer->call(), answer->status());
  *reply = *std::move(answer);
  return grpc::Status::OK;
}

grpc::Status GrpcGatewayService::ListModels(grpc::ServerContext*, const v1::ListModelsRequest*,
                                            v1::ListModelsReply* reply) {
  *reply = gateway_.ListModels();
  return grpc::Status::OK;
}

}  // namespace warpsmith::gateway
