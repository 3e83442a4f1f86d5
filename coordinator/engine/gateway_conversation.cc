#include "coordinator/engine/gateway_conversation.h"

#include <deque>
#include <unordered_map>
#include <utility>

#include "common/grpc_channel.h"

namespace warpsmith::engine {
namespace {

constexpr size_t kMostMessageBytes = 1u << 20;              // of calls that go together; a single one may be larger
constexpr size_t kMostCallBytes = kMaxMessageBytes - 1024;  // and what is around it

void Tell(const GatewayConversation::OnReply& on_reply, uint64_t id, const grpc::Status& status) {
  v1::CallReply reply;
  reply.set_id(id);
  reply.set_ended(true);
  reply.set_code(status.error_code());
  reply.set_message(status.error_message());
  on_reply(reply);
}

}  // namespace

class GatewayConversation::Stream final : public grpc::ClientBidiReactor<v1::Calls, v1::CallReplies> {
 public:
  explicit Stream(GatewayConversation& owner) : owner_(owner) {}

  void Begin(std::shared_ptr<Stream> self) {
    self_ = std::move(self);
    owner_.stub_.async()->Converse(&context_, this);
    AddHold();  // calls are written from outside of reactions
    StartRead(&reading_);
    StartCall();
  }
  void Abort() { context_.TryCancel(); }

  // False where the stream has broken: nothing was taken then.
  bool Add(v1::Call& call, OnReply& on_reply) {
    std::unique_lock lock(mutex_);
    if (broken_) return false;
    calls_.emplace(call.id(), std::make_shared<OnReply>(std::move(on_reply)));
    Write(lock, std::move(call));
    return true;
  }
  void Cancel(uint64_t id) {
    std::unique_lock lock(mutex_);
    if (broken_ || calls_.count(id) == 0) return;
    v1::Call cancel;
    cancel.set_id(id);
    cancel.set_cancel(true);
    Write(lock, std::move(cancel));
  }

 private:
  using Shared = std::shared_ptr<OnReply>;

  void Write(std::unique_lock<std::mutex>& lock, v1::Call call) {
    waiting_.push_back(std::move(call));
    if (writing_) return;
    writing_ = true;
    const v1::Calls* next = &NextMessage();
    lock.unlock();
    StartWrite(next);
  }
  const v1::Calls& NextMessage() {
    writes_.clear_calls();
    for (size_t bytes = 0; !waiting_.empty(); waiting_.pop_front()) {
      bytes += waiting_.front().ByteSizeLong();
      if (bytes > kMostMessageBytes && writes_.calls_size() > 0) break;
      *writes_.add_calls() = std::move(waiting_.front());
    }
    return writes_;
  }
  void OnWriteDone(bool ok) override {
    std::unique_lock lock(mutex_);
    if (!ok) waiting_.clear();  // reading ends too, and with it the calls
    if (!waiting_.empty()) {
      const v1::Calls* next = &NextMessage();
      lock.unlock();
      return StartWrite(next);
    }
    writing_ = false;
    if (!broken_) return;
    lock.unlock();
    RemoveHold();
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      std::unique_lock lock(mutex_);
      broken_ = true;
      waiting_.clear();
      if (writing_) return;  // somebody may be about to; the write's end lets go
      lock.unlock();
      return RemoveHold();
    }
    for (v1::CallReply& reply : *reading_.mutable_replies()) {
      Shared on_reply;
      {
        std::lock_guard lock(mutex_);
        const auto place = calls_.find(reply.id());
        if (place == calls_.end()) continue;
        on_reply = place->second;
        if (reply.ended()) calls_.erase(place);
      }
      (*on_reply)(reply);
    }
    StartRead(&reading_);
  }

  void OnDone(const grpc::Status& status) override {
    if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED) owner_.Unsupported();  // before anybody is told
    std::unordered_map<uint64_t, Shared> left;
    {
      std::lock_guard lock(mutex_);
      left.swap(calls_);
    }
    for (auto& [id, on_reply] : left) {
      Tell(*on_reply, id,
           status.ok() ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "the gateway ended the stream") : status);
    }
    const std::shared_ptr<Stream> self = std::move(self_);
    owner_.Ended();
  }

  GatewayConversation& owner_;
  std::shared_ptr<Stream> self_;  // until gRPC has done with it
  grpc::ClientContext context_;
  v1::CallReplies reading_;
  v1::Calls writes_;
  std::mutex mutex_;
  std::unordered_map<uint64_t, Shared> calls_;  // guarded by mutex_
  std::deque<v1::Call> waiting_;                // guarded by mutex_
  bool writing_ = false;                        // guarded by mutex_
  bool broken_ = false;                         // guarded by mutex_; takes no calls any more
};

GatewayConversation::~GatewayConversation() {
  std::unique_lock lock(mutex_);
  if (stream_ != nullptr) stream_->Abort();
  ended_.wait(lock, [this] { return streams_ == 0; });
}

// The latest stream, a new one in the place of one that has broken.
std::shared_ptr<GatewayConversation::Stream> GatewayConversation::Current(const std::shared_ptr<Stream>& broken) {
  std::lock_guard lock(mutex_);
  if (stream_ == broken) {
    stream_ = std::make_shared<Stream>(*this);
    ++streams_;
    stream_->Begin(stream_);
  }
  return stream_;
}

uint64_t GatewayConversation::Start(v1::Call call, OnReply on_reply) {
  const uint64_t id = ++last_id_;
  call.set_id(id);
  if (call.ByteSizeLong() > kMostCallBytes) {  // all others would end with the stream
    Tell(on_reply, id, {grpc::StatusCode::RESOURCE_EXHAUSTED, "the request is larger than a message may be"});
    return id;
  }
  std::shared_ptr<Stream> stream;
  do {
    stream = Current(stream);
  } while (!stream->Add(call, on_reply));
  return id;
}

void GatewayConversation::Cancel(uint64_t id) {
  std::shared_ptr<Stream> stream;
  {
    std::lock_guard lock(mutex_);
    stream = stream_;
  }
  if (stream != nullptr) stream->Cancel(id);  // of an earlier one the calls have ended, or are about to
}

bool GatewayConversation::supported() const {
  std::lock_guard lock(mutex_);
  return RealClock().Now() >= supported_from_;
}

void GatewayConversation::Unsupported() {
  std::lock_guard lock(mutex_);
  supported_from_ = RealClock().Now() + forget_;
}

void GatewayConversation::Ended() {
  std::lock_guard lock(mutex_);
  --streams_;
  ended_.notify_all();  // under the lock: this may be gone once no stream is left
}

}  // namespace warpsmith::engine
