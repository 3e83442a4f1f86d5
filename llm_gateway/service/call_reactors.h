// gRPC calls whose work waits, without a gRPC thread for each: a call's work runs on a TaskRunner, and what gRPC says
// of it (the client has gone, a write is done) comes through reactions that never block. Each object lives until gRPC
// has done with its call, and then deletes itself.
// Threading: Start once; the work calls from any of its threads. Source of the method: gRPC's callback API.
#ifndef WARPSMITH_LLM_GATEWAY_SERVICE_CALL_REACTORS_H_
#define WARPSMITH_LLM_GATEWAY_SERVICE_CALL_REACTORS_H_

#include <grpcpp/support/server_callback.h>

#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "common/grpc_status.h"
#include "llm_gateway/async/task_runner.h"
#include "llm_gateway/service/active_calls.h"

namespace warpsmith::gateway {

inline grpc::Status Stopping() { return {grpc::StatusCode::UNAVAILABLE, "the gateway is stopping; try again soon"}; }

class UnaryCall final : public grpc::ServerUnaryReactor {
 public:
  using Work = std::function<absl::Status(Cancellation&)>;

  static grpc::ServerUnaryReactor* Start(ActiveCalls& active, TaskRunner& pool, Work work) {
    auto* call = new UnaryCall(active);
    if (!active.Add(call->cancellation_)) {
      call->Finish(Stopping());
    } else {
      pool.Run([call, work = std::move(work)] {
        const absl::Status status = work(call->cancellation_);
        // Before Finish, after which the call may be gone.
        call->active_.Remove(call->cancellation_);
        call->Finish(ToGrpc(status));
      });
    }
    return call;
  }

 private:
  explicit UnaryCall(ActiveCalls& active) : active_(active) {}
  void OnCancel() override { cancellation_.Cancel(); }
  void OnDone() override { delete this; }

  ActiveCalls& active_;
  Cancellation cancellation_;
};

template <typename Message>
class StreamCall final : public grpc::ServerWriteReactor<Message> {
 public:
  // Queues a message; false where nobody listens any more. The last one goes with the status, in one piece, when the
  // work has ended.
  using Emit = std::function<bool(Message, bool last)>;
  using Work = std::function<absl::Status(const Emit&, Cancellation&)>;

  static grpc::ServerWriteReactor<Message>* Start(ActiveCalls& active, TaskRunner& pool, Work work) {
    auto* call = new StreamCall(active);
    if (!active.Add(call->cancellation_)) {
      call->Finish(Stopping());
    } else {
      pool.Run([call, work = std::move(work)] {
        const absl::Status status = work(
            [call](Message message, bool last) { return call->Send(std::move(message), last); }, call->cancellation_);
        call->active_.Remove(call->cancellation_);
        call->End(ToGrpc(status));
      });
    }
    return call;
  }

 private:
  explicit StreamCall(ActiveCalls& active) : active_(active) {}

  bool Send(Message message, bool last) {
    const Message* first = nullptr;
    {
      std::lock_guard lock(mutex_);
      if (broken_) return false;
      if (last) {
        last_ = std::move(message);
        return true;
      }
      waiting_.push_back(std::move(message));
      if (!writing_) {
        writing_ = true;
        first = &waiting_.front();
      }
    }
    if (first != nullptr) this->StartWrite(first);
    return true;
  }

  void End(grpc::Status status) {
    {
      std::lock_guard lock(mutex_);
      ended_ = true;
      status_ = status;
      if (writing_) return;
    }
    FinishWithLast();
  }

  // Once, when nothing is being written any more.
  void FinishWithLast() {
    if (last_ && status_.ok() && !broken_) {
      this->StartWriteAndFinish(&*last_, grpc::WriteOptions(), status_);
    } else {
      this->Finish(status_);
    }
  }

  void OnWriteDone(bool ok) override {
    const Message* next = nullptr;
    {
      std::lock_guard lock(mutex_);
      waiting_.pop_front();
      if (!ok) {
        broken_ = true;
        waiting_.clear();
      }
      if (!waiting_.empty()) {
        next = &waiting_.front();
      } else {
        writing_ = false;
        if (!ended_) {
          if (!ok) cancellation_.Cancel();
          return;
        }
      }
    }
    if (next != nullptr) {
      this->StartWrite(next);
    } else {
      FinishWithLast();
    }
  }

  void OnCancel() override { cancellation_.Cancel(); }
  void OnDone() override { delete this; }

  ActiveCalls& active_;
  Cancellation cancellation_;
  std::mutex mutex_;
  std::deque<Message> waiting_;  // guarded by mutex_; the first one is being written where writing_
  std::optional<Message> last_;  // set once, before ended_
  bool writing_ = false;         // guarded by mutex_
  bool broken_ = false;          // guarded by mutex_
  bool ended_ = false;           // guarded by mutex_
  grpc::Status status_;          // set once, with ended_
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_SERVICE_CALL_REACTORS_H_
