// GatewayService over a Gateway: translates calls, streams implementations as they arrive, and ends the work of clients
// that have gone.
// Threading: as gRPC's synchronous services; one thread a call.
#ifndef WARPSMITH_LLM_GATEWAY_SERVICE_GRPC_SERVICE_H_
#define WARPSMITH_LLM_GATEWAY_SERVICE_GRPC_SERVICE_H_

#include "llm_gateway/service/client_watch.h"
#include "llm_gateway/service/gateway.h"
#include "warpsmith/v1/gateway.grpc.pb.h"

namespace warpsmith::gateway {

class GrpcGatewayService final : public v1::GatewayService::Service {
 public:
  explicit GrpcGatewayService(Gateway& gateway) : gateway_(gateway) {}
  // Ends all calls: they answer CANCELLED.
  void CancelAll() { watch_.CancelAll(); }

  grpc::Status ProposeIdeas(grpc::ServerContext* context, const v1::ProposeIdeasRequest* request,
                            v1::ProposeIdeasReply* reply) override;
  grpc::Status ImplementIdea(grpc::ServerContext* context, const v1::ImplementIdeaRequest* request,
                             grpc::ServerWriter<v1::Implementation>* writer) override;
  grpc::Status Repair(grpc::ServerContext* context, const v1::RepairRequest* request,
                      v1::Implementation* reply) override;
  grpc::Status ListModels(grpc::ServerContext* context, const v1::ListModelsRequest* request,
                          v1::ListModelsReply* reply) override;

 private:
  Gateway& gateway_;
  ClientWatch watch_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_SERVICE_GRPC_SERVICE_H_
