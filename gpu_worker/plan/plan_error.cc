#include "gpu_worker/plan/plan_error.h"

#include <fmt/format.h>

#include "absl/strings/cord.h"

namespace warpsmith::plan {
namespace {

constexpr char kPayload[] = "warpsmith/plan_error_reason";

}  // namespace

absl::Status PlanError(std::string_view reason, std::string_view message) {
  auto code =
      reason == reason::kOutOfMemory ? absl::StatusCode::kResourceExhausted : absl::StatusCode::kInvalidArgument;
  absl::Status status = MakeStatus(code, message);
  status.SetPayload(kPayload, absl::Cord(std::string(reason)));
  return status;
}

absl::Status AnnotatePlanError(const absl::Status& status, std::string_view prefix) {
  if (status.ok()) return status;
  std::string message = fmt::format("{}: {}", prefix, Message(status));
  std::string reason = PlanErrorReason(status);
  return reason.empty() ? MakeStatus(status.code(), message) : PlanError(reason, message);
}

std::string PlanErrorReason(const absl::Status& status) {
  auto payload = status.GetPayload(kPayload);
  return payload.has_value() ? std::string(*payload) : std::string();
}

v1::Outcome PlanErrorOutcome(const absl::Status& status) {
  std::string reason = PlanErrorReason(status);
  if (reason.empty()) return v1::OUTCOME_INFRA_ERROR;
  return reason == reason::kOutOfMemory ? v1::OUTCOME_OUT_OF_MEMORY : v1::OUTCOME_PLAN_ERROR;
}

}  // namespace warpsmith::plan
