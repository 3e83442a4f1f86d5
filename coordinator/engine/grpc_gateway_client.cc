#include "coordinator/engine/grpc_gateway_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>

#include "common/grpc_channel.h"
#include "common/grpc_status.h"
#include "warpsmith/v1/gateway.grpc.pb.h"

namespace warpsmith::engine {
namespace {

constexpr double kConnectSeconds = 3;

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
    absl::Status status = Run(
        call, [&](grpc::ClientContext* context) { return FromGrpc(stub_->ProposeIdeas(context, request, &reply)); });
    if (!status.ok()) return status;
    return reply;
  }

  absl::Status ImplementIdea(const v1::ImplementIdeaRequest& request, const GatewayCall& call,
                             const std::function<absl::Status(const v1::Implementation&)>& each) override {
    return Run(call, [&](grpc::ClientContext* context) {
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
    absl::Status status =
        Run(call, [&](grpc::ClientContext* context) { return FromGrpc(stub_->Repair(context, request, &reply)); });
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
    for (auto& [id, context] : calls_) {
      if (task_id == 0 || id == task_id) context->TryCancel();
    }
  }

 private:
  template <typename Body>
  absl::Status Run(const GatewayCall& call, const Body& body) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::milliseconds(static_cast<int64_t>(call.seconds * 1000)));
    std::multimap<int64_t, grpc::ClientContext*>::iterator place;
    {
      std::lock_guard lock(mutex_);
      if (closed_) return Cancelled("the coordinator is shutting down");
      place = calls_.emplace(call.task_id, &context);
    }
    absl::Status status;
    if (call.sent != nullptr && !Connected(call.seconds)) {
      status = Unavailable("no connection");
    } else {
      if (call.sent != nullptr) *call.sent = true;
      status = body(&context);
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
    const auto until = std::chrono::system_clock::now() +
                       std::chrono::milliseconds(static_cast<int64_t>(std::min(seconds, kConnectSeconds) * 1000));
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
  std::multimap<int64_t, grpc::ClientContext*> calls_;  // guarded by mutex_
  bool closed_ = false;                                 // guarded by mutex_
};

}  // namespace

std::unique_ptr<GatewayClient> ConnectToGateway(const std::string& address, const SecuritySettings& security) {
  return std::make_unique<GrpcGatewayClient>(address, security);
}

}  // namespace warpsmith::engine
