#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include <deque>
#include <mutex>

#include "common/grpc_channel.h"
#include "common/grpc_status.h"
#include "common/hash.h"
#include "gpu_worker/session/coordinator_stream.h"
#include "warpsmith/v1/worker.grpc.pb.h"

namespace warpsmith::session {
namespace {

constexpr size_t kMaxBlobBytes = 64u << 20;

// One read and one write in flight. The object lives until OnDone, however early its handle goes: both own it.
class Reactor final : public grpc::ClientBidiReactor<v1::WorkerMessage, v1::CoordinatorMessage> {
 public:
  explicit Reactor(StreamListener& listener) : listener_(listener) {}

  void Begin(v1::WorkerService::Stub& stub, std::shared_ptr<Reactor> self) {
    self_ = std::move(self);
    stub.async()->Session(context_.get(), this);
    AddHold();  // writes come from outside reactions
    StartRead(&incoming_);
    StartCall();
  }

  void Send(v1::WorkerMessage message) {
    std::lock_guard lock(mutex_);
    if (closing_) return;
    outgoing_.push_back(std::move(message));
    if (outgoing_.size() == 1) StartWrite(&outgoing_.front());
  }

  void Close() {
    {
      std::lock_guard lock(mutex_);
      if (closing_) return;
      closing_ = true;
      if (outgoing_.empty()) StartWritesDone();
    }
    RemoveHold();
  }

  // Close, and do not wait for the other side.
  void Abort() {
    std::shared_ptr<grpc::ClientContext> context;
    {
      std::lock_guard lock(mutex_);
      context = context_;
    }
    // Outside the lock, since what it ends may be told at once.
    if (context != nullptr) context->TryCancel();
    Close();
  }

 private:
  void OnReadDone(bool ok) override {
    if (!ok) {
      Close();
      return;
    }
    listener_.OnMessage(std::move(incoming_));
    incoming_.Clear();
    StartRead(&incoming_);
  }

  void OnWriteDone(bool ok) override {
    bool failed = false;
    {
      std::lock_guard lock(mutex_);
      outgoing_.pop_front();
      if (!ok) {
        outgoing_.clear();
        failed = true;
      } else if (!outgoing_.empty()) {
        StartWrite(&outgoing_.front());
      } else if (closing_) {
        StartWritesDone();
      }
    }
    if (failed) Close();
  }

  void OnDone(const grpc::Status& status) override {
    std::shared_ptr<Reactor> self = std::move(self_);
    {
      // It holds the channel, whose last holder must not be this thread of gRPC's; the listener may let go of the
      // others.
      std::lock_guard lock(mutex_);
      context_.reset();
    }
    listener_.OnClosed(FromGrpc(status));
  }

  StreamListener& listener_;
  std::shared_ptr<grpc::ClientContext> context_ = std::make_shared<grpc::ClientContext>();  // until the call is over
  v1::CoordinatorMessage incoming_;
  std::shared_ptr<Reactor> self_;
  std::mutex mutex_;
  std::deque<v1::WorkerMessage> outgoing_;
  bool closing_ = false;
};

class GrpcStream final : public CoordinatorStream {
 public:
  explicit GrpcStream(std::shared_ptr<Reactor> reactor) : reactor_(std::move(reactor)) {}
  ~GrpcStream() override { reactor_->Abort(); }
  void Send(v1::WorkerMessage message) override { reactor_->Send(std::move(message)); }
  void Close() override { reactor_->Close(); }

 private:
  std::shared_ptr<Reactor> reactor_;
};

class GrpcConnector final : public CoordinatorConnector {
 public:
  explicit GrpcConnector(const std::string& address)
      : address_(address), channel_(ConnectTo(address)), stub_(v1::WorkerService::NewStub(channel_)) {}

  std::unique_ptr<CoordinatorStream> Open(StreamListener& listener) override {
    auto reactor = std::make_shared<Reactor>(listener);
    reactor->Begin(*stub_, reactor);
    return std::make_unique<GrpcStream>(std::move(reactor));
  }

  absl::StatusOr<std::string> GetBlob(const std::string& sha256) override {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    v1::BlobRequest request;
    request.set_sha256(sha256);
    auto reader = stub_->GetBlob(&context, request);
    std::string data;
    v1::BlobChunk chunk;
    while (reader->Read(&chunk)) {
      data += chunk.data();
      if (data.size() > kMaxBlobBytes) context.TryCancel();
    }
    absl::Status status = FromGrpc(reader->Finish());
    if (!status.ok()) return Annotate(status, fmt::format("blob {}", sha256));
    if (Sha256Hex(data) != sha256) return Internal(fmt::format("blob {} arrived with other contents", sha256));
    return data;
  }

  absl::Status Explain(const absl::Status& status) override { return ExplainUnavailable(address_, status); }

 private:
  const std::string address_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::WorkerService::Stub> stub_;
};

}  // namespace

std::unique_ptr<CoordinatorConnector> MakeGrpcConnector(const std::string& address) {
  return std::make_unique<GrpcConnector>(address);
}

}  // namespace warpsmith::session
