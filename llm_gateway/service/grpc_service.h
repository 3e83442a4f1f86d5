// GatewayService over a Gateway: translates calls, streams implementations as they arrive, and ends the work of clients
// that have gone.
// Threading: gRPC's callback API; calls are worked on by the pool.
#ifndef WARPSMITH_LLM_GATEWAY_SERVICE_GRPC_SERVICE_H_
#define WARPSMITH_LLM_GATEWAY_SERVICE_GRPC_SERVICE_H_

#include "llm_gateway/async/task_runner.h"
#include "llm_gateway/service/active_calls.h"
#include "llm_gateway/service/conversation.h"
#include "llm_gateway/service/cost_estimator.h"
#include "llm_gateway/service/gateway.h"
#include "llm_gateway/service/model_checker.h"
#include "warpsmith/v1/gateway.grpc.pb.h"

namespace warpsmith::gateway {

class GrpcGatewayService final : public v1::GatewayService::CallbackService {
 public:
  // All outlive this, and this outlives the server that it is registered with.
  GrpcGatewayService(Gateway& gateway, ModelChecker& checker, CostEstimator& estimator, TaskRunner& pool)
      : gateway_(gateway),
        checker_(checker),
        estimator_(estimator),
        pool_(pool),
        conversations_(gateway, active_, pool) {}
  // Takes no more calls (they answer UNAVAILABLE); true where those that run have ended within `grace`.
  bool Drain(Duration grace) { return active_.Drain(grace); }
  // Ends all calls: they answer CANCELLED. Conversations end after their calls.
  void CancelAll() {
    active_.CancelAll();
    conversations_.Close();
  }
  size_t active_calls() const { return active_.size(); }

  grpc::ServerUnaryReactor* ProposeIdeas(grpc::CallbackServerContext* context, const v1::ProposeIdeasRequest* request,
                                         v1::ProposeIdeasReply* reply) override;
  grpc::ServerWriteReactor<v1::Implementation>* ImplementIdea(grpc::CallbackServerContext* context,
                                                              const v1::ImplementIdeaRequest* request) override;
  grpc::ServerUnaryReactor* Repair(grpc::CallbackServerContext* context, const v1::RepairRequest* request,
                                   v1::Implementation* reply) override;
  grpc::ServerBidiReactor<v1::Calls, v1::CallReplies>* Converse(grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* ListModels(grpc::CallbackServerContext* context, const v1::ListModelsRequest* request,
                                       v1::ListModelsReply* reply) override;
  grpc::ServerWriteReactor<v1::ModelCheck>* CheckModels(grpc::CallbackServerContext* context,
                                                        const v1::CheckModelsRequest* request) override;
  grpc::ServerUnaryReactor* Estimate(grpc::CallbackServerContext* context, const v1::EstimateRequest* request,
                                     v1::EstimateReply* reply) override;

 private:
  Gateway& gateway_;
  ModelChecker& checker_;
  CostEstimator& estimator_;
  TaskRunner& pool_;
  ActiveCalls active_;
  Conversations conversations_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_SERVICE_GRPC_SERVICE_H_
