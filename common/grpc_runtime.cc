#include "common/grpc_runtime.h"

#include <absl/synchronization/mutex.h>

namespace warpsmith {

void InitGrpcRuntime() { absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore); }

}  // namespace warpsmith
