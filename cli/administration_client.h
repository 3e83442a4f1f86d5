// The operator's side of AdministrationService. gRPC stays inside.
// Threading: one thread at a time. Errors: the coordinator's own; Unavailable says where it was looked for.
#ifndef WARPSMITH_CLI_ADMINISTRATION_CLIENT_H_
#define WARPSMITH_CLI_ADMINISTRATION_CLIENT_H_

#include <memory>
#include <string>

#include "common/status.h"
#include "warpsmith/v1/administration.pb.h"

namespace warpsmith::cli {

class AdministrationClient {
 public:
  explicit AdministrationClient(std::string address);
  ~AdministrationClient();

  absl::StatusOr<v1::ListQuarantinedReply> ListQuarantined(const v1::ListQuarantinedRequest& request);
  absl::StatusOr<v1::RetryQuarantinedReply> RetryQuarantined(const v1::RetryQuarantinedRequest& request);
  absl::StatusOr<v1::DrainWorkerReply> DrainWorker(const std::string& worker_id);
  absl::StatusOr<v1::DrainWorkerReply> UndrainWorker(const std::string& worker_id);
  absl::StatusOr<v1::DatabaseHealth> GetDatabaseHealth();

 private:
  struct Stub;
  template <typename Reply, typename Request, typename Method>
  absl::StatusOr<Reply> Call(Method method, const Request& request);

  const std::string address_;
  std::unique_ptr<Stub> stub_;
};

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_ADMINISTRATION_CLIENT_H_
