#include "coordinator/engine/assignments.h"

#include <fmt/format.h>

#include "coordinator/bank/bank.h"
#include "coordinator/store/records.h"

namespace warpsmith::engine {

absl::StatusOr<v1::Assignment> MakeAssignment(store::Transaction& transaction, const queue::Task& task) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::SearchRecord search, store::GetSearch(transaction, task.search_id));
  v1::Assignment assignment;
  assignment.set_task_id(task.id);
  assignment.set_epoch(task.epoch);
  assignment.set_deadline_seconds(task.deadline_seconds);
  if (task.kind == queue::TaskKind::kIntake) {
    v1::IntakeTask* intake = assignment.mutable_intake();
    intake->set_problem_name(search.name);
    intake->set_problem_sha256(search.problem_sha256);
    *intake->mutable_settings() = search.intake;
    intake->set_baselines(search.settings.baselines());
    return assignment;
  }
  WARPSMITH_ASSIGN_OR_RETURN(const store::CandidateRecord candidate,
                             store::GetCandidate(transaction, task.candidate_id));
  if (candidate.source_sha256.empty()) return Internal(fmt::format("candidate {} has no source", candidate.id));
  v1::EvaluateTask* evaluate = assignment.mutable_evaluate();
  evaluate->set_problem_id(search.problem_id);
  evaluate->set_problem_name(search.name);
  evaluate->set_problem_sha256(search.problem_sha256);
  *evaluate->mutable_signature() = search.signature;
  WARPSMITH_ASSIGN_OR_RETURN(const std::vector<v1::Baseline> baselines, store::GetBaselines(transaction, search.id));
  for (const v1::Baseline& baseline : baselines) *evaluate->add_baselines() = baseline;
  *evaluate->mutable_settings() = search.intake;
  evaluate->set_candidate_sha256(candidate.source_sha256);
  for (int accepted : search.settings.accepted()) evaluate->add_accepted(static_cast<v1::PrecisionClass>(accepted));
  if (evaluate->accepted().empty()) evaluate->add_accepted(v1::PRECISION_CLASS_FP32);
  evaluate->set_stage(task.stage.empty() ? "measure" : task.stage);
  if (evaluate->stage() == "confirm") {
    WARPSMITH_ASSIGN_OR_RETURN(const bank::Incumbent incumbent, bank::FindIncumbent(transaction, search, candidate.id));
    evaluate->set_incumbent_sha256(incumbent.source_sha256);
    evaluate->set_incumbent_ms(incumbent.median_ms);
  } else if (search.best_candidate_id != candidate.id) {
    evaluate->set_incumbent_ms(search.best_ms);
  }
  evaluate->set_seed(task.seed);
  evaluate->set_frozen_weights(search.settings.frozen_weights());
  return assignment;
}

}  // namespace warpsmith::engine
