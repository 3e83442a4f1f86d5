#include "coordinator/api/report_service.h"

#include <utility>

#include "common/grpc_status.h"
#include "coordinator/api/report_parts.h"
#include "coordinator/api/search_view.h"
#include "coordinator/store/text.h"
#include "warpsmith/v1/report.grpc.pb.h"

namespace warpsmith::api {
namespace {

constexpr size_t kPartBytes = 1u << 20;
constexpr size_t kMessageBytes = 2000;

// A list shows what became of a candidate, not how it was found out.
void KeepWhatListsShow(v1::Candidate* candidate) {
  v1::Evaluation* evaluation = candidate->mutable_evaluation();
  evaluation->clear_trials();
  evaluation->clear_compile();
  evaluation->clear_stage_seconds();
  if (evaluation->message().size() > kMessageBytes) {
    evaluation->set_message(store::CleanText(evaluation->message(), kMessageBytes));
  }
}

absl::Status AddCalls(store::Transaction& transaction, const std::string& search_id, v1::SearchReport* report) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("report_calls", {search_id}));
  for (const store::Row row : rows) {
    v1::CallTotals* calls = report->add_calls();
    calls->set_kind(row.Text("kind"));
    calls->set_model(row.Text("model"));
    calls->set_calls(static_cast<int>(row.Int("calls")));
    calls->set_failed(static_cast<int>(row.Int("failed")));
    calls->set_input_tokens(row.Int("input_tokens"));
    calls->set_output_tokens(row.Int("output_tokens"));
    calls->set_usd(row.Double("usd"));
    calls->set_seconds(row.Double("seconds"));
  }
  return absl::OkStatus();
}

class ReportServiceImpl final : public v1::ReportService::Service {
 public:
  explicit ReportServiceImpl(store::Database& database) : database_(database) {}

  grpc::Status GetSearchReport(grpc::ServerContext* context, const v1::GetSearchReportRequest* request,
                               grpc::ServerWriter<v1::SearchReport>* writer) override {
    v1::SearchReport report;
    const absl::Status read = database_.Read([&](store::Transaction& transaction) -> absl::Status {
      WARPSMITH_RETURN_IF_ERROR(transaction.Execute("report_snapshot", {}).status());
      WARPSMITH_ASSIGN_OR_RETURN(const std::string id, ResolveSearch(transaction, request->search_id()));
      WARPSMITH_ASSIGN_OR_RETURN(report, ReadSearchReport(transaction, id, request->brief()));
      return absl::OkStatus();
    });
    if (!read.ok()) return ToGrpc(read);
    SendInParts(std::move(report), kPartBytes,
                [&](const v1::SearchReport& part) { return !context->IsCancelled() && writer->Write(part); });
    return grpc::Status::OK;
  }

 private:
  store::Database& database_;
};

}  // namespace

absl::StatusOr<v1::SearchReport> ReadSearchReport(store::Transaction& transaction, const std::string& search_id,
                                                  bool brief) {
  v1::SearchReport report;
  WARPSMITH_ASSIGN_OR_RETURN(*report.mutable_search(), ViewSearch(transaction, search_id, true));
  WARPSMITH_ASSIGN_OR_RETURN(v1::Tree tree, ViewTree(transaction, search_id));
  for (v1::IdeaNode& node : *tree.mutable_ideas()) {
    for (v1::Candidate& candidate : *node.mutable_candidates()) KeepWhatListsShow(&candidate);
    *report.add_ideas() = std::move(node);
  }
  *report.mutable_best_lineage() = tree.best_lineage();
  for (int i = 0; i < tree.best_lineage_size(); ++i) {
    if (brief && i + 1 < tree.best_lineage_size()) continue;
    WARPSMITH_ASSIGN_OR_RETURN(*report.add_kernels(), ViewCandidate(transaction, tree.best_lineage(i)));
  }
  WARPSMITH_RETURN_IF_ERROR(AddCalls(transaction, search_id, &report));
  return report;
}

std::unique_ptr<grpc::Service> MakeReportService(store::Database& database) {
  return std::make_unique<ReportServiceImpl>(database);
}

}  // namespace warpsmith::api
