// What the gateway says of its models, asked at most once a minute.
// Threading: safe from any thread; Get may block for seconds. Errors: the gateway's, Unavailable where it is not there.
#ifndef WARPSMITH_COORDINATOR_ENGINE_MODEL_DIRECTORY_H_
#define WARPSMITH_COORDINATOR_ENGINE_MODEL_DIRECTORY_H_

#include <memory>
#include <mutex>

#include "common/clock.h"
#include "coordinator/engine/gateway_client.h"

namespace warpsmith::engine {

class ModelDirectory {
 public:
  ModelDirectory(GatewayClient& gateway, Clock& clock) : gateway_(gateway), clock_(clock) {}

  absl::StatusOr<std::shared_ptr<const v1::ListModelsReply>> Get();
  // The gateway went away: what comes back may have other models.
  void Forget();

 private:
  GatewayClient& gateway_;
  Clock& clock_;
  std::mutex mutex_;
  std::shared_ptr<const v1::ListModelsReply> models_;  // guarded by mutex_
  TimePoint asked_{};                                  // guarded by mutex_
};

}  // namespace warpsmith::engine

#endif  // WARPSMITH_COORDINATOR_ENGINE_MODEL_DIRECTORY_H_
