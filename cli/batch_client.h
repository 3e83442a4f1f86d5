// The operator's side of BatchService. gRPC stays inside.
// Threading: one thread at a time. Errors: the coordinator's own; Unavailable says where it was looked for.
#ifndef WARPSMITH_CLI_BATCH_CLIENT_H_
#define WARPSMITH_CLI_BATCH_CLIENT_H_

#include <functional>
#include <memory>
#include <string>

#include "common/clock.h"
#include "common/status.h"
#include "warpsmith/v1/batch.pb.h"

namespace warpsmith::cli {

class BatchClient {
 public:
  explicit BatchClient(std::string address);
  ~BatchClient();

  absl::StatusOr<v1::Batch> Submit(const v1::SubmitBatchRequest& request);
  absl::StatusOr<v1::Batch> Add(const v1::AddProblemsRequest& request);
  absl::StatusOr<v1::ListBatchesReply> List(const v1::ListBatchesRequest& request);
  absl::StatusOr<v1::Batch> Get(const std::string& batch_id);
  absl::StatusOr<v1::Batch> Pause(const std::string& batch_id);
  absl::StatusOr<v1::Batch> Resume(const std::string& batch_id);
  absl::StatusOr<v1::Batch> Cancel(const std::string& batch_id);
  absl::StatusOr<v1::RetryFailedReply> RetryFailed(const std::string& batch_id);
  absl::StatusOr<v1::Batch> Set(const v1::SetBatchRequest& request);

  // Every change until the batch has ended; the last one. `poll` is called ten times a second; an error from it ends
  // the wait. A broken stream is taken up again for up to `patience`.
  absl::StatusOr<v1::Batch> Watch(const std::string& batch_id, const std::function<void(const v1::Batch&)>& on_change,
                                  const std::function<absl::Status()>& poll,
                                  Duration patience = std::chrono::seconds(60));

 private:
  struct Stub;
  template <typename Reply, typename Request, typename Method>
  absl::StatusOr<Reply> Call(Method method, const Request& request);
  absl::Status Explained(const absl::Status& status) const;

  const std::string address_;
  std::unique_ptr<Stub> stub_;
};

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_BATCH_CLIENT_H_
