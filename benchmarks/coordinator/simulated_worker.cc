#include "benchmarks/coordinator/simulated_worker.h"

#include <fmt/format.h>

#include <deque>

#include "benchmarks/coordinator/answers.h"
#include "common/hash.h"
#include "common/version.h"

namespace warpsmith::bench {
namespace {

constexpr int kMessageBytes = 16 << 20;

// A connection of its own, with the worker's settings; gRPC would share one among channels of the same arguments.
std::shared_ptr<grpc::Channel> OwnConnection(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetMaxReceiveMessageSize(kMessageBytes);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

// Reads one blob to its end and hands it on; gone afterwards.
class BlobFetch final : public grpc::ClientReadReactor<v1::BlobChunk> {
 public:
  BlobFetch(v1::WorkerService::Stub& stub, const std::string& sha256, std::function<void(bool)> done)
      : sha256_(sha256), done_(std::move(done)) {
    request_.set_sha256(sha256);
    stub.async()->GetBlob(&context_, &request_, this);
    StartRead(&chunk_);
    StartCall();
  }

  void OnReadDone(bool ok) override {
    if (!ok) return;
    data_ += chunk_.data();
    StartRead(&chunk_);
  }

  // The context goes first: it holds the channel too, and a channel's last holder must not be gRPC's own thread.
  void OnDone(const grpc::Status& status) override {
    const bool fetched = status.ok() && Sha256Hex(data_) == sha256_;
    const std::function<void(bool)> done = std::move(done_);
    delete this;
    done(fetched);
  }

 private:
  grpc::ClientContext context_;
  v1::BlobRequest request_;
  v1::BlobChunk chunk_;
  const std::string sha256_;
  std::string data_;
  std::function<void(bool)> done_;
};

}  // namespace

// One read and one write at a time. A hold keeps it alive for writes from other threads, until the read side ends.
class SessionStream final : public grpc::ClientBidiReactor<v1::WorkerMessage, v1::CoordinatorMessage> {
 public:
  explicit SessionStream(SimulatedWorker& worker) : worker_(worker) {}

  void Begin(v1::WorkerService::Stub& stub, v1::WorkerMessage hello) {
    stub.async()->Session(&context_, this);
    outgoing_.push_back(std::move(hello));
    AddHold();
    StartWrite(&outgoing_.front());
    StartRead(&incoming_);
    StartCall();
  }

  void Send(v1::WorkerMessage message) {
    std::lock_guard lock(mutex_);
    if (closing_) return;
    outgoing_.push_back(std::move(message));
    if (outgoing_.size() == 1) StartWrite(&outgoing_.front());
  }

  void Cancel() { context_.TryCancel(); }

  void OnReadDone(bool ok) override {
    if (ok) {
      worker_.Handle(incoming_);
      StartRead(&incoming_);
      return;
    }
    {
      std::lock_guard lock(mutex_);
      closing_ = true;
    }
    RemoveHold();
  }

  void OnWriteDone(bool ok) override {
    std::lock_guard lock(mutex_);
    outgoing_.pop_front();
    if (!ok) closing_ = true;
    if (!closing_ && !outgoing_.empty()) StartWrite(&outgoing_.front());
  }

  // The context goes first: it holds the channel too, and a channel's last holder must not be gRPC's own thread.
  void OnDone(const grpc::Status& /*status*/) override {
    SimulatedWorker& worker = worker_;
    worker.Closed(this);
    delete this;
    worker.Ended();
  }

 private:
  SimulatedWorker& worker_;
  grpc::ClientContext context_;
  v1::CoordinatorMessage incoming_;
  std::mutex mutex_;
  std::deque<v1::WorkerMessage> outgoing_;  // guarded by mutex_; the front is being written
  bool closing_ = false;                    // guarded by mutex_
};

SimulatedWorker::SimulatedWorker(WorkerFleet& fleet, int number)
    : fleet_(fleet),
      worker_id_(fmt::format("{}-{}", fleet.options_.name, number)),
      channel_(OwnConnection(fleet.options_.address)),
      stub_(v1::WorkerService::NewStub(channel_)) {}

SimulatedWorker::~SimulatedWorker() {
  std::unique_lock lock(mutex_);
  ending_ = true;
  if (stream_ != nullptr) stream_->Cancel();
  closed_.wait(lock, [this] { return streams_ == 0 && fetching_ == 0; });
}

void SimulatedWorker::Open() {
  v1::WorkerMessage message;
  v1::Hello* hello = message.mutable_hello();
  hello->set_worker_id(worker_id_);
  hello->set_boot_id("boot-" + worker_id_);
  hello->set_version(kVersion);
  hello->set_slots(fleet_.options_.slots);
  *hello->mutable_device() = SimulatedDevice();
  std::lock_guard lock(mutex_);
  if (ending_ || stream_ != nullptr) return;
  for (const auto& [id, epoch] : in_hand_) {
    v1::RunningTask* task = hello->add_running();
    task->set_task_id(id);
    task->set_epoch(epoch);
  }
  stream_ = new SessionStream(*this);
  ++streams_;
  stream_->Begin(*stub_, std::move(message));
  for (const auto& [id, result] : unacknowledged_) {
    v1::WorkerMessage again;
    *again.mutable_result() = result;
    stream_->Send(std::move(again));
  }
}

void SimulatedWorker::Tick(bool in_any_case) {
  {
    std::lock_guard lock(mutex_);
    if (stream_ != nullptr) {
      if (welcomed_ && (in_any_case || changed_ || drains_ != fleet_.draining_)) SendSyncLocked();
      return;
    }
  }
  Open();
}

void SimulatedWorker::SendSyncLocked() {
  drains_ = fleet_.draining_;
  changed_ = false;
  v1::WorkerMessage message;
  v1::Sync* sync = message.mutable_sync();
  for (const auto& [id, epoch] : in_hand_) {
    v1::RunningTask* task = sync->add_running();
    task->set_task_id(id);
    task->set_epoch(epoch);
  }
  sync->set_free_slots(std::max(0, fleet_.options_.slots - static_cast<int>(in_hand_.size())));
  sync->set_draining(drains_);
  stream_->Send(std::move(message));
}

void SimulatedWorker::Handle(const v1::CoordinatorMessage& message) {
  if (message.has_assignment()) {
    Accept(message.assignment());
    return;
  }
  std::lock_guard lock(mutex_);
  if (message.has_welcome()) {
    welcomed_ = true;
    ++fleet_.counters_.connected;
    if (stream_ != nullptr) SendSyncLocked();
  } else if (message.has_ack()) {
    const auto found = in_hand_.find(message.ack().task_id());
    if (found == in_hand_.end() || found->second != message.ack().epoch()) return;
    in_hand_.erase(found);
    unacknowledged_.erase(message.ack().task_id());
    changed_ = true;
    ++(message.ack().recorded() ? fleet_.counters_.recorded : fleet_.counters_.refused);
  } else if (message.has_cancel()) {
    const auto found = in_hand_.find(message.cancel().task_id());
    if (found == in_hand_.end() || found->second != message.cancel().epoch()) return;
    in_hand_.erase(found);
    unacknowledged_.erase(message.cancel().task_id());
    changed_ = true;
    ++fleet_.counters_.cancelled;
  }
}

void SimulatedWorker::Accept(const v1::Assignment& assignment) {
  const int64_t now = RealClock().WallMicros();
  const bool fetch = fleet_.fetching_ && !fleet_.options_.hold;
  {
    std::lock_guard lock(mutex_);
    const auto found = in_hand_.find(assignment.task_id());
    if (found != in_hand_.end()) {
      if (found->second >= assignment.epoch()) return;
      ++fleet_.counters_.refused;  // the older epoch's result will not be taken
      unacknowledged_.erase(assignment.task_id());
    }
    in_hand_[assignment.task_id()] = assignment.epoch();
    changed_ = true;
    ++fleet_.counters_.assigned;
    if (fetch) ++fetching_;
  }
  if (fleet_.keeping_starts_) {
    std::lock_guard lock(fleet_.mutex_);
    fleet_.starts_.push_back({assignment.task_id(), now});
  }
  if (fleet_.options_.hold) return;
  if (!fetch) {
    Finish(AnswerTo(assignment));
    return;
  }
  const std::string& sha256 =
      assignment.has_evaluate() ? assignment.evaluate().candidate_sha256() : assignment.intake().problem_sha256();
  new BlobFetch(*stub_, sha256, [this, assignment](bool fetched) {
    v1::TaskResult result = AnswerTo(assignment);
    if (!fetched) result.set_infra_error("the source did not arrive");
    Finish(std::move(result));
    std::lock_guard lock(mutex_);
    --fetching_;
    closed_.notify_all();
  });
}

void SimulatedWorker::Finish(v1::TaskResult result) {
  std::lock_guard lock(mutex_);
  const auto found = in_hand_.find(result.task_id());
  if (found == in_hand_.end() || found->second != result.epoch()) return;
  v1::WorkerMessage message;
  *message.mutable_result() = result;
  unacknowledged_[result.task_id()] = std::move(result);
  if (stream_ != nullptr) stream_->Send(std::move(message));
}

void SimulatedWorker::Closed(const SessionStream* stream) {
  std::lock_guard lock(mutex_);
  if (stream_ != stream) return;
  stream_ = nullptr;
  if (welcomed_) --fleet_.counters_.connected;
  if (!ending_) ++fleet_.counters_.reconnects;
  welcomed_ = false;
}

void SimulatedWorker::Ended() {
  std::lock_guard lock(mutex_);
  --streams_;
  closed_.notify_all();
}

}  // namespace warpsmith::bench
