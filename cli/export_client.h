// The operator's side of ExportService and ImportService. gRPC stays inside.
// Threading: one thread at a time; callbacks run on the caller's thread. Errors: the coordinator's own, or the first
// one that a callback returned; Unavailable says where the coordinator was looked for.
#ifndef WARPSMITH_CLI_EXPORT_CLIENT_H_
#define WARPSMITH_CLI_EXPORT_CLIENT_H_

#include <functional>
#include <memory>
#include <string>

#include "common/status.h"
#include "warpsmith/v1/export.pb.h"

namespace warpsmith::cli {

class ExportClient {
 public:
  explicit ExportClient(std::string address);
  ~ExportClient();

  absl::Status Problems(const v1::ExportSelection& selection,
                        const std::function<absl::Status(const v1::ExportedProblem&)>& take);
  absl::Status Candidates(const v1::ExportSelection& selection,
                          const std::function<absl::Status(const v1::ExportRow&)>& take);
  // The best kernels as an archive of the bank.
  absl::StatusOr<std::string> Best(const v1::ExportSelection& selection);
  absl::StatusOr<v1::ImportKernelsReply> ImportKernel(const v1::ImportKernelRequest& request);

 private:
  struct Stub;
  const std::string address_;
  std::unique_ptr<Stub> stub_;
};

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_EXPORT_CLIENT_H_
