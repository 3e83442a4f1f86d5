#include "cli/report/report_client.h"

#include <fmt/format.h>

#include <chrono>

#include "cli/operator_client.h"
#include "cli/service_call.h"
#include "common/grpc_channel.h"
#include "warpsmith/v1/report.grpc.pb.h"

namespace warpsmith::cli::report {
namespace {

constexpr std::chrono::seconds kReportDeadline{300};

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
  v1::SearchReport report;
  WARPSMITH_RETURN_IF_ERROR(ReadStream<v1::SearchReport>(
      {kReportDeadline, [&](grpc::ClientContext* context) { return stub_->service->GetSearchReport(context, request); },
       [&](const v1::SearchReport& part) {
         report.MergeFrom(part);
         return absl::OkStatus();
       },
       poll,
       [&](const absl::Status& error) {
         if (error.code() != absl::StatusCode::kUnimplemented) return ExplainCoordinator(address_, error);
         return FailedPrecondition(
             fmt::format("the coordinator at {} is older than this command; upgrade it", address_));
       }}));
  return report;
}

}  // namespace warpsmith::cli::report
