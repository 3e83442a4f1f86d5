#include "llm_gateway/service/conversation.h"

#include <google/protobuf/arena.h>

#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/grpc_channel.h"
#include "common/grpc_status.h"
#include "llm_gateway/service/call_log.h"
#include "llm_gateway/service/call_reactors.h"

namespace warpsmith::gateway {
namespace {

constexpr size_t kMostCalls = 4096;                          // under way on a stream
constexpr size_t kMostMessageBytes = 1u << 20;               // of replies that go together; a single one may be larger
constexpr size_t kMostReplyBytes = kMaxMessageBytes - 1024;  // and what is around it

}  // namespace

class Conversation final : public Conversations::Reactor {
 public:
  explicit Conversation(Conversations& owner) : owner_(owner) {}

  void Begin() { Read(); }
  // No more calls are taken; the stream ends with the last one under way.
  void Close() {
    std::unique_lock lock(mutex_);
    closed_ = stopping_ = true;
    FinishIfDone(lock);
  }

 private:
  // A message as it came; its calls live as long as one of them is under way.
  struct Received {
    google::protobuf::Arena arena;
    v1::Calls* calls = google::protobuf::Arena::CreateMessage<v1::Calls>(&arena);
  };
  struct OneCall {
    std::shared_ptr<const Received> message;
    const v1::Call* call;
    Cancellation cancellation;
  };
  using Shared = std::shared_ptr<OneCall>;

  void Read() {
    reading_ = std::make_shared<Received>();
    StartRead(reading_->calls);
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      std::unique_lock lock(mutex_);
      closed_ = true;
      return FinishIfDone(lock);
    }
    const std::shared_ptr<const Received> message = std::move(reading_);
    for (const v1::Call& call : message->calls->calls()) {
      call.cancel() ? CancelCall(call.id()) : Start(message, call);
    }
    {
      std::lock_guard lock(mutex_);
      if (finished_) return;
    }
    Read();
  }

  void CancelCall(uint64_t id) {
    Shared found;
    {
      std::lock_guard lock(mutex_);
      const auto place = calls_.find(id);
      if (place == calls_.end()) return;
      found = place->second;
    }
    found->cancellation.Cancel();
  }

  void Start(const std::shared_ptr<const Received>& message, const v1::Call& call) {
    auto one = std::make_shared<OneCall>();
    one->message = message;
    one->call = &call;
    absl::Status refusal;
    {
      std::lock_guard lock(mutex_);
      if (closed_) return;
      if (calls_.size() >= kMostCalls) {
        refusal = MakeStatus(absl::StatusCode::kResourceExhausted, "too many calls are under way on this stream");
      } else if (!calls_.emplace(call.id(), one).second) {
        refusal = InvalidArgument("a call of this id is under way on this stream");
      }
    }
    if (!refusal.ok()) {
      Send(Last(call.id(), ToGrpc(refusal)));
      return;
    }
    if (!owner_.active_.Add(one->cancellation)) return End(*one, Last(call.id(), Stopping()));
    owner_.pool_.Run([this, one = std::move(one)] {
      v1::CallReply last;
      const absl::Status status = Work(*one, last);
      owner_.active_.Remove(one->cancellation);
      if (!status.ok()) last.clear_what();
      SetEnd(ToGrpc(status), last);
      End(*one, std::move(last));
    });
  }

  absl::Status Work(OneCall& one, v1::CallReply& last) {
    last.set_id(one.call->id());
    switch (one.call->what_case()) {
      case v1::Call::kPropose: {
        WARPSMITH_ASSIGN_OR_RETURN(*last.mutable_ideas(),
                                   owner_.gateway_.ProposeIdeas(one.call->propose(), one.cancellation));
        LogCalls(last.ideas());
        return absl::OkStatus();
      }
      case v1::Call::kImplement:
        return owner_.gateway_.ImplementIdea(
            one.call->implement(),
            [&](v1::Implementation implementation, bool is_last) {
              LogCall("implementation", implementation.call(), implementation.status());
              if (is_last) {
                *last.mutable_implementation() = std::move(implementation);
                return true;
              }
              v1::CallReply reply;
              reply.set_id(one.call->id());
              *reply.mutable_implementation() = std::move(implementation);
              return Send(std::move(reply));
            },
            one.cancellation);
      case v1::Call::kRepair: {
        WARPSMITH_ASSIGN_OR_RETURN(*last.mutable_implementation(),
                                   owner_.gateway_.Repair(one.call->repair(), one.cancellation));
        LogCall("repair", last.implementation().call(), last.implementation().status());
        return absl::OkStatus();
      }
      default:
        return InvalidArgument("the call says nothing that this version knows");
    }
  }

  static void SetEnd(const grpc::Status& status, v1::CallReply& reply) {
    reply.set_ended(true);
    reply.set_code(status.error_code());
    reply.set_message(status.error_message());
  }
  static v1::CallReply Last(uint64_t id, const grpc::Status& status) {
    v1::CallReply reply;
    reply.set_id(id);
    SetEnd(status, reply);
    return reply;
  }

  // The call is over with this reply; so may be this object.
  void End(const OneCall& one, v1::CallReply reply) {
    std::unique_lock lock(mutex_);
    calls_.erase(one.call->id());
    SendLocked(lock, std::move(reply));
  }
  // False where nobody listens any more.
  bool Send(v1::CallReply reply) {
    std::unique_lock lock(mutex_);
    if (broken_) return false;
    SendLocked(lock, std::move(reply));
    return true;
  }
  void SendLocked(std::unique_lock<std::mutex>& lock, v1::CallReply reply) {
    // It would end the stream, and with it all other calls.
    if (reply.ByteSizeLong() > kMostReplyBytes) {
      reply = Last(reply.id(), {grpc::StatusCode::RESOURCE_EXHAUSTED, "the reply is larger than a message may be"});
    }
    if (!broken_) waiting_.push_back(std::move(reply));
    if (writing_ || waiting_.empty()) return FinishIfDone(lock);
    writing_ = true;
    lock.unlock();
    owner_.pool_.Soon([this] { OnWriteDone(true); });  // with what else ends in this turn
  }
  const v1::CallReplies& NextMessage() {
    writes_.clear_replies();
    for (size_t bytes = 0; !waiting_.empty(); waiting_.pop_front()) {
      bytes += waiting_.front().ByteSizeLong();
      if (bytes > kMostMessageBytes && writes_.replies_size() > 0) break;
      *writes_.add_replies() = std::move(waiting_.front());
    }
    return writes_;
  }

  void OnWriteDone(bool ok) override {
    std::unique_lock lock(mutex_);
    if (!ok) {
      broken_ = true;
      waiting_.clear();
    }
    if (waiting_.empty()) {
      writing_ = false;
      return FinishIfDone(lock);
    }
    const v1::CallReplies* next = &NextMessage();
    lock.unlock();
    StartWrite(next);
  }

  // Once, when there is nothing left to be told: after it this object may be gone.
  void FinishIfDone(std::unique_lock<std::mutex>& lock) {
    if (!closed_ || finished_ || writing_ || !calls_.empty()) return;
    finished_ = true;
    const grpc::Status status = stopping_ ? Stopping() : grpc::Status::OK;
    lock.unlock();
    Finish(status);
  }

  void OnCancel() override {
    std::vector<Shared> all;
    {
      std::lock_guard lock(mutex_);
      broken_ = true;
      waiting_.clear();
      for (const auto& [id, one] : calls_) all.push_back(one);
    }
    for (const Shared& one : all) one->cancellation.Cancel();
  }
  void OnDone() override {
    owner_.Remove(this);
    delete this;
  }

  Conversations& owner_;
  std::shared_ptr<Received> reading_;  // of the one read at a time
  v1::CallReplies writes_;             // of the one write at a time
  std::mutex mutex_;
  std::unordered_map<uint64_t, Shared> calls_;  // guarded by mutex_
  std::deque<v1::CallReply> waiting_;           // guarded by mutex_
  bool writing_ = false;                        // guarded by mutex_
  bool broken_ = false;                         // guarded by mutex_; nobody listens any more
  bool closed_ = false;                         // guarded by mutex_; no more calls are taken
  bool stopping_ = false;                       // guarded by mutex_; because the server stops
  bool finished_ = false;                       // guarded by mutex_
};

Conversations::Reactor* Conversations::Start() {
  auto* conversation = new Conversation(*this);
  conversation->Begin();  // nothing comes of it before it is returned
  std::lock_guard lock(mutex_);
  open_.insert(conversation);
  if (closed_) conversation->Close();
  return conversation;
}

void Conversations::Close() {
  std::lock_guard lock(mutex_);
  closed_ = true;
  for (Conversation* conversation : open_) conversation->Close();
}

void Conversations::Remove(Conversation* conversation) {
  std::lock_guard lock(mutex_);
  open_.erase(conversation);
}

}  // namespace warpsmith::gateway
