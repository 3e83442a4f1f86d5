#include "coordinator/engine/result_recorder.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cmath>
#include <map>

#include "common/hash.h"
#include "coordinator/bank/admission.h"
#include "coordinator/bank/verification.h"
#include "coordinator/engine/evaluation_recorder.h"
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
  struct FirstRecorded {
    const WorkerResult* result;
    std::string stage;
    bool refused;
  };
  std::vector<FirstRecorded> first_recorded;
  int stale = 0;
  absl::Status status = database_.Write([&](store::Transaction& transaction) -> absl::Status {
    recorded.clear();
    changed.clear();
    cancelled.clear();
    first_recorded.clear();
    stale = 0;
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
    std::vector<EvaluatedTask> evaluated;
    for (const queue::Task& task : done) {
      const auto sent = by_key.find({task.id, task.epoch});
      if (sent == by_key.end()) return Internal(fmt::format("task {} was completed at an epoch nobody sent", task.id));
      const WorkerResult& result = *sent->second;
      changed.insert(task.search_id);
      if (task.kind == queue::TaskKind::kEvaluate && result.result.has_evaluation()) {
        evaluated.push_back({&task, &result.result, result.worker_id});
        rounds.emplace(task.search_id, task.round);
      } else if (task.kind == queue::TaskKind::kIntake && result.result.has_intake()) {
        bool refused = false;
        WARPSMITH_RETURN_IF_ERROR(RecordIntake(transaction, task, result, &cancelled, &refused));
        first_recorded.push_back({&result, "", refused});
      } else {
        return InvalidArgument(fmt::format("worker {} sent a result of the wrong kind for a task of kind {}",
                                           result.worker_id, queue::TaskKindName(task.kind)));
      }
    }
    WARPSMITH_ASSIGN_OR_RETURN(const std::vector<StoredEvaluation> stored,
                               StoreEvaluations(transaction, queue_, executor_.settings(), evaluated));
    for (const StoredEvaluation& one : stored) {
      first_recorded.push_back({by_key.at({one.task->id, one.task->epoch}), one.task->stage, false});
      if (one.task->stage != "confirm") continue;
      WARPSMITH_ASSIGN_OR_RETURN(const store::SearchRecord search, store::GetSearch(transaction, one.task->search_id));
      WARPSMITH_RETURN_IF_ERROR(bank::RecordConfirmation(
          transaction, {search, one.task->candidate_id, one.id, one.evaluation,
                        by_key.at({one.task->id, one.task->epoch})->device, clock_.WallMicros()}));
    }
    for (const WorkerResult& result : results) {
      const std::string failure = FailureOf(result.result);
      if (failure.empty()) continue;
      WARPSMITH_ASSIGN_OR_RETURN(const std::vector<queue::Task> failed,
                                 queue_.Fail(transaction, KeyOf(result), failure));
      if (failed.empty()) ++stale;
      for (const queue::Task& task : failed) {
        changed.insert(task.search_id);
        if (task.state == queue::TaskState::kQuarantined) {
          WARPSMITH_RETURN_IF_ERROR(GiveUp(transaction, task, &cancelled));
        }
      }
    }
    WARPSMITH_RETURN_IF_ERROR(NarrateProgress(transaction, rounds));
    // A completion that was recorded before is as good as one recorded now; a failure that counted is done with too.
    std::set<queue::TaskKey> all_kept;
    for (const queue::Task& task : done) all_kept.insert({task.id, task.epoch});
    std::vector<queue::TaskKey> others;
    for (const queue::TaskKey& key : keys) {
      if (!all_kept.contains(key)) others.push_back(key);
    }
    if (!others.empty()) {
      WARPSMITH_ASSIGN_OR_RETURN(const std::vector<queue::TaskKey> earlier, queue_.AlreadyDone(transaction, others));
      all_kept.insert(earlier.begin(), earlier.end());
    }
    for (const queue::TaskKey& key : keys) recorded.push_back({key, all_kept.contains(key)});
    for (const auto& [key, result] : by_key) stale += all_kept.contains(key) ? 0 : 1;
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  for (const FirstRecorded& one : first_recorded) {
    const v1::TaskResult& result = one.result->result;
    if (result.has_evaluation()) observer_->OnEvaluation(one.result->worker_id, one.stage, result.evaluation());
    if (result.has_intake()) observer_->OnIntake(one.refused, result.seconds());
  }
  if (stale > 0) observer_->OnStale(stale);
  if (!cancelled.empty()) signals_.TasksCancelled(cancelled);
  for (const std::string& search_id : changed) signals_.SearchChanged(search_id);
  return recorded;
}

absl::Status ResultRecorder::RecordIntake(store::Transaction& transaction, const queue::Task& task,
                                          const WorkerResult& result, std::vector<queue::CancelledTask>* cancelled,
                                          bool* refused) {
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
  *refused = !error.empty();
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
  // A newer harness than the one that confirmed this problem's champions: they are measured again before this search
  // compares with them.
  search.device_class = store::CleanLine(result.device.device_class(), 200);
  WARPSMITH_ASSIGN_OR_RETURN(const int refreshed,
                             bank::RefreshIncumbents(transaction, queue_, search, harness_rev,
                                                     {"coordinator", executor_.settings().intake_deadline_seconds}));
  if (refreshed > 0) {
    WARPSMITH_RETURN_IF_ERROR(store::AddEvent(
        transaction, search.id,
        fmt::format("{} kernels of the bank for this problem were confirmed by an older harness; they are verified",
                    refreshed)));
  }
  std::string line =
      fmt::format("intake done on {}: PyTorch takes {:.3g} ms{}", result.device.name(), search.eager_ms,
                  result.device.emulated() ? " (on this machine's CPU, beside the emulated device)" : "");
  if (signature.degenerate()) {
    line += "; warning: a trivial answer passes every check (" + signature.degenerate_reason() + "), nothing is banked";
  }
  return store::AddEvent(transaction, search.id, line);
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
             store::CleanText(fmt::format("problem {}: its intake was tried {} times and did not end: {}", search.name,
                                          task.failures + task.worker_deaths, task.last_error),
                              4000),
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
