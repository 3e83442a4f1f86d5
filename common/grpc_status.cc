#include "common/grpc_status.h"

namespace warpsmith {

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return {static_cast<grpc::StatusCode>(status.code()), Message(status)};
}

absl::Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  return MakeStatus(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

}  // namespace warpsmith
