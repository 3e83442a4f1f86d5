// What a reply with ideas must look like, for providers that hold a model to a schema.
// Threading: immutable.
#ifndef WARPSMITH_LLM_GATEWAY_PROMPTS_IDEA_SCHEMA_H_
#define WARPSMITH_LLM_GATEWAY_PROMPTS_IDEA_SCHEMA_H_

#include "common/json.h"

namespace warpsmith::gateway {

inline constexpr char kIdeaSchemaName[] = "optimization_ideas";

// The strict subset that providers share: every property required, no other allowed, no bounds on lengths.
const Json& IdeaSchema();

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROMPTS_IDEA_SCHEMA_H_
