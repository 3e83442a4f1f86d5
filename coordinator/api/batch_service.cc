#include "coordinator/api/batch_service.h"

#include <fmt/format.h>

#include <atomic>

#include "common/grpc_status.h"
#include "coordinator/api/batch_view.h"
#include "coordinator/store/text.h"
#include "warpsmith/v1/batch.grpc.pb.h"

namespace warpsmith::api {
namespace {

constexpr int kUsualBatches = 50;
constexpr int kMostBatches = 500;
constexpr int kMostBatchWatchers = 32;  // each holds a thread
constexpr Duration kBatchPoll = std::chrono::seconds(1);

class BatchServiceImpl final : public v1::BatchService::Service {
 public:
  BatchServiceImpl(const batch::BatchContext& context, engine::ChangeBus& changes)
      : context_(context), changes_(changes), operations_(context) {}

  grpc::Status SubmitBatch(grpc::ServerContext*, const v1::SubmitBatchRequest* request, v1::Batch* reply) override {
    return Answer(operations_.Submit(*request), reply);
  }
  grpc::Status AddProblems(grpc::ServerContext*, const v1::AddProblemsRequest* request, v1::Batch* reply) override {
    return Answer(operations_.Add(*request), reply);
  }
  grpc::Status PauseBatch(grpc::ServerContext*, const v1::GetBatchRequest* request, v1::Batch* reply) override {
    return Answer(operations_.SetPaused(request->batch_id(), true), reply);
  }
  grpc::Status ResumeBatch(grpc::ServerContext*, const v1::GetBatchRequest* request, v1::Batch* reply) override {
    return Answer(operations_.SetPaused(request->batch_id(), false), reply);
  }
  grpc::Status CancelBatch(grpc::ServerContext*, const v1::GetBatchRequest* request, v1::Batch* reply) override {
    return Answer(operations_.Cancel(request->batch_id()), reply);
  }
  grpc::Status RetryFailed(grpc::ServerContext*, const v1::GetBatchRequest* request,
                           v1::RetryFailedReply* reply) override {
    int retried = 0;
    const absl::StatusOr<std::string> id = operations_.RetryFailed(request->batch_id(), &retried);
    reply->set_retried(retried);
    return Answer(id, reply->mutable_batch());
  }
  grpc::Status SetBatch(grpc::ServerContext*, const v1::SetBatchRequest* request, v1::Batch* reply) override {
    return Answer(operations_.Set(*request), reply);
  }

  grpc::Status GetBatch(grpc::ServerContext*, const v1::GetBatchRequest* request, v1::Batch* reply) override {
    return Answer(Resolve(request->batch_id()), reply);
  }

  grpc::Status ListBatches(grpc::ServerContext*, const v1::ListBatchesRequest* request,
                           v1::ListBatchesReply* reply) override {
    if (request->limit() < 0 || request->limit() > kMostBatches) {
      return {
          grpc::StatusCode::INVALID_ARGUMENT,
          fmt::format("ListBatchesRequest.limit must lie between 0 (default, {}) and {}", kUsualBatches, kMostBatches)};
    }
    const int limit = request->limit() == 0 ? kUsualBatches : request->limit();
    return ToGrpc(context_.database.Read([&](store::Transaction& transaction) -> absl::Status {
      reply->Clear();
      WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows,
                                 transaction.Execute("batch_list", {store::CleanLine(request->owner(), 200), limit}));
      for (const store::Row row : rows) {
        WARPSMITH_ASSIGN_OR_RETURN(*reply->add_batches(), ViewBatch(transaction, row.Text("id"), false));
      }
      return absl::OkStatus();
    }));
  }

  grpc::Status WatchBatch(grpc::ServerContext* context, const v1::GetBatchRequest* request,
                          grpc::ServerWriter<v1::Batch>* writer) override {
    if (watchers_.fetch_add(1) >= kMostBatchWatchers) {
      watchers_.fetch_sub(1);
      return {
          grpc::StatusCode::RESOURCE_EXHAUSTED,
          fmt::format("{} watches of batches are open, which is the most there can be; close one", kMostBatchWatchers)};
    }
    grpc::Status status = Watch(context, request->batch_id(), writer);
    watchers_.fetch_sub(1);
    return status;
  }

 private:
  absl::StatusOr<std::string> Resolve(const std::string& prefix) {
    std::string id;
    WARPSMITH_RETURN_IF_ERROR(context_.database.Read([&](store::Transaction& transaction) -> absl::Status {
      WARPSMITH_ASSIGN_OR_RETURN(id, batch::ResolveBatch(transaction, prefix));
      return absl::OkStatus();
    }));
    return id;
  }

  absl::StatusOr<v1::Batch> View(const std::string& id) {
    v1::Batch batch;
    WARPSMITH_RETURN_IF_ERROR(context_.database.Read([&](store::Transaction& transaction) -> absl::Status {
      WARPSMITH_ASSIGN_OR_RETURN(batch, ViewBatch(transaction, id, true));
      return absl::OkStatus();
    }));
    return batch;
  }

  grpc::Status Answer(const absl::StatusOr<std::string>& id, v1::Batch* reply) {
    if (!id.ok()) return ToGrpc(id.status());
    absl::StatusOr<v1::Batch> batch = View(*id);
    if (!batch.ok()) return ToGrpc(batch.status());
    *reply = std::move(batch).value();
    return grpc::Status::OK;
  }

  grpc::Status Watch(grpc::ServerContext* context, const std::string& prefix, grpc::ServerWriter<v1::Batch>* writer) {
    const absl::StatusOr<std::string> id = Resolve(prefix);
    if (!id.ok()) return ToGrpc(id.status());
    std::string last;
    uint64_t version = 0;
    while (!context->IsCancelled()) {
      const absl::StatusOr<v1::Batch> batch = View(*id);
      // A database that is away for a while does not end a watch.
      if (!batch.ok() && !absl::IsUnavailable(batch.status())) return ToGrpc(batch.status());
      if (batch.ok()) {
        std::string now = batch->SerializeAsString();
        if (now != last && !writer->Write(*batch)) return grpc::Status::CANCELLED;
        last = std::move(now);
        if (batch->state() == "done" || batch->state() == "cancelled") return grpc::Status::OK;
      }
      version = changes_.Wait(*id, version, kBatchPoll);
      if (changes_.closed()) {
        return {grpc::StatusCode::UNAVAILABLE, "the coordinator is shutting down; watch again when it is back"};
      }
    }
    return grpc::Status::CANCELLED;
  }

  const batch::BatchContext context_;
  engine::ChangeBus& changes_;
  batch::BatchOperations operations_;
  std::atomic<int> watchers_{0};
};

}  // namespace

std::unique_ptr<grpc::Service> MakeBatchService(const batch::BatchContext& context, engine::ChangeBus& changes) {
  return std::make_unique<BatchServiceImpl>(context, changes);
}

}  // namespace warpsmith::api
