// An operator's calls on batches, beside a Cluster's own.
// Threading: one thread.
#ifndef WARPSMITH_TESTS_COORDINATOR_BATCH_FIXTURE_H_
#define WARPSMITH_TESTS_COORDINATOR_BATCH_FIXTURE_H_

#include <memory>
#include <string>
#include <vector>

#include "tests/coordinator/cluster_fixture.h"
#include "warpsmith/v1/batch.grpc.pb.h"

namespace warpsmith::testing {

// A problem whose kernels take what its name says: "2_half" is level 1's second problem.
v1::ProblemSource TestProblem(const std::string& name, int rounds = 1);

class BatchCluster : public Cluster {
 public:
  BatchCluster();

  template <typename Reply = v1::Batch, typename Request>
  absl::StatusOr<Reply> Batch(grpc::Status (v1::BatchService::Stub::*method)(grpc::ClientContext*, const Request&,
                                                                             Reply*),
                              const Request& request) {
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    Reply reply;
    const grpc::Status status = ((*Stub()).*method)(&context, request, &reply);
    if (!status.ok()) return Status(status);
    return reply;
  }

  absl::StatusOr<v1::Batch> SubmitBatch(const std::vector<v1::ProblemSource>& problems, v1::BatchLimits limits = {},
                                        const std::string& request_id = "", bool more = false);
  absl::StatusOr<v1::Batch> Add(const std::string& id, const std::vector<v1::ProblemSource>& problems,
                                bool more = false);
  absl::StatusOr<v1::Batch> GetBatch(const std::string& id) { return On(&v1::BatchService::Stub::GetBatch, id); }
  absl::StatusOr<v1::Batch> Pause(const std::string& id) { return On(&v1::BatchService::Stub::PauseBatch, id); }
  absl::StatusOr<v1::Batch> Resume(const std::string& id) { return On(&v1::BatchService::Stub::ResumeBatch, id); }
  absl::StatusOr<v1::Batch> CancelBatch(const std::string& id) { return On(&v1::BatchService::Stub::CancelBatch, id); }
  // Waits for the batch's end and returns it.
  v1::Batch FinishedBatch(const std::string& id, double seconds = 60);

 private:
  using Method = grpc::Status (v1::BatchService::Stub::*)(grpc::ClientContext*, const v1::GetBatchRequest&, v1::Batch*);
  absl::StatusOr<v1::Batch> On(Method method, const std::string& id);
  std::unique_ptr<v1::BatchService::Stub> Stub();
  static absl::Status Status(const grpc::Status& status);
};

}  // namespace warpsmith::testing

#endif  // WARPSMITH_TESTS_COORDINATOR_BATCH_FIXTURE_H_
