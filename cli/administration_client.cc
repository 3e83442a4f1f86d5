#include "cli/administration_client.h"

#include <fmt/format.h>

#include "cli/operator_client.h"
#include "cli/service_call.h"
#include "common/grpc_channel.h"
#include "warpsmith/v1/administration.grpc.pb.h"

namespace warpsmith::cli {
namespace {

constexpr std::chrono::seconds kAdministrationDeadline{30};

}  // namespace

struct AdministrationClient::Stub {
  std::unique_ptr<v1::AdministrationService::Stub> service;
};

AdministrationClient::AdministrationClient(std::string address)
    : address_(std::move(address)), stub_(std::make_unique<Stub>()) {
  stub_->service = v1::AdministrationService::NewStub(ConnectTo(address_));
}

AdministrationClient::~AdministrationClient() = default;

template <typename Reply, typename Request, typename Method>
absl::StatusOr<Reply> AdministrationClient::Call(Method method, const Request& request) {
  absl::StatusOr<Reply> reply = CallService<Reply>(kAdministrationDeadline, *stub_->service, method, request);
  if (reply.ok()) return reply;
  if (reply.status().code() == absl::StatusCode::kUnimplemented) {
    return FailedPrecondition(fmt::format("the coordinator at {} is older than this command; upgrade it", address_));
  }
  return ExplainCoordinator(address_, reply.status());
}

absl::StatusOr<v1::ListQuarantinedReply> AdministrationClient::ListQuarantined(
    const v1::ListQuarantinedRequest& request) {
  return Call<v1::ListQuarantinedReply>(&v1::AdministrationService::Stub::ListQuarantined, request);
}

absl::StatusOr<v1::RetryQuarantinedReply> AdministrationClient::RetryQuarantined(
    const v1::RetryQuarantinedRequest& request) {
  return Call<v1::RetryQuarantinedReply>(&v1::AdministrationService::Stub::RetryQuarantined, request);
}

absl::StatusOr<v1::DrainWorkerReply> AdministrationClient::DrainWorker(const std::string& worker_id) {
  v1::DrainWorkerRequest request;
  request.set_worker_id(worker_id);
  return Call<v1::DrainWorkerReply>(&v1::AdministrationService::Stub::DrainWorker, request);
}

absl::StatusOr<v1::DrainWorkerReply> AdministrationClient::UndrainWorker(const std::string& worker_id) {
  v1::DrainWorkerRequest request;
  request.set_worker_id(worker_id);
  return Call<v1::DrainWorkerReply>(&v1::AdministrationService::Stub::UndrainWorker, request);
}

absl::StatusOr<v1::DatabaseHealth> AdministrationClient::GetDatabaseHealth() {
  return Call<v1::DatabaseHealth>(&v1::AdministrationService::Stub::GetDatabaseHealth, v1::GetDatabaseHealthRequest());
}

}  // namespace warpsmith::cli
