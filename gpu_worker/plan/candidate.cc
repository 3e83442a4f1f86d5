#include "gpu_worker/plan/candidate.h"

#include "gpu_worker/plan/gpu_features.h"
#include "gpu_worker/plan/plan_parser.h"
#include "gpu_worker/plan/source_check.h"

namespace warpsmith::plan {

absl::StatusOr<Candidate> ParseCandidate(std::string_view file) {
  WARPSMITH_ASSIGN_OR_RETURN(CheckedSource source, CheckSource(file));
  Candidate candidate;
  WARPSMITH_ASSIGN_OR_RETURN(candidate.plan, ParsePlan(source.plan_json, source.plan_line));
  candidate.code = std::move(source.code);
  candidate.includes = std::move(source.includes);
  candidate.needs_gpu = NeedsGpuFeature(candidate.plan);
  if (!candidate.needs_gpu.has_value()) candidate.needs_gpu = NeedsGpuFeature(candidate.code);
  return candidate;
}

}  // namespace warpsmith::plan
