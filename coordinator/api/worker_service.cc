#include "coordinator/api/worker_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <vector>

#include "common/grpc_access.h"
#include "common/grpc_status.h"
#include "coordinator/api/worker_gate.h"
#include "coordinator/store/blob_store.h"
#include "coordinator/store/text.h"
#include "warpsmith/v1/worker.grpc.pb.h"

namespace warpsmith::api {
namespace {

constexpr size_t kOutboundBytes = 64u << 20;
constexpr size_t kChunkBytes = 1u << 20;
constexpr size_t kSha256Digits = 64;

// One read and one write at a time; Finish exactly once, with no write under way; gone after OnDone.
class SessionReactor final : public grpc::ServerBidiReactor<v1::WorkerMessage, v1::CoordinatorMessage>,
                             public engine::WorkerConnection,
                             public std::enable_shared_from_this<SessionReactor> {
 public:
  SessionReactor(engine::WorkerHub& hub, SessionLimits& limits, WorkerGate gate, std::string token_name)
      : hub_(hub), limits_(limits), gate_(std::move(gate)), token_name_(std::move(token_name)) {}

  void Begin() {
    self_ = shared_from_this();
    const absl::Status entered = limits_.Enter(token_name_);
    entered_ = entered.ok();
    if (!entered_) {
      std::lock_guard lock(mutex_);
      CloseLocked(ToGrpc(entered));
      return;
    }
    session_ = hub_.Open(self_);
    StartRead(&incoming_);
  }

  void Send(v1::CoordinatorMessage message) override {
    std::lock_guard lock(mutex_);
    PutLocked(std::move(message));
    WriteNextLocked();
  }

  void SendAll(std::vector<v1::CoordinatorMessage> messages) override {
    std::lock_guard lock(mutex_);
    for (v1::CoordinatorMessage& message : messages) PutLocked(std::move(message));
    WriteNextLocked();
  }

  void Close(const std::string& why) override {
    std::lock_guard lock(mutex_);
    CloseLocked(grpc::Status(grpc::StatusCode::UNAVAILABLE, why));
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      std::lock_guard lock(mutex_);
      CloseLocked(grpc::Status::OK);
      return;
    }
    if (const absl::Status allowed = gate_.Check(&incoming_); !allowed.ok()) {
      std::lock_guard lock(mutex_);
      CloseLocked(ToGrpc(allowed));
      return;
    }
    hub_.Receive(session_, std::move(incoming_));
    incoming_.Clear();
    StartRead(&incoming_);
  }

  void OnWriteDone(bool ok) override {
    std::lock_guard lock(mutex_);
    writing_ = false;
    if (!outbound_.empty()) {
      queued_bytes_ -= std::min(queued_bytes_, outbound_.front().ByteSizeLong());
      outbound_.pop_front();
    }
    if (!ok && !closing_) {
      closing_ = true;
      status_ = grpc::Status(grpc::StatusCode::UNAVAILABLE, "the worker is gone");
    }
    if (closing_) {
      FinishLocked();
    } else {
      WriteNextLocked();
    }
  }

  void OnCancel() override {
    std::lock_guard lock(mutex_);
    CloseLocked(grpc::Status::CANCELLED);
  }

  void OnDone() override {
    if (entered_) {
      hub_.Closed(session_);
      limits_.Leave(token_name_);
    }
    self_.reset();
  }

 private:
  void PutLocked(v1::CoordinatorMessage message) {
    if (closing_) return;
    queued_bytes_ += message.ByteSizeLong();
    outbound_.push_back(std::move(message));
    if (queued_bytes_ <= kOutboundBytes) return;
    CloseLocked(
        grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "the worker does not read its messages; connect again"));
  }
  void WriteNextLocked() {
    if (writing_ || closing_ || outbound_.empty()) return;
    writing_ = true;
    // What more is to be written follows at once: let them share a packet.
    grpc::WriteOptions options;
    if (outbound_.size() > 1) options.set_buffer_hint();
    StartWrite(&outbound_.front(), options);
  }
  void CloseLocked(const grpc::Status& status) {
    if (closing_) return;
    closing_ = true;
    status_ = status;
    FinishLocked();
  }
  void FinishLocked() {
    if (writing_ || finished_) return;
    finished_ = true;
    Finish(status_);
  }

  engine::WorkerHub& hub_;
  SessionLimits& limits_;
  WorkerGate gate_;  // the reads'
  const std::string token_name_;
  bool entered_ = false;
  uint64_t session_ = 0;
  v1::WorkerMessage incoming_;
  std::shared_ptr<SessionReactor> self_;

  std::mutex mutex_;
  std::deque<v1::CoordinatorMessage> outbound_;  // guarded by mutex_; the front is being written while writing_
  size_t queued_bytes_ = 0;                      // guarded by mutex_
  bool writing_ = false;                         // guarded by mutex_
  bool closing_ = false;                         // guarded by mutex_
  bool finished_ = false;                        // guarded by mutex_
  grpc::Status status_;                          // guarded by mutex_
};

class WorkerServiceImpl final : public v1::WorkerService::WithCallbackMethod_Session<v1::WorkerService::Service> {
 public:
  WorkerServiceImpl(engine::WorkerHub& hub, store::Database& database, std::shared_ptr<const AccessControl> access)
      : hub_(hub), database_(database), access_(std::move(access)) {}

  grpc::ServerBidiReactor<v1::WorkerMessage, v1::CoordinatorMessage>* Session(
      grpc::CallbackServerContext* context) override {
    auto reactor = std::make_shared<SessionReactor>(hub_, limits_, WorkerGate(access_, AuthorizationOf(*context)),
                                                    access_ ? ActorOf(*context, access_.get()).name : std::string());
    reactor->Begin();
    return reactor.get();
  }

  grpc::Status PutBlob(grpc::ServerContext* /*context*/, grpc::ServerReader<v1::BlobChunk>* reader,
                       v1::BlobReply* reply) override {
    std::string data, expected;
    v1::BlobChunk chunk;
    while (reader->Read(&chunk)) {
      if (!chunk.sha256().empty() && chunk.sha256().size() != kSha256Digits) {
        return {grpc::StatusCode::INVALID_ARGUMENT, "BlobChunk.sha256 must be 64 hexadecimal digits"};
      }
      if (!chunk.sha256().empty()) expected = chunk.sha256();
      if (chunk.data().size() > kChunkBytes) {
        return {grpc::StatusCode::INVALID_ARGUMENT,
                fmt::format("BlobChunk.data has {} bytes; a chunk has at most {}", chunk.data().size(), kChunkBytes)};
      }
      if (data.size() + chunk.data().size() > store::kMaxBlobBytes) {
        return {grpc::StatusCode::INVALID_ARGUMENT,
                fmt::format("BlobChunk.data: a blob has at most {} bytes; cut it", store::kMaxBlobBytes)};
      }
      data += chunk.data();
    }
    std::string hash;
    absl::Status status = database_.Write([&](store::Transaction& transaction) -> absl::Status {
      WARPSMITH_ASSIGN_OR_RETURN(hash, store::PutBlob(transaction, data, store::kMaxBlobBytes, expected));
      return absl::OkStatus();
    });
    if (!status.ok()) return ToGrpc(status);
    reply->set_sha256(hash);
    reply->set_bytes(static_cast<int64_t>(data.size()));
    return grpc::Status::OK;
  }

  grpc::Status GetBlob(grpc::ServerContext* /*context*/, const v1::BlobRequest* request,
                       grpc::ServerWriter<v1::BlobChunk>* writer) override {
    if (request->sha256().size() != kSha256Digits) {
      return {grpc::StatusCode::INVALID_ARGUMENT, "BlobRequest.sha256 must be 64 hexadecimal digits"};
    }
    std::string data;
    absl::Status status = database_.Read([&](store::Transaction& transaction) -> absl::Status {
      WARPSMITH_ASSIGN_OR_RETURN(data, store::GetBlob(transaction, store::CleanLine(request->sha256())));
      return absl::OkStatus();
    });
    if (!status.ok()) return ToGrpc(status);
    size_t at = 0;
    do {
      v1::BlobChunk chunk;
      chunk.set_sha256(request->sha256());
      chunk.set_data(data.substr(at, kChunkBytes));
      at += kChunkBytes;
      if (!writer->Write(chunk)) return {grpc::StatusCode::CANCELLED, "the worker went away"};
    } while (at < data.size());
    return grpc::Status::OK;
  }

 private:
  engine::WorkerHub& hub_;
  store::Database& database_;
  const std::shared_ptr<const AccessControl> access_;
  SessionLimits limits_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeWorkerService(engine::WorkerHub& hub, store::Database& database,
                                                 std::shared_ptr<const AccessControl> access) {
  return std::make_unique<WorkerServiceImpl>(hub, database, std::move(access));
}

}  // namespace warpsmith::api
