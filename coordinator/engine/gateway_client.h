// The coordinator's view of the gateway.
// Threading: safe from any thread; calls block. Errors: the gateway's own codes; Unavailable where it cannot be
// reached.
#ifndef WARPSMITH_COORDINATOR_ENGINE_GATEWAY_CLIENT_H_
#define WARPSMITH_COORDINATOR_ENGINE_GATEWAY_CLIENT_H_

#include <cstdint>
#include <functional>
#include <string>

#include "common/status.h"
#include "warpsmith/v1/gateway.pb.h"

namespace warpsmith::engine {

struct GatewayCall {
  int64_t task_id = 0;   // Cancel finds it by this
  double seconds = 600;  // deadline
  bool* sent = nullptr;  // set where the gateway may have got the call; untouched where it was not reached at all
};

class GatewayClient {
 public:
  virtual ~GatewayClient() = default;
  virtual absl::StatusOr<v1::ProposeIdeasReply> ProposeIdeas(const v1::ProposeIdeasRequest& request,
                                                             const GatewayCall& call) = 0;
  // `each` is called for every implementation as it arrives; when it returns an error the call ends with it.
  virtual absl::Status ImplementIdea(const v1::ImplementIdeaRequest& request, const GatewayCall& call,
                                     const std::function<absl::Status(const v1::Implementation&)>& each) = 0;
  virtual absl::StatusOr<v1::Implementation> Repair(const v1::RepairRequest& request, const GatewayCall& call) = 0;
  virtual absl::StatusOr<v1::ListModelsReply> ListModels(double seconds) = 0;
  // Ends the call of this task, if there is one; 0: all calls, and refuses later ones.
  virtual void Cancel(int64_t task_id) = 0;
};

}  // namespace warpsmith::engine

#endif  // WARPSMITH_COORDINATOR_ENGINE_GATEWAY_CLIENT_H_
