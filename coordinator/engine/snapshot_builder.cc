#include "coordinator/engine/snapshot_builder.h"

#include <algorithm>

#include "coordinator/bank/bank.h"
#include "coordinator/queue/task.h"
#include "coordinator/search/numbers.h"
#include "coordinator/search/snapshot_index.h"
#include "coordinator/store/budgets.h"

namespace warpsmith::engine {
namespace {

search::CandidateState StateOf(const std::string& state) {
  if (state == "done") return search::CandidateState::kDone;
  if (state == "rejected") return search::CandidateState::kRejected;
  return state == "evaluating" ? search::CandidateState::kEvaluating : search::CandidateState::kQueued;
}

search::TaskView TaskFromRow(const store::Row& row) {
  search::TaskView view;
  const queue::TaskKind kind = queue::ParseTaskKind(row.Text("kind"));
  const queue::TaskState state = queue::ParseTaskState(row.Text("state"));
  view.state = state == queue::TaskState::kDone ? search::TaskState::kDone
               : state == queue::TaskState::kAvailable || state == queue::TaskState::kRunning
                   ? search::TaskState::kOpen
                   : search::TaskState::kFailed;
  const bool confirm = row.Text("stage") == "confirm";
  view.round = static_cast<int>(row.Int("round"));
  switch (kind) {
    case queue::TaskKind::kPropose:
      view.kind = search::TaskKind::kPropose;
      view.subject_id = view.parent_id = row.Text("parent_id");
      view.count = static_cast<int>(row.Int("wanted"));
      break;
    case queue::TaskKind::kImplement:
      view.kind = search::TaskKind::kImplement;
      view.subject_id = row.Text("idea_id");
      view.count = static_cast<int>(row.Int("indexes"));
      break;
    case queue::TaskKind::kRepair:
      view.kind = search::TaskKind::kRepair;
      view.subject_id = row.Text("candidate_id");
      break;
    default:
      view.kind = confirm ? search::TaskKind::kConfirm : search::TaskKind::kEvaluate;
      view.subject_id = row.Text("candidate_id");
  }
  return view;
}

search::CandidateView CandidateFromRow(const store::Row& row) {
  search::CandidateView view;
  view.id = row.Text("id");
  view.idea_id = row.Text("idea_id");
  view.parent_id = row.Text("parent_id");
  view.repair_of = row.Text("repair_of");
  view.round = static_cast<int>(row.Int("round"));
  view.index = static_cast<int>(row.Int("idx"));
  view.repair_attempt = static_cast<int>(row.Int("repair_attempt"));
  const bool duplicate = row.Bool("duplicate");
  view.state = duplicate ? search::CandidateState::kRejected : StateOf(row.Text("state"));
  view.outcome = static_cast<v1::Outcome>(row.Int("outcome"));
  view.median_ms = row.Double("median_ms");
  view.spread = row.Double("spread");
  view.log_ratio = row.Double("log_ratio");
  view.twin_of = row.Text("twin_of");
  view.reason = duplicate ? "duplicate" : row.Text("reason");
  return view;
}

// The whole evaluation is read of one candidate only: the fastest, on which a search may stop.
absl::Status AddRoofline(store::Transaction& transaction, search::Snapshot* snapshot) {
  const search::CandidateView* fastest = search::SnapshotIndex(*snapshot).Fastest();
  if (fastest == nullptr) return absl::OkStatus();
  WARPSMITH_ASSIGN_OR_RETURN(const store::CandidateRecord record, store::GetCandidate(transaction, fastest->id));
  for (search::CandidateView& view : snapshot->candidates) {
    if (view.id == fastest->id) view.roofline_share = RooflineShare(record.evaluation);
  }
  return absl::OkStatus();
}

}  // namespace

double RooflineShare(const v1::Evaluation& evaluation) {
  const v1::Roofline& roofline = evaluation.roofline();
  const double median_ms = evaluation.timing().median_ms();
  if (evaluation.timing().emulated() || !(median_ms > 0)) return 0;
  const bool less_arithmetic = std::find(evaluation.flags().begin(), evaluation.flags().end(), "below_compute_floor") !=
                               evaluation.flags().end();
  return search::Amount(less_arithmetic ? roofline.memory_floor_ms() / median_ms : roofline.share());
}

absl::StatusOr<search::Snapshot> BuildSnapshot(store::Transaction& transaction, const store::SearchRecord& record) {
  search::Snapshot snapshot;
  snapshot.search_id = record.id;
  WARPSMITH_ASSIGN_OR_RETURN(snapshot.values, search::ResolveSettings(record.settings));
  snapshot.round = record.round;
  // A search that its batch ends has had its last round.
  if (!record.stop_reason.empty()) snapshot.values.rounds = std::min(snapshot.values.rounds, record.round - 1);
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet started,
                             transaction.Execute("round_started", {record.id, record.round}));
  if (!started.empty()) snapshot.round_started_us = started[0].Int("started_us");

  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet candidates,
                             transaction.Execute("snapshot_candidates", {record.id}));
  snapshot.candidates.reserve(candidates.size());
  for (const store::Row row : candidates) snapshot.candidates.push_back(CandidateFromRow(row));

  if (!record.emulated && snapshot.values.stop_at_roofline_share > 0) {
    WARPSMITH_RETURN_IF_ERROR(AddRoofline(transaction, &snapshot));
  }

  WARPSMITH_ASSIGN_OR_RETURN(const std::vector<store::IdeaRecord> ideas, store::GetIdeas(transaction, record.id));
  for (const store::IdeaRecord& idea : ideas) {
    search::IdeaView& view = snapshot.ideas.emplace_back();
    view.id = idea.idea.id();
    view.parent_id = idea.parent_id;
    view.category = idea.idea.category();
    view.title = idea.idea.title();
    view.origin = idea.idea.origin();
    view.round = idea.round;
    view.requested = idea.requested;
    view.delivered = idea.delivered;
    view.operator_injected = idea.operator_injected;
    view.island = idea.idea.island();
  }

  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet tasks, transaction.Execute("snapshot_tasks", {record.id}));
  snapshot.tasks.reserve(tasks.size());
  for (const store::Row row : tasks) {
    snapshot.tasks.push_back(TaskFromRow(row));
    const search::TaskView& task = snapshot.tasks.back();
    if (task.kind == search::TaskKind::kPropose && task.state == search::TaskState::kDone && row.Bool("exhausted")) {
      snapshot.exhausted_parents.push_back(task.parent_id);
    }
  }

  WARPSMITH_ASSIGN_OR_RETURN(const v1::Usage usage, store::GetUsage(transaction, record.id));
  snapshot.usage.usd = usage.usd();
  snapshot.usage.tokens = usage.input_tokens() + usage.output_tokens() + usage.abandoned_tokens();
  snapshot.usage.gpu_seconds = usage.gpu_seconds();
  snapshot.usage.model_calls = usage.model_calls();
  WARPSMITH_ASSIGN_OR_RETURN(const std::vector<store::Budget> budgets,
                             store::GetBudgets(transaction, "", "", record.id));
  for (const store::Budget& budget : budgets) snapshot.usage.calls_refused = budget.spent;

  WARPSMITH_ASSIGN_OR_RETURN(const std::vector<std::string> seeds, bank::Seeds(transaction, record.id));
  for (const std::string& seed : seeds) snapshot.bank_seeds.push_back({seed});
  return snapshot;
}

}  // namespace warpsmith::engine
