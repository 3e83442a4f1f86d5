#include "coordinator/engine/grpc_gateway_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "common/grpc_channel.h"
#include "common/grpc_status.h"
#include "coordinator/engine/gateway_conversation.h"
#include "warpsmith/v1/gateway.grpc.pb.h"

namespace warpsmith::engine {
namespace {

constexpr double kConnectSeconds = 3;

std::chrono::milliseconds Milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}

// Replies of one call on their way from gRPC's threads to the one that waits; outlives whoever leaves first.
class ReplyQueue {
 public:
  void Put(v1::CallReply& reply) {
    std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(reply));
    changed_.notify_one();
  }
  // Who takes gets nothing any more, without waiting for what the gateway says to it.
  void Cancel() {
    std::lock_guard lock(mutex_);
    cancelled_ = true;
    changed_.notify_one();
  }
  // nullopt: cancelled, or nothing came by then.
  std::optional<v1::CallReply> Take(std::chrono::steady_clock::time_point until) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, until, [this] { return cancelled_ || !waiting_.empty(); });
    if (cancelled_ || waiting_.empty()) return std::nullopt;
    v1::CallReply reply = std::move(waiting_.front());
    waiting_.pop_front();
    return reply;
  }
  bool cancelled() {
    std::lock_guard lock(mutex_);
    return cancelled_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<v1::CallReply> waiting_;  // guarded by mutex_
  bool cancelled_ = false;             // guarded by mutex_
};

class GrpcGatewayClient final : public GatewayClient {
 public:
  GrpcGatewayClient(const std::string& address, const SecuritySettings& security)
      : address_(address),
        security_(security),
        channel_(ConnectTo(address, security)),
        stub_(v1::GatewayService::NewStub(channel_)) {}

  absl::StatusOr<v1::ProposeIdeasReply> ProposeIdeas(const v1::ProposeIdeasRequest& request,
                                                     const GatewayCall& call) override {
    v1::ProposeIdeasReply reply;
    v1::Call start;
    *start.mutable_propose() = request;
    absl::Status status = Ask(
        call, std::move(start),
        [&reply](v1::CallReply& said) {
          if (said.has_ideas()) reply = std::move(*said.mutable_ideas());
          return absl::OkStatus();
        },
        [&](grpc::ClientContext* context) { return FromGrpc(stub_->ProposeIdeas(context, request, &reply)); });
    if (!status.ok()) return status;
    return reply;
  }

  absl::Status ImplementIdea(const v1::ImplementIdeaRequest& request, const GatewayCall& call,
                             const std::function<absl::Status(const v1::Implementation&)>& each) override {
    v1::Call start;
    *start.mutable_implement() = request;
    return Ask(
        call, std::move(start),
        [&each](v1::CallReply& said) {
          return said.has_implementation() ? each(said.implementation()) : absl::OkStatus();
        },
        [&](grpc::ClientContext* context) {
          auto reader = stub_->ImplementIdea(context, request);
          absl::Status handled;
          v1::Implementation implementation;
          while (reader->Read(&implementation)) {
            handled = each(implementation);
            if (!handled.ok()) {
              context->TryCancel();
              break;
            }
          }
          const absl::Status finished = FromGrpc(reader->Finish());
          return handled.ok() ? finished : handled;
        });
  }

  absl::StatusOr<v1::Implementation> Repair(const v1::RepairRequest& request, const GatewayCall& call) override {
    v1::Implementation reply;
    v1::Call start;
    *start.mutable_repair() = request;
    absl::Status status = Ask(
        call, std::move(start),
        [&reply](v1::CallReply& said) {
          if (said.has_implementation()) reply = std::move(*said.mutable_implementation());
          return absl::OkStatus();
        },
        [&](grpc::ClientContext* context) { return FromGrpc(stub_->Repair(context, request, &reply)); });
    if (!status.ok()) return status;
    return reply;
  }

  absl::StatusOr<v1::ListModelsReply> ListModels(double seconds) override {
    v1::ListModelsReply reply;
    absl::Status status = Run({-1, seconds, nullptr}, [&](grpc::ClientContext* context) {
      return FromGrpc(stub_->ListModels(context, v1::ListModelsRequest(), &reply));
    });
    if (!status.ok()) return status;
    return reply;
  }

  void Cancel(int64_t task_id) override {
    std::lock_guard lock(mutex_);
    if (task_id == 0) closed_ = true;
    for (auto& [id, cancel] : calls_) {
      if (task_id == 0 || id == task_id) cancel();
    }
  }

 private:
  // Over the conversation; in the way of `plain` where the gateway knows none.
  template <typename Plain>
  absl::Status Ask(const GatewayCall& call, v1::Call start, const std::function<absl::Status(v1::CallReply&)>& each,
                   const Plain& plain) {
    if (conversation_.supported()) {
      const auto queue = std::make_shared<ReplyQueue>();
      const absl::Status status = Reach(
          call, [queue] { queue->Cancel(); }, [&] { return Talk(queue, call, std::move(start), each); });
      if (!absl::IsUnimplemented(status) || conversation_.supported()) return status;
    }
    return Run(call, plain);
  }

  absl::Status Talk(const std::shared_ptr<ReplyQueue>& queue, const GatewayCall& call, v1::Call start,
                    const std::function<absl::Status(v1::CallReply&)>& each) {
    const auto until = std::chrono::steady_clock::now() + Milliseconds(call.seconds);
    const uint64_t id = conversation_.Start(std::move(start), [queue](v1::CallReply& reply) { queue->Put(reply); });
    while (std::optional<v1::CallReply> reply = queue->Take(until)) {
      if (absl::Status handled = each(*reply); !handled.ok()) {
        conversation_.Cancel(id);
        return handled;
      }
      if (reply->ended()) {
        return FromGrpc(grpc::Status(static_cast<grpc::StatusCode>(reply->code()), reply->message()));
      }
    }
    conversation_.Cancel(id);
    return queue->cancelled() ? Cancelled("the call was cancelled")
                              : DeadlineExceeded("the gateway gave no answer in time");
  }

  template <typename Body>
  absl::Status Run(const GatewayCall& call, const Body& body) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + Milliseconds(call.seconds));
    return Reach(
        call, [&context] { context.TryCancel(); }, [&] { return body(&context); });
  }

  // Does `body` where there is a gateway; Cancel finds it by its task meanwhile.
  template <typename Body>
  absl::Status Reach(const GatewayCall& call, std::function<void()> cancel, const Body& body) {
    std::multimap<int64_t, std::function<void()>>::iterator place;
    {
      std::lock_guard lock(mutex_);
      if (closed_) return Cancelled("the coordinator is shutting down");
      place = calls_.emplace(call.task_id, std::move(cancel));
    }
    absl::Status status;
    if (call.sent != nullptr && !Connected(call.seconds)) {
      status = Unavailable("no connection");
    } else {
      if (call.sent != nullptr) *call.sent = true;
      status = body();
    }
    {
      std::lock_guard lock(mutex_);
      calls_.erase(place);
    }
    // A question of seconds that gets no answer is a gateway that is not there; a model's own deadline is not.
    if (absl::IsUnavailable(status) || (call.task_id < 0 && absl::IsDeadlineExceeded(status))) {
      return Unavailable(
          fmt::format("the gateway at {} cannot be reached: {}. Start warpsmith-gateway there, or give the coordinator "
                      "the right --gateway address.",
                      address_, Message(ExplainUnavailable(address_, Unavailable(Message(status)), security_))));
    }
    return status;
  }

  // Whether there is a connection, after a moment's patience where one is being made.
  bool Connected(double seconds) const {
    const auto until = std::chrono::system_clock::now() + Milliseconds(std::min(seconds, kConnectSeconds));
    grpc_connectivity_state state = channel_->GetState(true);
    while (state == GRPC_CHANNEL_IDLE || state == GRPC_CHANNEL_CONNECTING) {
      if (!channel_->WaitForStateChange(state, until)) return false;
      state = channel_->GetState(true);
    }
    return state == GRPC_CHANNEL_READY;
  }

  const std::string address_;
  const SecuritySettings security_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::GatewayService::Stub> stub_;
  std::mutex mutex_;
  std::multimap<int64_t, std::function<void()>> calls_;  // by task, how each is cancelled; guarded by mutex_
  bool closed_ = false;                                  // guarded by mutex_
  GatewayConversation conversation_{*stub_};             // last, so that it ends first
};

}  // namespace

std::unique_ptr<GatewayClient> ConnectToGateway(const std::string& address, const SecuritySettings& security) {
  return std::make_unique<GrpcGatewayClient>(address, security);
}

}  // namespace warpsmith::engine
