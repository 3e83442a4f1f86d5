#include "coordinator/api/batch_view.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "common/fast_p.h"
#include "coordinator/search/settings.h"
#include "coordinator/store/records.h"

namespace warpsmith::api {
namespace {

void Add(const v1::Usage& usage, v1::Usage* sum) {
  sum->set_usd(sum->usd() + usage.usd());
  sum->set_input_tokens(sum->input_tokens() + usage.input_tokens());
  sum->set_output_tokens(sum->output_tokens() + usage.output_tokens());
  sum->set_gpu_seconds(sum->gpu_seconds() + usage.gpu_seconds());
  sum->set_model_calls(sum->model_calls() + usage.model_calls());
  sum->set_abandoned_usd(sum->abandoned_usd() + usage.abandoned_usd());
  sum->set_abandoned_tokens(sum->abandoned_tokens() + usage.abandoned_tokens());
  sum->set_reserved_usd(sum->reserved_usd() + usage.reserved_usd());
  sum->set_reserved_tokens(sum->reserved_tokens() + usage.reserved_tokens());
}

v1::Usage UsageOf(const store::Row& row) {
  v1::Usage usage;
  usage.set_usd(row.Double("usd"));
  usage.set_input_tokens(row.Int("input_tokens"));
  usage.set_output_tokens(row.Int("output_tokens"));
  usage.set_gpu_seconds(row.Double("gpu_seconds"));
  usage.set_model_calls(static_cast<int>(row.Int("calls")));
  usage.set_abandoned_usd(row.Double("lost_usd"));
  usage.set_abandoned_tokens(row.Int("lost_tokens"));
  usage.set_reserved_usd(row.Double("open_usd"));
  usage.set_reserved_tokens(row.Int("open_tokens"));
  return usage;
}

v1::BatchProblem ProblemOf(const store::Row& row) {
  v1::BatchProblem problem;
  problem.set_search_id(row.Text("id"));
  problem.set_name(row.Text("name"));
  problem.set_level(static_cast<int>(row.Int("level")));
  problem.set_number(static_cast<int>(row.Int("number")));
  problem.set_state(store::ParseSearchState(row.Text("state")));
  problem.set_error(row.Text("error"));
  problem.set_finish_reason(row.Text("finish_reason"));
  problem.set_paused(row.Bool("paused"));
  problem.set_admitted(row.Bool("admitted"));
  v1::SearchSettings settings;
  settings.ParseFromString(row.Blob("settings"));
  const auto values = search::ResolveSettings(settings);
  const int rounds = values.ok() ? values->rounds : 0;
  problem.set_rounds(rounds);
  // After its last round a search stands at one more, which is none.
  problem.set_round(std::min(rounds, static_cast<int>(row.Int("round"))));
  problem.set_best_candidate_id(row.Text("best_candidate_id"));
  problem.set_best_ms(row.Double("best_ms"));
  problem.set_ratio_to_eager(row.Double("best_ratio"));
  problem.set_emulated(row.Bool("emulated"));
  problem.set_tasks_running(static_cast<int>(row.Int("running")));
  problem.set_tasks_waiting(static_cast<int>(row.Int("waiting")));
  const bool running = problem.state() == v1::SEARCH_STATE_RUNNING;
  if (problem.state() == v1::SEARCH_STATE_INTAKE && !problem.admitted()) {
    problem.set_waits_for("place");
  } else if (running && row.Int("round") > row.Int("granted_rounds") && row.Int("round") <= rounds) {
    problem.set_waits_for("round");
  } else if (problem.tasks_waiting() > 0 && problem.tasks_running() == 0) {
    problem.set_waits_for("tasks");
  }
  return problem;
}

bool HasEnded(v1::SearchState state) {
  return state == v1::SEARCH_STATE_DONE || state == v1::SEARCH_STATE_CANCELLED || state == v1::SEARCH_STATE_FAILED;
}

}  // namespace

v1::BatchTotals Summarize(const google::protobuf::RepeatedPtrField<v1::BatchProblem>& problems) {
  v1::BatchTotals totals;
  totals.set_problems(problems.size());
  double log_sum = 0;
  int compared = 0;
  std::vector<double> ratios;
  for (const v1::BatchProblem& problem : problems) {
    if (HasEnded(problem.state())) totals.set_ended(totals.ended() + 1);
    if (problem.state() == v1::SEARCH_STATE_FAILED) totals.set_failed(totals.failed() + 1);
    if (problem.best_ms() <= 0) continue;
    totals.set_solved(totals.solved() + 1);
    totals.set_emulated(totals.emulated() || problem.emulated());
    ratios.push_back(problem.ratio_to_eager());
    if (problem.ratio_to_eager() <= 0) continue;
    log_sum += std::log(problem.ratio_to_eager());
    ++compared;
  }
  totals.set_fast_0(FastP(ratios, problems.size(), 0));
  totals.set_fast_1(FastP(ratios, problems.size(), 1));
  totals.set_fast_1_5(FastP(ratios, problems.size(), 1.5));
  totals.set_fast_2(FastP(ratios, problems.size(), 2));
  if (compared > 0) totals.set_geometric_mean_ratio(std::exp(log_sum / compared));
  return totals;
}

absl::StatusOr<v1::Batch> ViewBatch(store::Transaction& transaction, const std::string& batch_id, bool with_problems) {
  WARPSMITH_ASSIGN_OR_RETURN(const batch::BatchRecord record, batch::GetBatch(transaction, batch_id));
  v1::Batch batch;
  batch.set_id(record.id);
  batch.set_name(record.name);
  batch.set_submitted_at_us(record.submitted_us);
  batch.set_finished_at_us(record.finished_us);
  batch.set_owner(record.owner);
  batch.set_submitted_by(record.submitted_by);
  batch.set_state(record.paused && record.state == "running" ? "paused" : record.state);
  *batch.mutable_limits() = record.limits;
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("batch_problems", {batch_id}));
  std::map<std::string, v1::BatchProblem*> by_id;
  for (const store::Row row : rows) {
    v1::BatchProblem* problem = batch.add_problems();
    *problem = ProblemOf(row);
    by_id[problem->search_id()] = problem;
    batch.add_search_ids(problem->search_id());
  }
  *batch.mutable_totals() = Summarize(batch.problems());
  v1::Usage* sum = batch.mutable_totals()->mutable_usage();
  if (!with_problems) {
    sum->set_usd(record.used_usd);
    sum->set_reserved_usd(record.reserved_usd);
    batch.clear_problems();
    return batch;
  }
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet costs, transaction.Execute("batch_usage", {batch_id}));
  for (const store::Row row : costs) {
    const v1::Usage usage = UsageOf(row);
    Add(usage, sum);
    if (const auto found = by_id.find(row.Text("id")); found != by_id.end()) *found->second->mutable_usage() = usage;
  }
  return batch;
}

}  // namespace warpsmith::api
