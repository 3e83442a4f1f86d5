#include "cli/batch_client.h"

#include <fmt/format.h>

#include "cli/operator_client.h"
#include "cli/service_call.h"
#include "common/grpc_channel.h"
#include "warpsmith/v1/batch.grpc.pb.h"

namespace warpsmith::cli {
namespace {

// Two thousand problems are stored in one call, or ended in one.
constexpr std::chrono::seconds kBatchDeadline{120};

v1::GetBatchRequest BatchRequest(const std::string& batch_id) {
  v1::GetBatchRequest request;
  request.set_batch_id(batch_id);
  return request;
}

}  // namespace

struct BatchClient::Stub {
  std::unique_ptr<v1::BatchService::Stub> service;
};

BatchClient::BatchClient(std::string address) : address_(std::move(address)), stub_(std::make_unique<Stub>()) {
  stub_->service = v1::BatchService::NewStub(ConnectTo(address_));
}

BatchClient::~BatchClient() = default;

absl::Status BatchClient::Explained(const absl::Status& status) const {
  if (status.code() == absl::StatusCode::kUnimplemented) {
    return FailedPrecondition(fmt::format("the coordinator at {} is older than this command; upgrade it", address_));
  }
  return ExplainCoordinator(address_, status);
}

template <typename Reply, typename Request, typename Method>
absl::StatusOr<Reply> BatchClient::Call(Method method, const Request& request) {
  absl::StatusOr<Reply> reply = CallService<Reply>(kBatchDeadline, *stub_->service, method, request);
  if (!reply.ok()) return Explained(reply.status());
  return reply;
}

absl::StatusOr<v1::Batch> BatchClient::Submit(const v1::SubmitBatchRequest& request) {
  return Call<v1::Batch>(&v1::BatchService::Stub::SubmitBatch, request);
}
absl::StatusOr<v1::Batch> BatchClient::Add(const v1::AddProblemsRequest& request) {
  return Call<v1::Batch>(&v1::BatchService::Stub::AddProblems, request);
}
absl::StatusOr<v1::ListBatchesReply> BatchClient::List(const v1::ListBatchesRequest& request) {
  return Call<v1::ListBatchesReply>(&v1::BatchService::Stub::ListBatches, request);
}
absl::StatusOr<v1::Batch> BatchClient::Get(const std::string& batch_id) {
  return Call<v1::Batch>(&v1::BatchService::Stub::GetBatch, BatchRequest(batch_id));
}
absl::StatusOr<v1::Batch> BatchClient::Pause(const std::string& batch_id) {
  return Call<v1::Batch>(&v1::BatchService::Stub::PauseBatch, BatchRequest(batch_id));
}
absl::StatusOr<v1::Batch> BatchClient::Resume(const std::string& batch_id) {
  return Call<v1::Batch>(&v1::BatchService::Stub::ResumeBatch, BatchRequest(batch_id));
}
absl::StatusOr<v1::Batch> BatchClient::Cancel(const std::string& batch_id) {
  return Call<v1::Batch>(&v1::BatchService::Stub::CancelBatch, BatchRequest(batch_id));
}
absl::StatusOr<v1::RetryFailedReply> BatchClient::RetryFailed(const std::string& batch_id) {
  return Call<v1::RetryFailedReply>(&v1::BatchService::Stub::RetryFailed, BatchRequest(batch_id));
}
absl::StatusOr<v1::Batch> BatchClient::Set(const v1::SetBatchRequest& request) {
  return Call<v1::Batch>(&v1::BatchService::Stub::SetBatch, request);
}

absl::StatusOr<v1::Batch> BatchClient::Watch(const std::string& batch_id,
                                             const std::function<void(const v1::Batch&)>& on_change,
                                             const std::function<absl::Status()>& poll, Duration patience) {
  const v1::GetBatchRequest request = BatchRequest(batch_id);
  v1::Batch last;
  Following<v1::Batch> following;
  following.open = [&](grpc::ClientContext* context) { return stub_->service->WatchBatch(context, request); };
  following.on_message = [&](const v1::Batch& batch) {
    last = batch;
    on_change(last);
  };
  following.finished = [&] { return last.state() == "done" || last.state() == "cancelled"; };
  following.poll = poll;
  following.patience = patience;
  following.explain = [this](const absl::Status& status) { return Explained(status); };
  WARPSMITH_RETURN_IF_ERROR(FollowStream(following));
  return last;
}

}  // namespace warpsmith::cli
