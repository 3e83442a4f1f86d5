#include "coordinator/api/bank_service.h"

#include <fmt/format.h>

#include <atomic>

#include "common/grpc_status.h"
#include "coordinator/bank/archive.h"
#include "coordinator/bank/bank.h"
#include "coordinator/bank/import.h"
#include "coordinator/bank/verification.h"
#include "coordinator/store/text.h"
#include "warpsmith/v1/bank.grpc.pb.h"

namespace warpsmith::api {
namespace {

constexpr int kBankDefaultLimit = 50;
constexpr int kBankLargestLimit = 10000;
constexpr int kMostKernelIds = 1000;
constexpr size_t kExportPiece = 512u << 10;

absl::StatusOr<int> BankLimit(const char* field, int limit) {
  if (limit < 0 || limit > kBankLargestLimit) {
    return InvalidArgument(
        fmt::format("{} must lie between 0 (default, {}) and {}", field, kBankDefaultLimit, kBankLargestLimit));
  }
  return limit == 0 ? kBankDefaultLimit : limit;
}

absl::Status CheckBankLine(const char* field, const std::string& value) {
  if (value.size() <= 200 && store::CleanLine(value, 200) == value) return absl::OkStatus();
  return InvalidArgument(fmt::format("{} must be one line of at most 200 printable characters", field));
}

// Checked, and its ids whole.
absl::StatusOr<v1::KernelFilter> ResolveFilter(store::Transaction& transaction, const v1::KernelFilter& given,
                                               bool pending_too) {
  WARPSMITH_RETURN_IF_ERROR(CheckBankLine("filter.operator_family", given.operator_family()));
  WARPSMITH_RETURN_IF_ERROR(CheckBankLine("filter.problem", given.problem()));
  WARPSMITH_RETURN_IF_ERROR(CheckBankLine("filter.device_class", given.device_class()));
  WARPSMITH_RETURN_IF_ERROR(CheckBankLine("filter.older_than_harness", given.older_than_harness()));
  if (given.kernel_ids_size() > kMostKernelIds) {
    return InvalidArgument(fmt::format("filter.kernel_ids has more than {} ids; give fewer", kMostKernelIds));
  }
  v1::KernelFilter filter = given;
  filter.clear_kernel_ids();
  for (const std::string& id : given.kernel_ids()) {
    WARPSMITH_ASSIGN_OR_RETURN(*filter.add_kernel_ids(), bank::ResolveKernel(transaction, id, pending_too));
  }
  // Whoever names what waits means it.
  if (pending_too && given.kernel_ids_size() > 0) filter.set_pending(true);
  return filter;
}

class BankServiceImpl final : public v1::BankService::Service {
 public:
  explicit BankServiceImpl(const BankContext& context) : context_(context) {}

  grpc::Status GetKernel(grpc::ServerContext*, const v1::GetKernelRequest* request, v1::KernelDetail* reply) override {
    return ToGrpc(context_.database.Read([&](store::Transaction& transaction) -> absl::Status {
      WARPSMITH_ASSIGN_OR_RETURN(const std::string id,
                                 bank::ResolveKernel(transaction, request->kernel_id(), /*pending_too=*/false));
      WARPSMITH_ASSIGN_OR_RETURN(*reply, bank::Show(transaction, id));
      return absl::OkStatus();
    }));
  }

  grpc::Status ExportKernels(grpc::ServerContext* context, const v1::ExportKernelsRequest* request,
                             grpc::ServerWriter<v1::ArchiveChunk>* writer) override {
    std::vector<std::string> ids;
    absl::Status selected = context_.database.Read([&](store::Transaction& transaction) -> absl::Status {
      WARPSMITH_ASSIGN_OR_RETURN(const v1::KernelFilter filter,
                                 ResolveFilter(transaction, request->filter(), /*pending_too=*/false));
      WARPSMITH_ASSIGN_OR_RETURN(ids, bank::Select(transaction, filter));
      return absl::OkStatus();
    });
    if (!selected.ok()) return ToGrpc(selected);
    // A transaction a kernel: a slow reader holds no transaction open.
    bank::ArchiveWriter archive;
    std::string data = archive.Header(context_.clock.WallMicros());
    for (const std::string& id : ids) {
      if (context->IsCancelled()) return grpc::Status::CANCELLED;
      v1::KernelDetail detail;
      absl::Status shown = context_.database.Read([&](store::Transaction& transaction) -> absl::Status {
        WARPSMITH_ASSIGN_OR_RETURN(detail, bank::Show(transaction, id));
        return absl::OkStatus();
      });
      if (!shown.ok()) return ToGrpc(shown);
      data += archive.Kernel(bank::Archive(detail));
      if (!Send(writer, &data, /*all=*/false)) return grpc::Status::CANCELLED;
    }
    data += archive.End();
    return Send(writer, &data, /*all=*/true) ? grpc::Status::OK : grpc::Status::CANCELLED;
  }

  grpc::Status ImportKernels(grpc::ServerContext*, grpc::ServerReader<v1::ImportChunk>* reader,
                             v1::ImportKernelsReply* reply) override {
    // An archive is held in memory until its end is seen.
    if (importing_.exchange(true)) {
      return {grpc::StatusCode::RESOURCE_EXHAUSTED, "another archive is being imported; try again when it is done"};
    }
    auto imported = TakeArchive(reader);
    importing_ = false;
    if (!imported.ok()) return ToGrpc(imported.status());
    *reply = *std::move(imported);
    Wake(reply->search_ids());
    return grpc::Status::OK;
  }

  grpc::Status VerifyKernels(grpc::ServerContext*, const v1::VerifyKernelsRequest* request,
                             v1::VerifyKernelsReply* reply) override {
    if (absl::Status status = CheckBankLine("submitted_by", request->submitted_by()); !status.ok()) {
      return ToGrpc(status);
    }
    absl::Status status = context_.database.Write([&](store::Transaction& transaction) -> absl::Status {
      WARPSMITH_ASSIGN_OR_RETURN(const v1::KernelFilter filter,
                                 ResolveFilter(transaction, request->filter(), /*pending_too=*/true));
      WARPSMITH_ASSIGN_OR_RETURN(
          *reply, bank::QueueVerifications(transaction, context_.queue, filter,
                                           {request->submitted_by(), context_.settings.intake_deadline_seconds}));
      return absl::OkStatus();
    });
    if (!status.ok()) return ToGrpc(status);
    Wake(reply->search_ids());
    return grpc::Status::OK;
  }

  grpc::Status ListVerifications(grpc::ServerContext*, const v1::ListVerificationsRequest* request,
                                 v1::ListVerificationsReply* reply) override {
    return ToGrpc(context_.database.Read([&](store::Transaction& transaction) -> absl::Status {
      reply->Clear();
      WARPSMITH_ASSIGN_OR_RETURN(const int limit, BankLimit("ListVerificationsRequest.limit", request->limit()));
      if (request->search_ids_size() > kMostKernelIds) {
        return InvalidArgument(
            fmt::format("ListVerificationsRequest.search_ids has more than {} ids; give fewer", kMostKernelIds));
      }
      std::vector<std::string> ids;
      for (const std::string& id : request->search_ids()) ids.push_back(store::CleanLine(id, 64));
      WARPSMITH_ASSIGN_OR_RETURN(const std::vector<v1::Verification> verifications,
                                 bank::ListVerifications(transaction, ids, limit));
      for (const v1::Verification& one : verifications) *reply->add_verifications() = one;
      return absl::OkStatus();
    }));
  }

  grpc::Status ListPending(grpc::ServerContext*, const v1::ListPendingRequest* request,
                           v1::ListPendingReply* reply) override {
    return ToGrpc(context_.database.Read([&](store::Transaction& transaction) -> absl::Status {
      reply->Clear();
      WARPSMITH_ASSIGN_OR_RETURN(const int limit, BankLimit("ListPendingRequest.limit", request->limit()));
      WARPSMITH_ASSIGN_OR_RETURN(const std::vector<v1::PendingKernel> kernels, bank::ListPending(transaction, limit));
      for (const v1::PendingKernel& kernel : kernels) *reply->add_kernels() = kernel;
      return absl::OkStatus();
    }));
  }

 private:
  // Writes what there is in pieces; what is less than one stays unless it is the last.
  static bool Send(grpc::ServerWriter<v1::ArchiveChunk>* writer, std::string* data, bool all) {
    size_t at = 0;
    while (data->size() - at >= kExportPiece || (all && at < data->size())) {
      v1::ArchiveChunk chunk;
      chunk.set_data(data->substr(at, kExportPiece));
      at += chunk.data().size();
      if (!writer->Write(chunk)) return false;
    }
    data->erase(0, at);
    return true;
  }

  absl::StatusOr<v1::ImportKernelsReply> TakeArchive(grpc::ServerReader<v1::ImportChunk>* reader) {
    bank::ArchiveReader archive;
    bank::ImportOrder order;
    order.verification.intake_deadline_seconds = context_.settings.intake_deadline_seconds;
    order.now_us = context_.clock.WallMicros();
    bool first = true;
    v1::ImportChunk chunk;
    while (reader->Read(&chunk)) {
      if (first) {
        order.device_class = chunk.device_class();
        order.verification.submitted_by = chunk.submitted_by();
        WARPSMITH_RETURN_IF_ERROR(CheckBankLine("ImportChunk.device_class", order.device_class));
        WARPSMITH_RETURN_IF_ERROR(CheckBankLine("ImportChunk.submitted_by", order.verification.submitted_by));
      }
      first = false;
      WARPSMITH_RETURN_IF_ERROR(archive.Take(chunk.data()));
    }
    WARPSMITH_ASSIGN_OR_RETURN(const std::vector<v1::ArchivedKernel> kernels, archive.Finish());
    return bank::Import(context_.database, context_.queue, kernels, order);
  }

  template <typename Ids>
  void Wake(const Ids& search_ids) {
    context_.signals.TasksAdded();
    for (const std::string& id : search_ids) context_.signals.SearchChanged(id);
  }

  const BankContext context_;
  std::atomic<bool> importing_{false};
};

}  // namespace

std::unique_ptr<grpc::Service> MakeBankService(const BankContext& context) {
  return std::make_unique<BankServiceImpl>(context);
}

}  // namespace warpsmith::api
