// A fake coordinator for `batch`: keeps what it was sent and answers from it. Nothing is searched.
// Threading: safe from any thread.
#ifndef WARPSMITH_TESTS_CLI_FAKE_BATCH_SERVICE_H_
#define WARPSMITH_TESTS_CLI_FAKE_BATCH_SERVICE_H_

#include <mutex>
#include <string>
#include <vector>

#include "warpsmith/v1/batch.grpc.pb.h"

namespace warpsmith::cli {

// Four problems of two levels, one of each ending, on the emulated device.
v1::Batch FakeBatch();

class FakeBatchService final : public v1::BatchService::Service {
 public:
  v1::SubmitBatchRequest submitted() const;
  std::vector<v1::AddProblemsRequest> added() const;
  v1::SetBatchRequest set() const;
  std::vector<std::string> calls() const;  // pause 3f2a91c0, ...

  grpc::Status SubmitBatch(grpc::ServerContext*, const v1::SubmitBatchRequest*, v1::Batch*) override;
  grpc::Status AddProblems(grpc::ServerContext*, const v1::AddProblemsRequest*, v1::Batch*) override;
  grpc::Status ListBatches(grpc::ServerContext*, const v1::ListBatchesRequest*, v1::ListBatchesReply*) override;
  grpc::Status GetBatch(grpc::ServerContext*, const v1::GetBatchRequest*, v1::Batch*) override;
  grpc::Status WatchBatch(grpc::ServerContext*, const v1::GetBatchRequest*, grpc::ServerWriter<v1::Batch>*) override;
  grpc::Status PauseBatch(grpc::ServerContext*, const v1::GetBatchRequest*, v1::Batch*) override;
  grpc::Status ResumeBatch(grpc::ServerContext*, const v1::GetBatchRequest*, v1::Batch*) override;
  grpc::Status CancelBatch(grpc::ServerContext*, const v1::GetBatchRequest*, v1::Batch*) override;
  grpc::Status RetryFailed(grpc::ServerContext*, const v1::GetBatchRequest*, v1::RetryFailedReply*) override;
  grpc::Status SetBatch(grpc::ServerContext*, const v1::SetBatchRequest*, v1::Batch*) override;

 private:
  grpc::Status Called(const std::string& name, const std::string& id, v1::Batch* reply);

  mutable std::mutex mutex_;
  v1::SubmitBatchRequest submitted_;
  std::vector<v1::AddProblemsRequest> added_;
  v1::SetBatchRequest set_;
  std::vector<std::string> calls_;
};

}  // namespace warpsmith::cli

#endif  // WARPSMITH_TESTS_CLI_FAKE_BATCH_SERVICE_H_
