#include "cli/report/report_client.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "cli/operator_client.h"
#include "cli/service_call.h"
#include "common/grpc_channel.h"
#include "warpsmith/v1/report.grpc.pb.h"

namespace warpsmith::cli::report {
namespace {

constexpr std::chrono::seconds kReportDeadline{300};
constexpr std::chrono::milliseconds kReportTick{100};

}  // namespace

struct ReportClient::Stub {
  std::unique_ptr<v1::ReportService::Stub> service;
};

ReportClient::ReportClient(std::string address) : address_(std::move(address)), stub_(std::make_unique<Stub>()) {
  stub_->service = v1::ReportService::NewStub(ConnectTo(address_));
}

ReportClient::~ReportClient() = default;

absl::StatusOr<v1::SearchReport> ReportClient::Get(const std::string& search_id, bool brief,
                                                   const std::function<absl::Status()>& poll) {
  v1::GetSearchReportRequest request;
  request.set_search_id(search_id);
  request.set_brief(brief);
  ServiceStream<v1::SearchReport> stream([&](grpc::ClientContext* context) {
    context->set_deadline(std::chrono::system_clock::now() + kReportDeadline);
    return stub_->service->GetSearchReport(context, request);
  });
  v1::SearchReport report;
  std::optional<absl::Status> end;
  while (!(end = stream.end())) {
    WARPSMITH_RETURN_IF_ERROR(poll());
    if (const std::optional<v1::SearchReport> part = stream.Next(kReportTick)) report.MergeFrom(*part);
  }
  if (end->ok()) return report;
  if (end->code() == absl::StatusCode::kUnimplemented) {
    return FailedPrecondition(fmt::format("the coordinator at {} is older than this command; upgrade it", address_));
  }
  return ExplainCoordinator(address_, *end);
}

}  // namespace warpsmith::cli::report
