// Completions as JSON, every field of them, and back: the lines of a recording.
// Threading: pure functions. Units: as in Completion. Errors: InvalidArgument that names the field.
#ifndef WARPSMITH_LLM_GATEWAY_PROVIDERS_RECORDED_COMPLETION_H_
#define WARPSMITH_LLM_GATEWAY_PROVIDERS_RECORDED_COMPLETION_H_

#include "common/json.h"
#include "common/status.h"
#include "llm_gateway/providers/model_provider.h"

namespace warpsmith::gateway {

Json CompletionToJson(const Completion& completion);
// Fields that are missing have their default: an older recording stays readable.
absl::StatusOr<Completion> CompletionFromJson(const Json& json);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROVIDERS_RECORDED_COMPLETION_H_
