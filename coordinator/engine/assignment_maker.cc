#include "coordinator/engine/assignment_maker.h"

#include <fmt/format.h>

#include <set>

#include "coordinator/engine/assignments.h"

namespace warpsmith::engine {
namespace {

constexpr Duration kKeep = std::chrono::seconds(10);
constexpr size_t kSearchesKept = 1024;

struct Best {
  std::string candidate_id;
  double ms = 0;
};

// Confirmations are few, and what they compare with is the bank's to say.
bool Alike(const queue::Task& task) { return task.kind == queue::TaskKind::kEvaluate && task.stage != "confirm"; }

}  // namespace

absl::StatusOr<const v1::Assignment*> AssignmentMaker::CommonOf(store::Transaction& transaction,
                                                                const queue::Task& task) {
  const TimePoint now = clock_.Now();
  const auto found = common_.find(task.search_id);
  if (found != common_.end() && now < found->second.until) return &found->second.assignment;
  if (common_.size() >= kSearchesKept) common_.clear();
  WARPSMITH_ASSIGN_OR_RETURN(v1::Assignment assignment, MakeAssignment(transaction, task));
  assignment.mutable_evaluate()->clear_incumbent_ms();
  assignment.mutable_evaluate()->clear_incumbent_sha256();
  Common& common = common_[task.search_id];
  common = {std::move(assignment), now + kKeep};
  return &common.assignment;
}

absl::StatusOr<std::vector<absl::StatusOr<v1::Assignment>>> AssignmentMaker::Make(
    store::Transaction& transaction, const std::vector<queue::Task>& tasks) {
  std::vector<std::string> candidates;
  std::set<std::string> searches;
  for (const queue::Task& task : tasks) {
    if (!Alike(task)) continue;
    candidates.push_back(task.candidate_id);
    searches.insert(task.search_id);
  }
  std::map<std::string, std::string> sources;  // by candidate
  std::map<std::string, Best> bests;           // by search
  if (!candidates.empty()) {
    WARPSMITH_ASSIGN_OR_RETURN(store::ResultSet rows, transaction.Execute("assignment_sources", {candidates}));
    for (const store::Row row : rows) sources[row.Text("id")] = row.Text("source_sha256");
    WARPSMITH_ASSIGN_OR_RETURN(
        rows, transaction.Execute("assignment_bests", {std::vector<std::string>(searches.begin(), searches.end())}));
    for (const store::Row row : rows) {
      bests[row.Text("id")] = {row.Text("best_candidate_id"), row.Double("best_ms")};
    }
  }
  std::vector<absl::StatusOr<v1::Assignment>> assignments;
  assignments.reserve(tasks.size());
  for (const queue::Task& task : tasks) {
    const auto source = sources.find(task.candidate_id);
    if (!Alike(task) || source == sources.end() || source->second.empty()) {
      assignments.push_back(MakeAssignment(transaction, task));
      if (absl::IsUnavailable(assignments.back().status())) return assignments.back().status();
      continue;
    }
    auto common = CommonOf(transaction, task);
    if (!common.ok()) {
      if (absl::IsUnavailable(common.status())) return common.status();
      assignments.emplace_back(common.status());
      continue;
    }
    v1::Assignment assignment = **common;
    assignment.set_task_id(task.id);
    assignment.set_epoch(task.epoch);
    assignment.set_deadline_seconds(task.deadline_seconds);
    v1::EvaluateTask* evaluate = assignment.mutable_evaluate();
    evaluate->set_candidate_sha256(source->second);
    evaluate->set_stage(task.stage.empty() ? "measure" : task.stage);
    evaluate->set_seed(task.seed);
    const Best& best = bests[task.search_id];
    if (best.candidate_id != task.candidate_id) evaluate->set_incumbent_ms(best.ms);
    assignments.emplace_back(std::move(assignment));
  }
  return assignments;
}

}  // namespace warpsmith::engine
