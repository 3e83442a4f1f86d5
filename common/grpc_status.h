// absl::Status to grpc::Status and back: same codes, same message.
// Threading: pure.
#ifndef WARPSMITH_COMMON_GRPC_STATUS_H_
#define WARPSMITH_COMMON_GRPC_STATUS_H_

#include <grpcpp/support/status.h>

#include "common/status.h"

namespace warpsmith {

grpc::Status ToGrpc(const absl::Status& status);
absl::Status FromGrpc(const grpc::Status& status);

}  // namespace warpsmith

#endif  // WARPSMITH_COMMON_GRPC_STATUS_H_
