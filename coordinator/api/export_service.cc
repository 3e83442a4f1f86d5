#include "coordinator/api/export_service.h"

#include <algorithm>

#include "common/grpc_status.h"
#include "common/hash.h"
#include "coordinator/api/export_view.h"
#include "coordinator/bank/archive.h"
#include "coordinator/bank/archive_check.h"
#include "coordinator/bank/import.h"
#include "coordinator/store/text.h"
#include "warpsmith/v1/export.grpc.pb.h"

namespace warpsmith::api {
namespace {

constexpr size_t kExportedPiece = 512u << 10;
constexpr size_t kImportedLine = 200;

class ExportServiceImpl final : public v1::ExportService::Service {
 public:
  ExportServiceImpl(store::Database& database, Clock& clock) : database_(database), clock_(clock) {}

  grpc::Status ListProblems(grpc::ServerContext* context, const v1::ExportSelection* request,
                            grpc::ServerWriter<v1::ExportedProblem>* writer) override {
    return ToGrpc(EachProblem(context, *request, [&](const v1::ExportedProblem& problem) -> absl::Status {
      return writer->Write(problem) ? absl::OkStatus() : Cancelled("the reader went away");
    }));
  }

  grpc::Status ListCandidates(grpc::ServerContext* context, const v1::ExportSelection* request,
                              grpc::ServerWriter<v1::ExportRow>* writer) override {
    return ToGrpc(WriteCandidates(context, *request, writer));
  }

  grpc::Status ExportBest(grpc::ServerContext* context, const v1::ExportSelection* request,
                          grpc::ServerWriter<v1::ArchiveChunk>* writer) override {
    bank::ArchiveWriter archive;
    std::string data = archive.Header(clock_.WallMicros());
    absl::Status status = EachProblem(context, *request, [&](const v1::ExportedProblem& problem) -> absl::Status {
      // The archive's reader refuses what the bank never takes, and all that stands beside it.
      if (!problem.has_kernel() || !bank::CheckKernel(problem.kernel()).ok()) return absl::OkStatus();
      data += archive.Kernel(problem.kernel());
      return Send(writer, &data, /*all=*/false);
    });
    if (!status.ok()) return ToGrpc(status);
    data += archive.End();
    return ToGrpc(Send(writer, &data, /*all=*/true));
  }

 private:
  static absl::Status Send(grpc::ServerWriter<v1::ArchiveChunk>* writer, std::string* data, bool all) {
    size_t at = 0;
    while (data->size() - at >= kExportedPiece || (all && at < data->size())) {
      v1::ArchiveChunk chunk;
      chunk.set_data(data->substr(at, kExportedPiece));
      at += chunk.data().size();
      if (!writer->Write(chunk)) return Cancelled("the reader went away");
    }
    data->erase(0, at);
    return absl::OkStatus();
  }

  absl::StatusOr<Selected> Resolve(const v1::ExportSelection& request) {
    Selected selected;
    WARPSMITH_RETURN_IF_ERROR(database_.Read([&](store::Transaction& transaction) -> absl::Status {
      WARPSMITH_ASSIGN_OR_RETURN(selected, Select(transaction, request));
      return absl::OkStatus();
    }));
    return selected;
  }

  // A transaction a problem: a slow reader holds none open.
  absl::Status EachProblem(grpc::ServerContext* context, const v1::ExportSelection& request,
                           const std::function<absl::Status(const v1::ExportedProblem&)>& take) {
    WARPSMITH_ASSIGN_OR_RETURN(const Selected selected, Resolve(request));
    const bool searches = !selected.search_ids.empty();
    for (const std::string& id : searches ? selected.search_ids : selected.kernel_ids) {
      if (context->IsCancelled()) return Cancelled("the reader went away");
      v1::ExportedProblem problem;
      WARPSMITH_RETURN_IF_ERROR(database_.Read([&](store::Transaction& transaction) -> absl::Status {
        auto viewed =
            searches ? ViewExportedProblem(transaction, id, clock_.WallMicros()) : ViewExportedKernel(transaction, id);
        if (!viewed.ok()) return viewed.status();
        problem = *std::move(viewed);
        return absl::OkStatus();
      }));
      WARPSMITH_RETURN_IF_ERROR(take(problem));
    }
    return absl::OkStatus();
  }

  absl::Status WriteCandidates(grpc::ServerContext* context, const v1::ExportSelection& request,
                               grpc::ServerWriter<v1::ExportRow>* writer) {
    WARPSMITH_ASSIGN_OR_RETURN(const Selected selected, Resolve(request));
    if (!selected.kernel_ids.empty() || request.what() == "bank") {
      return InvalidArgument(
          "what: the bank holds single kernels, without those that they were chosen among; name a search or a batch");
    }
    for (const std::string& search_id : selected.search_ids) {
      v1::ExportRow row;
      std::vector<std::string> candidates;
      WARPSMITH_RETURN_IF_ERROR(database_.Read([&](store::Transaction& transaction) -> absl::Status {
        WARPSMITH_ASSIGN_OR_RETURN(*row.mutable_search(), ViewExportedSearch(transaction, search_id));
        WARPSMITH_ASSIGN_OR_RETURN(candidates, ExportedCandidates(transaction, search_id));
        return absl::OkStatus();
      }));
      if (!writer->Write(row)) return Cancelled("the reader went away");
      for (const std::string& id : candidates) {
        if (context->IsCancelled()) return Cancelled("the reader went away");
        WARPSMITH_RETURN_IF_ERROR(database_.Read([&](store::Transaction& transaction) -> absl::Status {
          WARPSMITH_ASSIGN_OR_RETURN(*row.mutable_candidate(), ViewExportedCandidate(transaction, id));
          return absl::OkStatus();
        }));
        if (!writer->Write(row)) return Cancelled("the reader went away");
      }
    }
    return absl::OkStatus();
  }

  store::Database& database_;
  Clock& clock_;
};

class ImportServiceImpl final : public v1::ImportService::Service {
 public:
  explicit ImportServiceImpl(const BankContext& context) : context_(context) {}

  grpc::Status ImportKernel(grpc::ServerContext*, const v1::ImportKernelRequest* request,
                            v1::ImportKernelsReply* reply) override {
    auto imported = Take(*request);
    if (!imported.ok()) return ToGrpc(imported.status());
    *reply = *std::move(imported);
    context_.signals.TasksAdded();
    for (const std::string& id : reply->search_ids()) context_.signals.SearchChanged(id);
    return grpc::Status::OK;
  }

 private:
  absl::StatusOr<v1::ImportKernelsReply> Take(const v1::ImportKernelRequest& request) {
    v1::ArchivedKernel kernel;
    kernel.mutable_problem()->set_name(request.problem().name());
    kernel.mutable_problem()->set_source(request.problem().source());
    kernel.mutable_problem()->set_id(bank::ProblemId(request.problem().source(), request.intake()));
    kernel.set_problem_sha256(Sha256Hex(request.problem().source()));
    *kernel.mutable_intake() = request.intake();
    kernel.set_source(request.source());
    kernel.set_source_sha256(Sha256Hex(request.source()));
    kernel.set_device_class(request.device_class());
    *kernel.mutable_accepted() = request.accepted();
    if (kernel.accepted().empty()) kernel.add_accepted(v1::PRECISION_CLASS_FP32);
    kernel.set_frozen_weights(request.frozen_weights());
    kernel.set_title(request.title());
    // Where an operator brought it from: the file itself.
    v1::KernelProvenance* provenance = kernel.add_provenance();
    provenance->set_search_id("file");
    provenance->set_candidate_id(kernel.source_sha256());
    provenance->set_submitted_by(store::CleanLine(request.submitted_by(), kImportedLine));
    WARPSMITH_RETURN_IF_ERROR(bank::CheckKernel(kernel));
    bank::ImportOrder order;
    order.now_us = context_.clock.WallMicros();
    order.device_class = request.device_class();
    order.verification.submitted_by = provenance->submitted_by();
    order.verification.intake_deadline_seconds = context_.settings.intake_deadline_seconds;
    return bank::Import(context_.database, context_.queue, {kernel}, order);
  }

  const BankContext context_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeExportService(store::Database& database, Clock& clock) {
  return std::make_unique<ExportServiceImpl>(database, clock);
}

std::unique_ptr<grpc::Service> MakeImportService(const BankContext& context) {
  return std::make_unique<ImportServiceImpl>(context);
}

}  // namespace warpsmith::api
