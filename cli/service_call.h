// What the clients of the coordinator's services share: a unary call with a deadline, a stream that is read once, and
// one that is followed to its end over the coordinator's restarts. For .cc files: it brings gRPC's headers. Threading:
// one thread; a stream is read by a thread of its own. Errors: the call's own, as they came.
#ifndef WARPSMITH_CLI_SERVICE_CALL_H_
#define WARPSMITH_CLI_SERVICE_CALL_H_

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "common/clock.h"
#include "common/grpc_status.h"

namespace warpsmith::cli {

template <typename Reply, typename Stub, typename Method, typename Request>
absl::StatusOr<Reply> CallService(Duration deadline, Stub& stub, Method method, const Request& request) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::duration_cast<std::chrono::milliseconds>(deadline));
  Reply reply;
  const absl::Status status = FromGrpc((stub.*method)(&context, request, &reply));
  if (!status.ok()) return status;
  return reply;
}

template <typename Message>
using OpenStream = std::function<std::unique_ptr<grpc::ClientReader<Message>>(grpc::ClientContext*)>;

// Messages of a stream read by a thread of its own, so that their owner can look at other things meanwhile; of an owner
// who is slow it waits with some in hand.
template <typename Message>
class ServiceStream {
 public:
  explicit ServiceStream(const OpenStream<Message>& open) {
    reader_ = open(&context_);
    thread_ = std::thread([this] { Read(); });
  }
  ~ServiceStream() {
    context_.TryCancel();
    {
      std::lock_guard lock(mutex_);
      closing_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  // A message, if one comes in time.
  std::optional<Message> Next(Duration limit) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, limit, [&] { return !messages_.empty() || end_.has_value(); });
    if (messages_.empty()) return std::nullopt;
    Message message = std::move(messages_.front());
    messages_.pop_front();
    changed_.notify_all();
    return message;
  }

  // Set once all messages have been taken and the call is over.
  std::optional<absl::Status> end() {
    std::lock_guard lock(mutex_);
    return messages_.empty() ? end_ : std::nullopt;
  }

 private:
  void Read() {
    Message message;
    while (reader_->Read(&message)) {
      std::unique_lock lock(mutex_);
      messages_.push_back(std::move(message));
      changed_.notify_all();
      changed_.wait(lock, [&] { return messages_.size() < kAhead || closing_; });
    }
    const absl::Status status = FromGrpc(reader_->Finish());
    std::lock_guard lock(mutex_);
    end_ = status;
    changed_.notify_all();
  }

  static constexpr size_t kAhead = 16;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<Message>> reader_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Message> messages_;     // guarded by mutex_
  std::optional<absl::Status> end_;  // guarded by mutex_
  bool closing_ = false;             // guarded by mutex_
  std::thread thread_;
};

template <typename Message>
struct Reading {
  Duration deadline;
  OpenStream<Message> open;
  std::function<absl::Status(const Message&)> take;          // an error ends the call with that error
  std::function<absl::Status()> poll;                        // ten times a second; likewise
  std::function<absl::Status(const absl::Status&)> explain;  // of the call's own error
};

// Every message of one stream, once.
template <typename Message>
absl::Status ReadStream(const Reading<Message>& reading) {
  constexpr Duration kTick = std::chrono::milliseconds(100);
  ServiceStream<Message> stream([&](grpc::ClientContext* context) {
    context->set_deadline(std::chrono::system_clock::now() +
                          std::chrono::duration_cast<std::chrono::milliseconds>(reading.deadline));
    return reading.open(context);
  });
  std::optional<absl::Status> end;
  while (!(end = stream.end())) {
    WARPSMITH_RETURN_IF_ERROR(reading.poll());
    const std::optional<Message> message = stream.Next(kTick);
    if (message) WARPSMITH_RETURN_IF_ERROR(reading.take(*message));
  }
  return end->ok() ? absl::OkStatus() : reading.explain(*end);
}

template <typename Message>
struct Following {
  OpenStream<Message> open;
  std::function<void(const Message&)> on_message;
  std::function<bool()> finished;      // whether the last message said so
  std::function<absl::Status()> poll;  // ten times a second; an error ends the wait with that error
  Duration patience;                   // for which a stream that breaks is taken up again
  std::function<absl::Status(const absl::Status&)> explain;  // of the error that ends it
};

// Until it has finished. A coordinator that restarts ends its streams; what it does goes on with the next one.
template <typename Message>
absl::Status FollowStream(const Following<Message>& following) {
  constexpr Duration kTick = std::chrono::milliseconds(100);
  constexpr Duration kPause = std::chrono::milliseconds(500);
  TimePoint give_up = RealClock().Now() + following.patience;
  for (;;) {
    ServiceStream<Message> stream(following.open);
    std::optional<absl::Status> end;
    while (!(end = stream.end())) {
      WARPSMITH_RETURN_IF_ERROR(following.poll());
      const std::optional<Message> message = stream.Next(kTick);
      if (!message) continue;
      give_up = RealClock().Now() + following.patience;
      following.on_message(*message);
    }
    if (end->ok() && following.finished()) return absl::OkStatus();
    const bool broken = end->ok() || end->code() == absl::StatusCode::kUnavailable;
    if (!broken || RealClock().Now() >= give_up) {
      return following.explain(end->ok() ? Unavailable("the stream ended") : *end);
    }
    const TimePoint again = RealClock().Now() + kPause;
    while (RealClock().Now() < again) {
      WARPSMITH_RETURN_IF_ERROR(following.poll());
      RealClock().SleepFor(kTick);
    }
  }
}

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_SERVICE_CALL_H_
