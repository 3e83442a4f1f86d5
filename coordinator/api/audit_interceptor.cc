#include "coordinator/api/audit_interceptor.h"

#include <google/protobuf/message.h>
#include <grpcpp/server_context.h>
#include <spdlog/spdlog.h>

#include "common/grpc_access.h"

namespace warpsmith::api {
namespace {

using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::InterceptorBatchMethods;
using grpc::experimental::ServerRpcInfo;

// gRPC runs its hooks and a sync handler on one thread: those of the request before the handler, that of the status
// after.
class AuditInterceptor final : public grpc::experimental::Interceptor {
 public:
  AuditInterceptor(AuditDatabase& database, const AccessControl* access, ServerRpcInfo& call)
      : database_(database), access_(access), call_(call) {}

  void Intercept(InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_INITIAL_METADATA)) Begin();
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_MESSAGE) && act_ &&
        act_->detail.empty()) {
      // Generated services hand the request as MessageLite.
      auto* lite = static_cast<google::protobuf::MessageLite*>(methods->GetRecvMessage());
      if (auto* request = dynamic_cast<google::protobuf::Message*>(lite)) {
        if (access_ != nullptr) SetSubmitter(act_->actor, request);
        act_->detail = DetailOf(*request);
      }
    }
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_STATUS)) {
      SetCurrentAct(nullptr);
      if (act_ && !act_->recorded && methods->GetSendStatus().ok()) {
        absl::Status status = database_.Record(*act_);
        if (!status.ok()) {
          spdlog::error("{} by {} cannot be written into the audit: {}", act_->action, act_->actor, Message(status));
        }
      }
      act_.reset();
    }
    methods->Proceed();
  }

 private:
  void Begin() {
    const Actor actor = ActorOf(*call_.server_context(), access_);
    act_ = std::make_shared<Act>();
    act_->actor = actor.name;
    act_->role = actor.role;
    act_->peer = actor.peer;
    act_->action = ActionOf(call_.method());
    SetCurrentAct(act_);
  }

  AuditDatabase& database_;
  const AccessControl* const access_;
  ServerRpcInfo& call_;
  std::shared_ptr<Act> act_;
};

class AuditFactory final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  AuditFactory(AuditDatabase& database, std::shared_ptr<const AccessControl> access)
      : database_(database), access_(std::move(access)) {}

  grpc::experimental::Interceptor* CreateServerInterceptor(ServerRpcInfo* call) override {
    const std::string_view path = call->method() != nullptr ? call->method() : "";
    if (IsReadOnly(path) || path.rfind("/warpsmith.", 0) != 0 || path.rfind("/warpsmith.v1.WorkerService/", 0) == 0 ||
        path.rfind("/warpsmith.v1.RateSharingService/", 0) == 0) {
      return nullptr;
    }
    return new AuditInterceptor(database_, access_.get(), *call);
  }

 private:
  AuditDatabase& database_;
  const std::shared_ptr<const AccessControl> access_;
};

}  // namespace

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> MakeAuditInterceptors(
    AuditDatabase& database, std::shared_ptr<const AccessControl> access) {
  return std::make_unique<AuditFactory>(database, std::move(access));
}

}  // namespace warpsmith::api
