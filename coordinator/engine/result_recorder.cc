#include "coordinator/engine/result_recorder.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "common/hash.h"
#include "coordinator/engine/candidate_intake.h"
#include "coordinator/engine/narrator.h"
#include "coordinator/store/text.h"

namespace warpsmith::engine {
namespace {

queue::TaskKey KeyOf(const WorkerResult& result) { return {result.result.task_id(), result.result.epoch()}; }

bool Positive(double value) { return std::isfinite(value) && value > 0; }
double Finite(double value) { return std::isfinite(value) ? value : 0; }

// Why this is no result but a failure of the machine; empty: it is one.
std::string FailureOf(const v1::TaskResult& result) {
  switch (result.result_case()) {
    case v1::TaskResult::kInfraError:
      return result.infra_error().empty() ? "the worker could not run it and did not say why" : result.infra_error();
    case v1::TaskResult::kEvaluation: {
      const v1::Evaluation& evaluation = result.evaluation();
      if (evaluation.outcome() == v1::OUTCOME_INFRA_ERROR)
        return "the worker's machine failed: " + evaluation.message();
      if (evaluation.outcome() == v1::OUTCOME_UNSPECIFIED || !v1::Outcome_IsValid(evaluation.outcome())) {
        return "the worker sent an evaluation without an outcome";
      }
      if (evaluation.outcome() == v1::OUTCOME_OK && !Positive(evaluation.timing().median_ms())) {
        return "the worker sent outcome ok without a time";
      }
      return "";
    }
    case v1::TaskResult::kIntake:
      return "";
    case v1::TaskResult::RESULT_NOT_SET:
      return "the worker sent an empty result";
  }
  return "";
}

double EagerOf(const v1::IntakeResult& intake) {
  for (const v1::Baseline& baseline : intake.baselines()) {
    if (baseline.name() == "eager" && Positive(baseline.median_ms())) return baseline.median_ms();
  }
  return 0;
}

// What two searches must share for one's verdicts to be the other's. The problem's id covers its source, mode and
// tolerance. Empty where the harness does not say its revision.
std::string ReuseKey(const store::SearchRecord& search, const v1::DeviceDescription& device,
                     const std::string& harness_rev) {
  if (harness_rev.empty()) return "";
  std::set<int> accepted(search.settings.accepted().begin(), search.settings.accepted().end());
  if (accepted.empty()) accepted.insert(v1::PRECISION_CLASS_FP32);
  return Sha256Hex(fmt::format("{}/{}/{}/{}/{}/{}", search.problem_id, device.device_class(), device.emulated(),
                               fmt::join(accepted, ","), search.settings.frozen_weights(), harness_rev));
}

bool TryAgain(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsResourceExhausted(status) || absl::IsAborted(status) ||
         absl::IsDeadlineExceeded(status) || absl::IsFailedPrecondition(status);
}

}  // namespace

absl::StatusOr<std::vector<RecordedResult>> ResultRecorder::Record(const std::vector<WorkerResult>& results) {
  auto together = RecordTogether(results);
  if (together.ok() || TryAgain(together.status())) return together;
  std::vector<RecordedResult> recorded;
  for (const WorkerResult& result : results) {
    auto single = RecordTogether({result});
    if (single.ok()) {
      recorded.push_back(single->front());
      continue;
    }
    if (TryAgain(single.status())) return single.status();
    spdlog::error("task {}: its result cannot be stored: {}", result.result.task_id(), Message(single.status()));
    WorkerResult failure{result.worker_id, result.device, {}};
    failure.result.set_task_id(result.result.task_id());
    failure.result.set_epoch(result.result.epoch());
    failure.result.set_infra_error("its result cannot be stored: " + Message(single.status()));
    auto failed = RecordTogether({failure});
    if (!failed.ok()) return failed.status();
    recorded.push_back({KeyOf(result), false});
  }
  return recorded;
}

absl::StatusOr<std::vector<RecordedResult>> ResultRecorder::RecordTogether(const std::vector<WorkerResult>& results) {
  std::vector<RecordedResult> recorded;
  std::set<std::string> changed;
  std::vector<queue::CancelledTask> cancelled;
  absl::Status status = database_.Write([&](store::Transaction& transaction) -> absl::Status {
    recorded.clear();
    changed.clear();
    cancelled.clear();
    std::vector<int64_t> ids;
    std::vector<queue::TaskKey> keys;
    std::vector<queue::Completion> completions;
    std::map<queue::TaskKey, const WorkerResult*> by_key;
    for (const WorkerResult& result : results) {
      ids.push_back(result.result.task_id());
      keys.push_back(KeyOf(result));
      // The same message may have come twice in one batch.
      if (FailureOf(result.result).empty() && by_key.emplace(KeyOf(result), &result).second) {
        completions.push_back({KeyOf(result), ""});
      }
    }
    WARPSMITH_RETURN_IF_ERROR(transaction.Execute("search_lock_of_tasks", {ids}).status());
    WARPSMITH_ASSIGN_OR_RETURN(const std::vector<queue::Task> done, queue_.Complete(transaction, completions));
    std::set<std::pair<std::string, int>> rounds;
    for (const queue::Task& task : done) {
      const WorkerResult& result = *by_key.at({task.id, task.epoch});
      changed.insert(task.search_id);
      if (task.kind == queue::TaskKind::kEvaluate && result.result.has_evaluation()) {
        WARPSMITH_RETURN_IF_ERROR(RecordEvaluation(transaction, task, result));
        rounds.emplace(task.search_id, task.round);
      } else if (task.kind == queue::TaskKind::kIntake && result.result.has_intake()) {
        WARPSMITH_RETURN_IF_ERROR(RecordIntake(transaction, task, result, &cancelled));
      } else {
        return InvalidArgument(fmt::format("worker {} sent a result of the wrong kind for a task of kind {}",
                                           result.worker_id, queue::TaskKindName(task.kind)));
      }
    }
    for (const WorkerResult& result : results) {
      const std::string failure = FailureOf(result.result);
      if (failure.empty()) continue;
      WARPSMITH_ASSIGN_OR_RETURN(const std::vector<queue::Task> failed,
                                 queue_.Fail(transaction, KeyOf(result), failure));
      for (const queue::Task& task : failed) {
        changed.insert(task.search_id);
        if (task.state == queue::TaskState::kQuarantined) {
          WARPSMITH_RETURN_IF_ERROR(GiveUp(transaction, task, &cancelled));
        }
      }
    }
    for (const auto& [search_id, round] : rounds) {
      WARPSMITH_RETURN_IF_ERROR(Narrate(transaction, search_id, round));
    }
    // A completion that was recorded before is as good as one recorded now; a failure that counted is done with too.
    WARPSMITH_ASSIGN_OR_RETURN(const std::vector<queue::TaskKey> kept, queue_.AlreadyDone(transaction, keys));
    for (const queue::TaskKey& key : keys) {
      recorded.push_back({key, std::find(kept.begin(), kept.end(), key) != kept.end()});
    }
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  if (!cancelled.empty()) signals_.TasksCancelled(cancelled);
  for (const std::string& search_id : changed) signals_.SearchChanged(search_id);
  return recorded;
}

absl::Status ResultRecorder::RecordEvaluation(store::Transaction& transaction, const queue::Task& task,
                                              const WorkerResult& result) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::SearchRecord search, store::GetSearch(transaction, task.search_id));
  v1::Evaluation evaluation = result.result.evaluation();
  evaluation.set_worker_id(result.worker_id);
  const bool timed = Positive(evaluation.timing().median_ms());
  const double median_ms = timed ? evaluation.timing().median_ms() : 0;
  double ratio = Positive(evaluation.ratio_to_eager()) ? evaluation.ratio_to_eager() : 0;
  if (ratio == 0 && timed && search.eager_ms > 0) ratio = search.eager_ms / median_ms;
  evaluation.set_ratio_to_eager(ratio);
  const double anchor = Positive(evaluation.timing().anchor_ms()) ? evaluation.timing().anchor_ms() : search.eager_ms;
  const double log_ratio = timed && anchor > 0 ? std::log(anchor / median_ms) : 0;
  const double spread = Finite(evaluation.timing().spread());
  const double seconds = Finite(result.result.seconds());
  const double gpu_seconds = Finite(evaluation.gpu_seconds());
  const std::string reason = store::CleanLine(evaluation.reason(), 100);
  const int outcome = static_cast<int>(evaluation.outcome());
  const std::string body = evaluation.SerializeAsString();
  WARPSMITH_ASSIGN_OR_RETURN(
      const store::ResultSet inserted,
      transaction.Execute(
          "evaluation_insert",
          {task.id, task.epoch, task.search_id, task.candidate_id, task.stage, outcome, reason, median_ms, spread,
           ratio, store::CleanLine(evaluation.timing().device_name(), 200), evaluation.timing().emulated(),
           store::CleanLine(result.worker_id, 200), gpu_seconds, seconds, store::Bytes{body},
           store::CleanLine(evaluation.harness_rev(), 40), store::CleanLine(evaluation.judge_rev(), 40)}));
  if (inserted.empty()) return absl::OkStatus();
  WARPSMITH_RETURN_IF_ERROR(transaction
                                .Execute("candidate_set_result", {task.candidate_id, inserted[0].Int("id"), outcome,
                                                                  reason, store::CleanText(evaluation.message(), 1000),
                                                                  median_ms, spread, log_ratio, ratio})
                                .status());
  if (evaluation.outcome() == v1::OUTCOME_PLAN_ERROR || evaluation.outcome() == v1::OUTCOME_COMPILE_ERROR) {
    // A name may be what was wrong: those that wait for this one under other names are judged by themselves.
    WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet released,
                               transaction.Execute("candidate_release_renamed", {task.candidate_id}));
    for (const store::Row row : released) {
      WARPSMITH_RETURN_IF_ERROR(PlaceCandidate(transaction, queue_, executor_.settings(), search,
                                               {row.Text("id"), static_cast<int>(row.Int("round")),
                                                row.Text("normalized_sha256"), row.Text("renamed_sha256")}));
    }
  }
  const std::string cubin = store::CleanLine(
      evaluation.cubin_sha256().empty() ? evaluation.compile().artifact_sha256() : evaluation.cubin_sha256(), 64);
  if (!cubin.empty()) {
    WARPSMITH_RETURN_IF_ERROR(transaction.Execute("candidate_set_cubin", {task.candidate_id, cubin}).status());
  }
  WARPSMITH_RETURN_IF_ERROR(transaction.Execute("candidate_copy_result", {task.candidate_id}).status());
  return transaction.Execute("search_refresh_best", {task.search_id}).status();
}

absl::Status ResultRecorder::RecordIntake(store::Transaction& transaction, const queue::Task& task,
                                          const WorkerResult& result, std::vector<queue::CancelledTask>* cancelled) {
  WARPSMITH_ASSIGN_OR_RETURN(store::SearchRecord search, store::GetSearch(transaction, task.search_id));
  const v1::IntakeResult& intake = result.result.intake();
  const v1::ProblemSignature& signature = intake.signature();
  std::string error = intake.error();
  if (error.empty() && signature.tensors().empty()) {
    error = "intake found no tensor; Model.forward must take or return at least one";
  }
  if (error.empty() && signature.stochastic() && !search.intake.eval_mode()) {
    error =
        "two runs on the same inputs differ (live dropout, for instance), so no kernel can be judged; submit it again "
        "with --eval-mode";
  }
  if (!error.empty()) {
    return executor_
        .End(transaction, search, v1::SEARCH_STATE_FAILED, "intake",
             store::CleanText(fmt::format("problem {}: {}", search.name, error), 4000), clock_.WallMicros(), cancelled)
        .status();
  }
  const std::string body = signature.SerializeAsString();
  const std::string device = result.device.SerializeAsString();
  const std::string family = store::CleanLine(signature.operator_family(), 80);
  search.eager_ms = EagerOf(intake);
  std::string harness_rev;
  for (const v1::Baseline& baseline : intake.baselines()) {
    if (harness_rev.empty()) harness_rev = store::CleanLine(baseline.harness_rev(), 40);
  }
  WARPSMITH_RETURN_IF_ERROR(
      transaction.Execute("problem_set_signature", {search.problem_id, store::Bytes{body}, family}).status());
  WARPSMITH_ASSIGN_OR_RETURN(
      const store::ResultSet started,
      transaction.Execute("search_start",
                          {search.id, store::Bytes{body}, family, store::Bytes{device},
                           store::CleanLine(result.device.device_class(), 200), result.device.emulated(),
                           search.eager_ms, ReuseKey(search, result.device, harness_rev), harness_rev}));
  if (started.empty()) return absl::OkStatus();
  for (const v1::Baseline& baseline : intake.baselines()) {
    const std::string baseline_body = baseline.SerializeAsString();
    WARPSMITH_RETURN_IF_ERROR(
        transaction
            .Execute("baseline_insert",
                     {search.id, store::CleanLine(baseline.name(), 80), search.problem_id,
                      store::CleanLine(result.device.device_class(), 200),
                      store::CleanLine(baseline.device_name(), 200), baseline.emulated(),
                      store::CleanLine(baseline.harness_rev(), 40), store::CleanLine(baseline.pytorch_version(), 40),
                      Finite(baseline.median_ms()), Finite(baseline.spread()), store::Bytes{baseline_body}})
            .status());
  }
  WARPSMITH_RETURN_IF_ERROR(executor_.OpenFirstRound(transaction, search, clock_.WallMicros()));
  std::string line =
      fmt::format("intake done on {}: PyTorch takes {:.3g} ms{}", result.device.name(), search.eager_ms,
                  result.device.emulated() ? " (on this machine's CPU, beside the emulated device)" : "");
  if (signature.degenerate()) {
    line += "; warning: a trivial answer passes every check (" + signature.degenerate_reason() + "), nothing is banked";
  }
  return store::AddEvent(transaction, search.id, line);
}

absl::Status ResultRecorder::Narrate(store::Transaction& transaction, const std::string& search_id, int round) {
  WARPSMITH_ASSIGN_OR_RETURN(const std::vector<v1::RoundSummary> rounds, SummarizeRounds(transaction, search_id));
  for (const v1::RoundSummary& summary : rounds) {
    if (summary.round() == round) return store::AddEvent(transaction, search_id, ProgressLine(summary));
  }
  return absl::OkStatus();
}

absl::Status ResultRecorder::GiveUp(store::Transaction& transaction, const queue::Task& task,
                                    std::vector<queue::CancelledTask>* cancelled) {
  const std::string line =
      fmt::format("task {} ({}) was given up after {} failures and {} worker deaths: {}", task.id,
                  queue::TaskKindName(task.kind), task.failures, task.worker_deaths, task.last_error);
  spdlog::warn("search {}: {}", task.search_id, line);
  if (task.kind == queue::TaskKind::kIntake) {
    WARPSMITH_ASSIGN_OR_RETURN(const store::SearchRecord search, store::GetSearch(transaction, task.search_id));
    return executor_
        .End(transaction, search, v1::SEARCH_STATE_FAILED, "intake",
             store::CleanText(fmt::format("problem {}: intake did not end: {}", search.name, task.last_error), 4000),
             clock_.WallMicros(), cancelled)
        .status();
  }
  if (task.kind == queue::TaskKind::kEvaluate) {
    WARPSMITH_RETURN_IF_ERROR(
        transaction
            .Execute("candidate_set_given_up",
                     {task.candidate_id, task.worker_deaths > 0 ? "worker_deaths" : "quarantined", task.last_error})
            .status());
  }
  return store::AddEvent(transaction, task.search_id, line);
}

}  // namespace warpsmith::engine
