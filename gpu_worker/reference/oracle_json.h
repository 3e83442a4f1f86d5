// Between the oracle's JSON and our messages.
// Threading: pure functions. Errors: Internal where the oracle's reply is not what it should be.
#ifndef WARPSMITH_GPU_WORKER_REFERENCE_ORACLE_JSON_H_
#define WARPSMITH_GPU_WORKER_REFERENCE_ORACLE_JSON_H_

#include <string>
#include <vector>

#include "common/json.h"
#include "gpu_worker/reference/oracle.h"

namespace warpsmith::reference {

Json SettingsToJson(const v1::IntakeSettings& settings);
absl::StatusOr<Json> SignatureToJson(const v1::ProblemSignature& signature);
Json BuffersToJson(const v1::ExecutionPlan& plan);
Json AcceptedToJson(const std::vector<v1::PrecisionClass>& accepted);

absl::StatusOr<v1::IntakeResult> IntakeFromJson(const Json& reply);
absl::StatusOr<std::vector<std::vector<SharedBuffer>>> PlacesFromJson(const Json& reply);
absl::StatusOr<JudgeReport> ReportFromJson(const Json& reply);
absl::StatusOr<ReferenceTime> TimeFromJson(const Json& reply);
absl::StatusOr<v1::Baseline> BaselineFromJson(const Json& reply);

}  // namespace warpsmith::reference

#endif  // WARPSMITH_GPU_WORKER_REFERENCE_ORACLE_JSON_H_
