#include "coordinator/bank/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/hash.h"
#include "coordinator/store/blob_store.h"
#include "coordinator/store/source_identity.h"
#include "coordinator/store/text.h"

namespace warpsmith::bank {
namespace {

constexpr size_t kKernelsOfTransaction = 100;

std::vector<v1::KernelProvenance> ProvenanceOf(const v1::ArchivedKernel& kernel, int64_t now_us) {
  std::vector<v1::KernelProvenance> provenance(kernel.provenance().begin(), kernel.provenance().end());
  if (provenance.empty()) {
    provenance.emplace_back().set_search_id("import");
    provenance.back().set_candidate_id(kernel.source_sha256());
  }
  for (v1::KernelProvenance& one : provenance) one.set_imported_at_us(now_us);
  return provenance;
}

// Stores one; the ids of those that are to be verified are added to `pending`.
absl::Status StoreOne(store::Transaction& transaction, const v1::ArchivedKernel& kernel, const ImportOrder& order,
                      v1::ImportKernelsReply* reply, std::vector<std::string>* pending) {
  reply->set_read(reply->read() + 1);
  const std::string& device_class = order.device_class.empty() ? kernel.device_class() : order.device_class;
  WARPSMITH_ASSIGN_OR_RETURN(
      const std::string problem_sha256,
      store::PutBlob(transaction, kernel.problem().source(), store::kMaxSourceBytes, kernel.problem_sha256()));
  WARPSMITH_ASSIGN_OR_RETURN(
      const std::string source_sha256,
      store::PutBlob(transaction, kernel.source(), store::kMaxSourceBytes, kernel.source_sha256()));
  WARPSMITH_RETURN_IF_ERROR(
      transaction
          .Execute("problem_upsert", {kernel.problem().id(), kernel.problem().name(), problem_sha256,
                                      store::Bytes{kernel.intake().SerializeAsString()}})
          .status());
  const std::string code = Sha256Hex(store::RenameSource(kernel.source()));
  const std::vector<v1::KernelProvenance> provenance = ProvenanceOf(kernel, order.now_us);
  WARPSMITH_ASSIGN_OR_RETURN(
      const store::ResultSet same,
      transaction.Execute("kernel_same_code", {kernel.problem().id(), device_class, code, std::nullopt}));
  if (!same.empty()) {
    reply->set_already_banked(reply->already_banked() + 1);
    return AddProvenance(transaction, same[0].Text("id"), provenance);
  }
  v1::ArchivedKernel body;
  for (const v1::KernelProvenance& one : provenance) *body.add_provenance() = one;
  std::set<int> accepted(kernel.accepted().begin(), kernel.accepted().end());
  const std::string model = provenance.front().model();
  WARPSMITH_ASSIGN_OR_RETURN(
      const store::ResultSet inserted,
      transaction.Execute(
          "pending_insert",
          {store::NewId(), "import", "it is verified here before it is admitted", kernel.problem().id(),
           kernel.problem().name(), device_class, kernel.operator_family(),
           order.device_class.empty() ? kernel.emulated() : device_class.rfind("emulated", 0) == 0, std::nullopt,
           std::nullopt, kernel.title().empty() ? "imported kernel" : kernel.title(), store::CleanLine(model, 200),
           source_sha256, code, std::vector<int>(accepted.begin(), accepted.end()), kernel.frozen_weights(),
           kernel.median_ms(), store::Bytes{body.SerializeAsString()}}));
  if (!inserted.empty()) {
    pending->push_back(inserted[0].Text("id"));
    return absl::OkStatus();
  }
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet waiting,
                             transaction.Execute("pending_same_code", {kernel.problem().id(), device_class, code}));
  // What was refused stays so until an operator asks for it.
  if (!waiting.empty() && waiting[0].Text("state") == "waiting") {
    pending->push_back(waiting[0].Text("id"));
  } else {
    reply->set_already_queued(reply->already_queued() + 1);
  }
  return absl::OkStatus();
}

void Join(const v1::ImportKernelsReply& part, v1::ImportKernelsReply* whole) {
  whole->set_read(whole->read() + part.read());
  whole->set_queued(whole->queued() + part.queued());
  whole->set_already_queued(whole->already_queued() + part.already_queued());
  whole->set_already_banked(whole->already_banked() + part.already_banked());
  for (const std::string& id : part.search_ids()) whole->add_search_ids(id);
  for (const std::string& note : part.notes()) {
    if (std::find(whole->notes().begin(), whole->notes().end(), note) == whole->notes().end()) whole->add_notes(note);
  }
}

}  // namespace

absl::StatusOr<v1::ImportKernelsReply> Import(store::Database& database, queue::TaskQueue& queue,
                                              const std::vector<v1::ArchivedKernel>& kernels,
                                              const ImportOrder& order) {
  v1::ImportKernelsReply whole;
  for (size_t begin = 0; begin < kernels.size(); begin += kKernelsOfTransaction) {
    const size_t end = std::min(kernels.size(), begin + kKernelsOfTransaction);
    v1::ImportKernelsReply part;
    absl::Status status = database.Write([&](store::Transaction& transaction) -> absl::Status {
      part.Clear();
      std::vector<std::string> pending;
      for (size_t i = begin; i < end; ++i) {
        WARPSMITH_RETURN_IF_ERROR(StoreOne(transaction, kernels[i], order, &part, &pending));
      }
      std::sort(pending.begin(), pending.end());
      pending.erase(std::unique(pending.begin(), pending.end()), pending.end());
      WARPSMITH_ASSIGN_OR_RETURN(const v1::VerifyKernelsReply queued,
                                 QueuePending(transaction, queue, pending, order.verification));
      part.set_queued(queued.queued());
      part.set_already_queued(part.already_queued() + queued.already_queued());
      *part.mutable_search_ids() = queued.search_ids();
      *part.mutable_notes() = queued.notes();
      return absl::OkStatus();
    });
    if (!status.ok()) {
      return Annotate(status, fmt::format("{} of {} kernels were taken in; import the archive again", whole.read(),
                                          kernels.size()));
    }
    Join(part, &whole);
  }
  return whole;
}

}  // namespace warpsmith::bank
