#include "coordinator/engine/evaluation_recorder.h"

#include <cmath>
#include <map>

#include "coordinator/engine/candidate_intake.h"
#include "coordinator/engine/narrator.h"
#include "coordinator/store/records.h"
#include "coordinator/store/text.h"

namespace warpsmith::engine {
namespace {

bool IsTime(double value) { return std::isfinite(value) && value > 0; }
double OrZero(double value) { return std::isfinite(value) ? value : 0; }

std::string CubinOf(const v1::Evaluation& evaluation) {
  return store::CleanLine(
      evaluation.cubin_sha256().empty() ? evaluation.compile().artifact_sha256() : evaluation.cubin_sha256(), 64);
}

// An evaluation with the figures that stand in columns of their own.
struct Figured {
  const queue::Task* task = nullptr;
  v1::Evaluation evaluation;
  double median_ms = 0, spread = 0, ratio = 0, log_ratio = 0, seconds = 0;
  std::string reason, cubin;
};

Figured Figure(const EvaluatedTask& evaluated, double eager_ms) {
  Figured figured;
  figured.task = evaluated.task;
  figured.evaluation = evaluated.result->evaluation();
  v1::Evaluation& evaluation = figured.evaluation;
  evaluation.set_worker_id(evaluated.worker_id);
  const bool timed = IsTime(evaluation.timing().median_ms());
  figured.median_ms = timed ? evaluation.timing().median_ms() : 0;
  figured.ratio = IsTime(evaluation.ratio_to_eager()) ? evaluation.ratio_to_eager() : 0;
  if (figured.ratio == 0 && timed && eager_ms > 0) figured.ratio = eager_ms / figured.median_ms;
  evaluation.set_ratio_to_eager(figured.ratio);
  const double anchor = IsTime(evaluation.timing().anchor_ms()) ? evaluation.timing().anchor_ms() : eager_ms;
  figured.log_ratio = timed && anchor > 0 ? std::log(anchor / figured.median_ms) : 0;
  figured.spread = OrZero(evaluation.timing().spread());
  figured.seconds = OrZero(evaluated.result->seconds());
  figured.reason = store::CleanLine(evaluation.reason(), 100);
  figured.cubin = CubinOf(evaluation);
  return figured;
}

absl::StatusOr<std::map<std::string, double>> EagerTimes(store::Transaction& transaction,
                                                         const std::vector<EvaluatedTask>& evaluated) {
  std::set<std::string> ids;
  for (const EvaluatedTask& one : evaluated) ids.insert(one.task->search_id);
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows,
                             transaction.Execute("search_eager", {std::vector<std::string>(ids.begin(), ids.end())}));
  std::map<std::string, double> times;
  for (const store::Row row : rows) times[row.Text("id")] = row.Double("eager_ms");
  return times;
}

// Task to evaluation, of those that were not there before.
absl::StatusOr<std::map<int64_t, int64_t>> Insert(store::Transaction& transaction, const std::vector<Figured*>& wave) {
  std::vector<int64_t> tasks, epochs, body_from, body_bytes;
  std::vector<int> outcomes;
  std::vector<double> medians, spreads, ratios, gpu_seconds, seconds;
  std::vector<std::string> searches, candidates, stages, reasons, devices, emulated, workers, harnesses, judges, cubins;
  std::string bodies;
  for (const Figured* one : wave) {
    const v1::Evaluation& evaluation = one->evaluation;
    tasks.push_back(one->task->id);
    epochs.push_back(one->task->epoch);
    searches.push_back(one->task->search_id);
    candidates.push_back(one->task->candidate_id);
    stages.push_back(one->task->stage);
    outcomes.push_back(static_cast<int>(evaluation.outcome()));
    reasons.push_back(one->reason);
    medians.push_back(one->median_ms);
    spreads.push_back(one->spread);
    ratios.push_back(one->ratio);
    devices.push_back(store::CleanLine(evaluation.timing().device_name(), 200));
    emulated.push_back(evaluation.timing().emulated() ? "t" : "f");
    workers.push_back(store::CleanLine(evaluation.worker_id(), 200));
    gpu_seconds.push_back(OrZero(evaluation.gpu_seconds()));
    seconds.push_back(one->seconds);
    const size_t before = bodies.size();
    evaluation.AppendToString(&bodies);
    body_from.push_back(static_cast<int64_t>(before) + 1);
    body_bytes.push_back(static_cast<int64_t>(bodies.size() - before));
    harnesses.push_back(store::CleanLine(evaluation.harness_rev(), 40));
    judges.push_back(store::CleanLine(evaluation.judge_rev(), 40));
    cubins.push_back(one->cubin);
  }
  WARPSMITH_ASSIGN_OR_RETURN(
      const store::ResultSet rows,
      transaction.Execute(
          "evaluations_insert",
          {tasks,     epochs, searches, candidates, stages,    outcomes,    reasons, medians,
           spreads,   ratios, devices,  emulated,   workers,   gpu_seconds, seconds, store::Bytes{bodies},
           harnesses, judges, cubins,   body_from,  body_bytes}));
  std::map<int64_t, int64_t> inserted;
  for (const store::Row row : rows) inserted[row.Int("task_id")] = row.Int("id");
  return inserted;
}

absl::Status SetResults(store::Transaction& transaction, const std::vector<Figured*>& wave,
                        const std::map<int64_t, int64_t>& inserted) {
  std::vector<int64_t> evaluations;
  std::vector<int> outcomes;
  std::vector<double> medians, spreads, log_ratios, ratios;
  std::vector<std::string> candidates, reasons, messages, cubins;
  for (const Figured* one : wave) {
    const auto found = inserted.find(one->task->id);
    if (found == inserted.end()) continue;
    candidates.push_back(one->task->candidate_id);
    evaluations.push_back(found->second);
    outcomes.push_back(static_cast<int>(one->evaluation.outcome()));
    reasons.push_back(one->reason);
    messages.push_back(store::CleanText(one->evaluation.message(), 1000));
    medians.push_back(one->median_ms);
    spreads.push_back(one->spread);
    log_ratios.push_back(one->log_ratio);
    ratios.push_back(one->ratio);
    cubins.push_back(one->cubin);
  }
  if (candidates.empty()) return absl::OkStatus();
  return transaction
      .Execute("candidates_set_results",
               {candidates, evaluations, outcomes, reasons, messages, medians, spreads, log_ratios, ratios, cubins})
      .status();
}

// A name may be what was wrong: those that wait for a failed one under other names are judged by themselves.
absl::Status ReleaseRenamed(store::Transaction& transaction, queue::TaskQueue& queue, const EngineSettings& settings,
                            const std::vector<std::string>& failed) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet released,
                             transaction.Execute("candidates_release_renamed", {failed}));
  std::map<std::string, store::SearchRecord> searches;
  for (const store::Row row : released) {
    const std::string search_id = row.Text("search_id");
    if (!searches.contains(search_id)) {
      WARPSMITH_ASSIGN_OR_RETURN(searches[search_id], store::GetSearch(transaction, search_id));
    }
    WARPSMITH_RETURN_IF_ERROR(PlaceCandidate(transaction, queue, settings, searches[search_id],
                                             {row.Text("id"), static_cast<int>(row.Int("round")),
                                              row.Text("normalized_sha256"), row.Text("renamed_sha256")}));
  }
  return absl::OkStatus();
}

// Splits the list, in its order, so that within a wave no candidate and no cubin comes twice: of two texts that
// compiled to the same module the second is the first one's twin.
std::vector<std::vector<Figured*>> Waves(std::vector<Figured>& all) {
  std::vector<std::vector<Figured*>> waves;
  std::map<std::string, size_t> next_of_candidate, next_of_cubin;
  for (Figured& one : all) {
    size_t& candidate = next_of_candidate[one.task->candidate_id];
    size_t wave = candidate;
    if (!one.cubin.empty()) {
      size_t& cubin = next_of_cubin[one.cubin];
      wave = std::max(wave, cubin);
      cubin = wave + 1;
    }
    candidate = wave + 1;
    if (wave >= waves.size()) waves.resize(wave + 1);
    waves[wave].push_back(&one);
  }
  return waves;
}

}  // namespace

absl::StatusOr<std::vector<StoredEvaluation>> StoreEvaluations(store::Transaction& transaction, queue::TaskQueue& queue,
                                                               const EngineSettings& settings,
                                                               const std::vector<EvaluatedTask>& evaluated) {
  std::vector<StoredEvaluation> stored;
  if (evaluated.empty()) return stored;
  using EagerMap = std::map<std::string, double>;
  WARPSMITH_ASSIGN_OR_RETURN(const EagerMap eager, EagerTimes(transaction, evaluated));
  std::vector<Figured> all;
  all.reserve(evaluated.size());
  for (const EvaluatedTask& one : evaluated) {
    const auto time = eager.find(one.task->search_id);
    all.push_back(Figure(one, time == eager.end() ? 0 : time->second));
  }
  std::set<std::string> searches;
  std::vector<std::string> judged, failed;
  for (const std::vector<Figured*>& wave : Waves(all)) {
    using InsertedMap = std::map<int64_t, int64_t>;
    WARPSMITH_ASSIGN_OR_RETURN(const InsertedMap inserted, Insert(transaction, wave));
    WARPSMITH_RETURN_IF_ERROR(SetResults(transaction, wave, inserted));
    for (Figured* one : wave) {
      const auto found = inserted.find(one->task->id);
      if (found == inserted.end()) continue;
      searches.insert(one->task->search_id);
      judged.push_back(one->task->candidate_id);
      const v1::Outcome outcome = one->evaluation.outcome();
      if (outcome == v1::OUTCOME_PLAN_ERROR || outcome == v1::OUTCOME_COMPILE_ERROR) {
        failed.push_back(one->task->candidate_id);
      }
      stored.push_back({found->second, one->task, std::move(one->evaluation)});
    }
  }
  if (!failed.empty()) WARPSMITH_RETURN_IF_ERROR(ReleaseRenamed(transaction, queue, settings, failed));
  if (judged.empty()) return stored;
  WARPSMITH_RETURN_IF_ERROR(transaction.Execute("candidates_copy_results", {judged}).status());
  WARPSMITH_RETURN_IF_ERROR(
      transaction.Execute("searches_refresh_best", {std::vector<std::string>(searches.begin(), searches.end())})
          .status());
  return stored;
}

absl::Status NarrateProgress(store::Transaction& transaction, const std::set<std::pair<std::string, int>>& rounds) {
  if (rounds.empty()) return absl::OkStatus();
  std::vector<std::string> searches, lines;
  std::vector<int> numbers;
  for (const auto& [search_id, round] : rounds) {
    searches.push_back(search_id);
    numbers.push_back(round);
  }
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("rounds_progress", {searches, numbers}));
  searches.clear();
  for (const store::Row row : rows) {
    v1::RoundSummary summary;
    summary.set_round(static_cast<int>(row.Int("round")));
    summary.set_generated(static_cast<int>(row.Int("generated")));
    summary.set_compiled(static_cast<int>(row.Int("compiled")));
    summary.set_correct(static_cast<int>(row.Int("correct")));
    summary.set_best_ms(row.Double("best_ms"));
    summary.set_best_ratio_to_eager(row.Double("best_ratio"));
    summary.set_round_best_ms(row.Double("round_best_ms"));
    summary.set_best_idea(row.Text("title"));
    searches.push_back(row.Text("search_id"));
    lines.push_back(store::CleanLine(ProgressLine(summary)));
  }
  if (lines.empty()) return absl::OkStatus();
  return transaction.Execute("events_insert", {searches, lines}).status();
}

}  // namespace warpsmith::engine
