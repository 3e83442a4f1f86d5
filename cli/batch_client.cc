#include "cli/batch_client.h"

#include <fmt/format.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "cli/operator_client.h"
#include "common/grpc_channel.h"
#include "common/grpc_status.h"
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

// A WatchBatch call read by a thread of its own. Only the newest state is kept: it is always the whole one.
class BatchClient::Stream {
 public:
  Stream(v1::BatchService::Stub& service, const v1::GetBatchRequest& request) {
    reader_ = service.WatchBatch(&context_, request);
    thread_ = std::thread([this] { Read(); });
  }
  ~Stream() {
    context_.TryCancel();
    thread_.join();
  }

  std::optional<v1::Batch> Next(Duration limit) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, limit, [&] { return newest_.has_value() || end_.has_value(); });
    return std::exchange(newest_, std::nullopt);
  }

  // Set once the newest state was taken and the call is over.
  std::optional<absl::Status> end() {
    std::lock_guard lock(mutex_);
    return newest_.has_value() ? std::nullopt : end_;
  }

 private:
  void Read() {
    v1::Batch batch;
    while (reader_->Read(&batch)) {
      std::lock_guard lock(mutex_);
      newest_ = std::move(batch);
      changed_.notify_one();
    }
    const absl::Status status = FromGrpc(reader_->Finish());
    std::lock_guard lock(mutex_);
    end_ = status;
    changed_.notify_one();
  }

  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<v1::Batch>> reader_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<v1::Batch> newest_;  // guarded by mutex_
  std::optional<absl::Status> end_;  // guarded by mutex_
  std::thread thread_;
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
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kBatchDeadline);
  Reply reply;
  const absl::Status status = FromGrpc((stub_->service.get()->*method)(&context, request, &reply));
  if (!status.ok()) return Explained(status);
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
  constexpr Duration kTick = std::chrono::milliseconds(100);
  constexpr Duration kPause = std::chrono::milliseconds(500);
  v1::Batch last;
  TimePoint give_up = RealClock().Now() + patience;
  for (;;) {
    Stream stream(*stub_->service, BatchRequest(batch_id));
    std::optional<absl::Status> end;
    while (!(end = stream.end())) {
      WARPSMITH_RETURN_IF_ERROR(poll());
      std::optional<v1::Batch> batch = stream.Next(kTick);
      if (!batch) continue;
      give_up = RealClock().Now() + patience;
      last = *batch;
      on_change(last);
    }
    if (end->ok() && (last.state() == "done" || last.state() == "cancelled")) return last;
    const bool broken = end->ok() || end->code() == absl::StatusCode::kUnavailable;
    if (!broken || RealClock().Now() >= give_up) return Explained(end->ok() ? Unavailable("the stream ended") : *end);
    const TimePoint again = RealClock().Now() + kPause;
    while (RealClock().Now() < again) {
      WARPSMITH_RETURN_IF_ERROR(poll());
      RealClock().SleepFor(kTick);
    }
  }
}

}  // namespace warpsmith::cli
