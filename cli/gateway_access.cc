#include "cli/gateway_access.h"

#include <fmt/format.h>

#include <filesystem>
#include <mutex>
#include <thread>

#include "cli/embedded/cluster.h"
#include "cli/embedded/data_directory.h"
#include "cli/interrupt.h"
#include "common/clock.h"
#include "common/grpc_channel.h"
#include "common/grpc_status.h"
#include "llm_gateway/http/curl_transport.h"
#include "llm_gateway/service/build_gateway.h"
#include "warpsmith/v1/gateway.grpc.pb.h"

namespace warpsmith::cli {
namespace {

constexpr Duration kPoll = std::chrono::milliseconds(50);
constexpr std::chrono::seconds kEstimateDeadline{30};
constexpr std::chrono::minutes kCheckDeadline{30};  // a model that thinks may take its time

// Ends what goes on when the operator interrupts.
class InterruptWatch {
 public:
  explicit InterruptWatch(std::function<void()> end)
      : thread_([end = std::move(end)](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            if (Interrupted()) return end();
            RealClock().SleepFor(kPoll);
          }
        }) {}

 private:
  std::jthread thread_;
};

class RunningGateway final : public GatewayAccess {
 public:
  explicit RunningGateway(const std::string& address)
      : address_(address), stub_(v1::GatewayService::NewStub(ConnectTo(address))) {}

  std::string where() const override { return "the gateway at " + address_; }

  absl::StatusOr<v1::EstimateReply> Estimate(const v1::EstimateRequest& request) override {
    grpc::ClientContext call;
    call.set_deadline(std::chrono::system_clock::now() + kEstimateDeadline);
    v1::EstimateReply reply;
    const grpc::Status status = stub_->Estimate(&call, request, &reply);
    if (!status.ok()) return Explained(status);
    return reply;
  }

  absl::Status Check(const v1::CheckModelsRequest& request,
                     const std::function<void(const v1::ModelCheck&)>& on_check) override {
    grpc::ClientContext call;
    call.set_deadline(std::chrono::system_clock::now() + kCheckDeadline);
    const InterruptWatch watch([&call] { call.TryCancel(); });
    auto reader = stub_->CheckModels(&call, request);
    v1::ModelCheck check;
    while (reader->Read(&check)) on_check(check);
    const grpc::Status status = reader->Finish();
    if (Interrupted()) return Cancelled("interrupted");
    return status.ok() ? absl::OkStatus() : Explained(status);
  }

 private:
  absl::Status Explained(const grpc::Status& status) const {
    if (status.error_code() != grpc::StatusCode::UNAVAILABLE) return FromGrpc(status);
    const absl::Status explained = ExplainUnavailable(address_, FromGrpc(status));
    if (Message(explained) != status.error_message()) return explained;
    return Unavailable(
        fmt::format("no gateway answers at {}: {}; start one with warpsmith-gateway, or name a "
                    "configuration with --config gateway.yaml",
                    address_, status.error_message()));
  }

  const std::string address_;
  std::unique_ptr<v1::GatewayService::Stub> stub_;
};

class OwnGateway final : public GatewayAccess {
 public:
  static absl::StatusOr<std::unique_ptr<GatewayAccess>> Open(const gateway::GatewayConfig& config, std::string where) {
    std::unique_ptr<OwnGateway> own(new OwnGateway(std::move(where)));
    WARPSMITH_ASSIGN_OR_RETURN(const gateway::GatewayFolders folders, gateway::GatewayFolders::Find());
    WARPSMITH_ASSIGN_OR_RETURN(own->parts_, gateway::BuildGateway(config, folders, own->transport_, RealClock()));
    return own;
  }

  std::string where() const override { return where_; }
  absl::StatusOr<v1::EstimateReply> Estimate(const v1::EstimateRequest& request) override {
    return parts_.estimator->Estimate(request);
  }
  absl::Status Check(const v1::CheckModelsRequest& request,
                     const std::function<void(const v1::ModelCheck&)>& on_check) override {
    gateway::Cancellation cancellation;
    const InterruptWatch watch([&cancellation] { cancellation.Cancel(); });
    const absl::Status status = parts_.checker->Check(
        request, [&](const v1::ModelCheck& check) { return on_check(check), true; }, cancellation);
    return Interrupted() ? Cancelled("interrupted") : status;
  }

 private:
  explicit OwnGateway(std::string where) : where_(std::move(where)) {}

  const std::string where_;
  gateway::CurlTransport transport_;
  gateway::GatewayParts parts_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<GatewayAccess>> OpenGateway(const Context& context, const GatewayChoice& choice) {
  if (!choice.address.empty()) return std::make_unique<RunningGateway>(choice.address);
  std::string config = choice.config;
  if (config.empty()) {
    WARPSMITH_ASSIGN_OR_RETURN(const std::filesystem::path path, DataDirectoryPath(context.data_directory));
    const DataDirectory directory(path);
    if (FindRunningCluster(directory)) return std::make_unique<RunningGateway>(directory.gateway_address());
    if (std::filesystem::exists(path / "gateway.yaml")) config = (path / "gateway.yaml").string();
  }
  if (config.empty()) {
    return OwnGateway::Open(gateway::DefaultConfig(), "no gateway.yaml: the catalog alone; name one with --config");
  }
  auto loaded = gateway::LoadConfig(config);
  // A wrong path is a wrong argument, whatever its reason.
  if (!loaded.ok()) return InvalidArgument(Message(loaded.status()));
  return OwnGateway::Open(*loaded, config);
}

}  // namespace warpsmith::cli
