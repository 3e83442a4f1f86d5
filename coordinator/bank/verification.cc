#include "coordinator/bank/verification.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "common/hash.h"
#include "coordinator/bank/admission.h"
#include "coordinator/bank/code_identity.h"
#include "coordinator/bank/revisions.h"
#include "coordinator/store/blob_store.h"
#include "coordinator/store/source_identity.h"
#include "coordinator/store/text.h"

namespace warpsmith::bank {
namespace {

constexpr int kMostAtOnce = 5000;
constexpr size_t kKernelsOfSearch = 100;

struct Item {
  std::string kernel_id;  // either of the two
  std::string pending_id;
  std::string problem_id;
  std::string problem_name;
  std::string device_class;
  std::vector<int> accepted;
  bool frozen_weights = false;
  std::string title;
  std::string model;
  std::string source_sha256;
};

auto GroupOf(const Item& item) {
  return std::tie(item.problem_id, item.device_class, item.accepted, item.frozen_weights);
}

Item FromRow(const store::Row& row, bool pending) {
  Item item;
  (pending ? item.pending_id : item.kernel_id) = row.Text("id");
  item.problem_id = row.Text("problem_id");
  item.problem_name = row.Text("problem_name");
  item.device_class = row.Text("device_class");
  item.accepted = row.Ints("accepted");
  item.frozen_weights = row.Bool("frozen_weights");
  item.title = row.Text(pending ? "title" : "idea_title");
  item.model = pending ? row.Text("model") : "";
  item.source_sha256 = row.Text("source_sha256");
  return item;
}

// One system search over items that share problem, device class and settings.
absl::StatusOr<std::string> MakeSearch(store::Transaction& transaction, queue::TaskQueue& queue,
                                       const std::vector<Item>& items, const VerificationOrder& order) {
  const Item& first = items.front();
  v1::SearchSettings settings;
  for (int accepted : first.accepted) settings.add_accepted(static_cast<v1::PrecisionClass>(accepted));
  settings.set_frozen_weights(first.frozen_weights);
  settings.set_device_class(first.device_class);
  const std::string id = store::NewId();
  // Other inputs than the ones that the kernel was confirmed on.
  const auto seed = static_cast<int64_t>(Sha256Prefix(id) >> 1);
  settings.set_seed(seed);
  WARPSMITH_RETURN_IF_ERROR(
      transaction
          .Execute("verification_search_insert", {id, first.problem_name, first.problem_id, order.submitted_by,
                                                  store::Bytes{settings.SerializeAsString()}, seed, first.device_class})
          .status());
  for (const Item& item : items) {
    WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet codes,
                               transaction.Execute("bank_candidate_codes", {item.source_sha256}));
    std::string normalized, renamed;
    if (!codes.empty()) {
      normalized = codes[0].Text("normalized_sha256");
      renamed = codes[0].Text("renamed_sha256");
    } else {
      WARPSMITH_ASSIGN_OR_RETURN(const std::string source, store::GetBlob(transaction, item.source_sha256));
      normalized = Sha256Hex(store::NormalizeSource(source));
      renamed = Sha256Hex(store::RenameSource(source));
    }
    const std::string candidate = store::NewId();
    WARPSMITH_RETURN_IF_ERROR(transaction
                                  .Execute("verification_candidate_insert", {candidate, id, item.title, item.model,
                                                                             item.source_sha256, normalized, renamed})
                                  .status());
    WARPSMITH_RETURN_IF_ERROR(
        transaction
            .Execute("verification_insert", {candidate, id, store::NullIfEmpty(item.kernel_id),
                                             store::NullIfEmpty(item.pending_id), order.submitted_by})
            .status());
  }
  queue::TaskSpec spec;
  spec.kind = queue::TaskKind::kIntake;
  spec.dedupe_key = id + "/intake";
  spec.search_id = id;
  spec.device_class = first.device_class;
  spec.priority = -10;
  spec.deadline_seconds = order.intake_deadline_seconds;
  WARPSMITH_RETURN_IF_ERROR(queue.Put(transaction, spec).status());
  WARPSMITH_RETURN_IF_ERROR(store::AddEvent(
      transaction, id,
      fmt::format("verification of {} kernels of {} on {}", items.size(), first.problem_name, first.device_class)));
  return id;
}

absl::Status NoteClasses(store::Transaction& transaction, const std::set<std::string>& classes,
                         v1::VerifyKernelsReply* reply) {
  for (const std::string& device_class : classes) {
    WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet workers,
                               transaction.Execute("bank_class_workers", {device_class}));
    if (workers[0].Int("connected") > 0) continue;
    reply->add_notes(fmt::format("no worker of class {} is connected; its kernels are verified when one is",
                                 store::CleanLine(device_class, 200)));
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::VerifyKernelsReply> Queue(store::Transaction& transaction, queue::TaskQueue& queue,
                                             std::vector<Item> items, const VerificationOrder& order) {
  v1::VerifyKernelsReply reply;
  std::vector<std::string> ids;
  for (const Item& item : items) ids.push_back(item.kernel_id + item.pending_id);
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet open, transaction.Execute("verification_open", {ids}));
  std::set<std::string> under_way, searches;
  for (const store::Row row : open) {
    under_way.insert(row.Text("kernel_id") + row.Text("pending_id"));
    searches.insert(row.Text("search_id"));
  }
  reply.set_already_queued(static_cast<int>(under_way.size()));
  std::erase_if(items, [&](const Item& item) { return under_way.contains(item.kernel_id + item.pending_id); });
  std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return GroupOf(a) < GroupOf(b); });
  std::set<std::string> classes;
  for (size_t begin = 0; begin < items.size();) {
    size_t end = begin + 1;
    while (end < items.size() && end - begin < kKernelsOfSearch && GroupOf(items[end]) == GroupOf(items[begin])) ++end;
    const std::vector<Item> group(items.begin() + static_cast<ptrdiff_t>(begin),
                                  items.begin() + static_cast<ptrdiff_t>(end));
    WARPSMITH_ASSIGN_OR_RETURN(const std::string id, MakeSearch(transaction, queue, group, order));
    searches.insert(id);
    classes.insert(group.front().device_class);
    reply.set_queued(reply.queued() + static_cast<int>(group.size()));
    begin = end;
  }
  for (const std::string& id : searches) reply.add_search_ids(id);
  WARPSMITH_RETURN_IF_ERROR(NoteClasses(transaction, classes, &reply));
  return reply;
}

}  // namespace

std::vector<int> AcceptedOf(const v1::SearchSettings& settings) {
  std::set<int> accepted(settings.accepted().begin(), settings.accepted().end());
  accepted.erase(v1::PRECISION_CLASS_UNSPECIFIED);
  if (accepted.empty()) accepted.insert(v1::PRECISION_CLASS_FP32);
  return {accepted.begin(), accepted.end()};
}

absl::StatusOr<v1::VerifyKernelsReply> QueueVerifications(store::Transaction& transaction, queue::TaskQueue& queue,
                                                          const v1::KernelFilter& filter,
                                                          const VerificationOrder& order) {
  const std::vector<std::string> ids(filter.kernel_ids().begin(), filter.kernel_ids().end());
  std::vector<std::string> states = {"trusted", "stale", "unconfirmed"};
  if (!ids.empty()) states.emplace_back("failed");
  WARPSMITH_ASSIGN_OR_RETURN(
      const store::ResultSet kernels,
      transaction.Execute("kernel_select", {filter.operator_family(), filter.problem(), filter.device_class(), ids,
                                            filter.champions_only(), states, std::nullopt, kMostAtOnce}));
  std::vector<Item> items;
  for (const store::Row row : kernels) {
    if (!filter.older_than_harness().empty() && !OlderRevision(row.Text("harness_rev"), filter.older_than_harness())) {
      continue;
    }
    items.push_back(FromRow(row, false));
  }
  if (filter.pending()) {
    WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet pending,
                               transaction.Execute("pending_select", {filter.operator_family(), filter.problem(),
                                                                      filter.device_class(), ids, kMostAtOnce}));
    for (const store::Row row : pending) items.push_back(FromRow(row, true));
  }
  return Queue(transaction, queue, std::move(items), order);
}

absl::StatusOr<v1::VerifyKernelsReply> QueuePending(store::Transaction& transaction, queue::TaskQueue& queue,
                                                    const std::vector<std::string>& pending_ids,
                                                    const VerificationOrder& order) {
  if (pending_ids.empty()) return v1::VerifyKernelsReply();
  WARPSMITH_ASSIGN_OR_RETURN(
      const store::ResultSet pending,
      transaction.Execute("pending_select", {"", "", "", pending_ids, static_cast<int>(pending_ids.size())}));
  std::vector<Item> items;
  for (const store::Row row : pending) items.push_back(FromRow(row, true));
  return Queue(transaction, queue, std::move(items), order);
}

absl::StatusOr<int> RefreshIncumbents(store::Transaction& transaction, queue::TaskQueue& queue,
                                      const store::SearchRecord& search, const std::string& harness_rev,
                                      const VerificationOrder& order) {
  if (search.strategy == kVerifyStrategy) return 0;
  WARPSMITH_RETURN_IF_ERROR(NoteRevisions(transaction, search.device_class, {harness_rev, ""}).status());
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet stale,
                             transaction.Execute("kernel_stale_champions", {search.problem_id, search.device_class}));
  std::vector<Item> items;
  for (const store::Row row : stale) items.push_back(FromRow(row, false));
  WARPSMITH_ASSIGN_OR_RETURN(const v1::VerifyKernelsReply reply, Queue(transaction, queue, std::move(items), order));
  return reply.queued();
}

}  // namespace warpsmith::bank
