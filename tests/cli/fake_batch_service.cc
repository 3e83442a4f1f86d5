#include "tests/cli/fake_batch_service.h"

namespace warpsmith::cli {
namespace {

constexpr char kBatchId[] = "ba7c41d0e5f60718293a4b5c6d";

v1::BatchProblem FakeProblem(const std::string& name, int level, v1::SearchState state, double ms, double ratio,
                             const std::string& reason) {
  v1::BatchProblem problem;
  problem.set_search_id("5ea7c40000" + std::to_string(level));
  problem.set_name(name);
  problem.set_level(level);
  problem.set_number(std::atoi(name.c_str()));
  problem.set_state(state);
  problem.set_admitted(true);
  problem.set_round(3);
  problem.set_rounds(5);
  problem.set_best_ms(ms);
  problem.set_ratio_to_eager(ratio);
  problem.set_emulated(true);
  problem.set_finish_reason(reason);
  problem.mutable_usage()->set_usd(1.25);
  return problem;
}

}  // namespace

v1::Batch FakeBatch() {
  v1::Batch batch;
  batch.set_id(kBatchId);
  batch.set_name("level1");
  batch.set_owner("ada");
  batch.set_state("done");
  batch.set_submitted_at_us(1'700'000'000'000'000);
  batch.mutable_limits()->set_priority(3);
  batch.mutable_limits()->set_parallel(8);
  batch.mutable_limits()->set_max_usd(200);
  *batch.add_problems() =
      FakeProblem("1_Square_matrix_multiplication_", 1, v1::SEARCH_STATE_DONE, 0.5, 2.5, "roofline");
  *batch.add_problems() = FakeProblem("23_Softmax", 1, v1::SEARCH_STATE_DONE, 0, 0, "rounds");
  *batch.add_problems() = FakeProblem("1_Conv2D", 2, v1::SEARCH_STATE_RUNNING, 1.5, 0.75, "");
  batch.mutable_problems(2)->set_waits_for("round");
  *batch.add_problems() = FakeProblem("2_Broken", 2, v1::SEARCH_STATE_FAILED, 0, 0, "intake");
  batch.mutable_problems(3)->set_error("problem 2_Broken: there is no class\nModel");
  v1::BatchTotals& totals = *batch.mutable_totals();
  totals.set_problems(4);
  totals.set_ended(3);
  totals.set_failed(1);
  totals.set_solved(2);
  totals.set_fast_0(0.5);
  totals.set_fast_1(0.25);
  totals.set_fast_1_5(0.25);
  totals.set_fast_2(0.25);
  totals.set_geometric_mean_ratio(1.369);
  totals.set_emulated(true);
  totals.mutable_usage()->set_usd(5);
  totals.mutable_usage()->set_input_tokens(1'000'000);
  totals.mutable_usage()->set_output_tokens(500'000);
  totals.mutable_usage()->set_gpu_seconds(123.4);
  return batch;
}

v1::SubmitBatchRequest FakeBatchService::submitted() const {
  std::lock_guard lock(mutex_);
  return submitted_;
}
std::vector<v1::AddProblemsRequest> FakeBatchService::added() const {
  std::lock_guard lock(mutex_);
  return added_;
}
v1::SetBatchRequest FakeBatchService::set() const {
  std::lock_guard lock(mutex_);
  return set_;
}
std::vector<std::string> FakeBatchService::calls() const {
  std::lock_guard lock(mutex_);
  return calls_;
}

grpc::Status FakeBatchService::Called(const std::string& name, const std::string& id, v1::Batch* reply) {
  if (id.size() < 6 || std::string(kBatchId).rfind(id, 0) != 0) {
    return {grpc::StatusCode::NOT_FOUND, "there is no batch " + id + "; see warpsmith batch list"};
  }
  std::lock_guard lock(mutex_);
  calls_.push_back(name + " " + id);
  *reply = FakeBatch();
  return grpc::Status::OK;
}

grpc::Status FakeBatchService::SubmitBatch(grpc::ServerContext*, const v1::SubmitBatchRequest* request,
                                           v1::Batch* reply) {
  std::lock_guard lock(mutex_);
  submitted_ = *request;
  *reply = FakeBatch();
  return grpc::Status::OK;
}
grpc::Status FakeBatchService::AddProblems(grpc::ServerContext*, const v1::AddProblemsRequest* request,
                                           v1::Batch* reply) {
  {
    std::lock_guard lock(mutex_);
    added_.push_back(*request);
  }
  return Called("add", request->batch_id(), reply);
}
grpc::Status FakeBatchService::ListBatches(grpc::ServerContext*, const v1::ListBatchesRequest* request,
                                           v1::ListBatchesReply* reply) {
  if (request->owner().empty() || request->owner() == "ada") *reply->add_batches() = FakeBatch();
  return grpc::Status::OK;
}
grpc::Status FakeBatchService::GetBatch(grpc::ServerContext*, const v1::GetBatchRequest* request, v1::Batch* reply) {
  return Called("get", request->batch_id(), reply);
}
grpc::Status FakeBatchService::WatchBatch(grpc::ServerContext*, const v1::GetBatchRequest* request,
                                          grpc::ServerWriter<v1::Batch>* writer) {
  v1::Batch batch;
  if (grpc::Status status = Called("watch", request->batch_id(), &batch); !status.ok()) return status;
  batch.set_state("running");
  writer->Write(batch);
  batch.set_state("done");
  writer->Write(batch);
  return grpc::Status::OK;
}
grpc::Status FakeBatchService::PauseBatch(grpc::ServerContext*, const v1::GetBatchRequest* request, v1::Batch* reply) {
  return Called("pause", request->batch_id(), reply);
}
grpc::Status FakeBatchService::ResumeBatch(grpc::ServerContext*, const v1::GetBatchRequest* request, v1::Batch* reply) {
  return Called("resume", request->batch_id(), reply);
}
grpc::Status FakeBatchService::CancelBatch(grpc::ServerContext*, const v1::GetBatchRequest* request, v1::Batch* reply) {
  return Called("cancel", request->batch_id(), reply);
}
grpc::Status FakeBatchService::RetryFailed(grpc::ServerContext*, const v1::GetBatchRequest* request,
                                           v1::RetryFailedReply* reply) {
  reply->set_retried(1);
  return Called("retry", request->batch_id(), reply->mutable_batch());
}
grpc::Status FakeBatchService::SetBatch(grpc::ServerContext*, const v1::SetBatchRequest* request, v1::Batch* reply) {
  {
    std::lock_guard lock(mutex_);
    set_ = *request;
  }
  return Called("set", request->batch_id(), reply);
}

}  // namespace warpsmith::cli
