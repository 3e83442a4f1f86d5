// What models of a configuration say of each other: names are unique, and fallbacks and recorded models name models
// that are there and can answer.
// Threading: pure. Errors: InvalidArgument with file:line, the field and the remedy.
#ifndef WARPSMITH_LLM_GATEWAY_CONFIG_REFERENCES_H_
#define WARPSMITH_LLM_GATEWAY_CONFIG_REFERENCES_H_

#include "llm_gateway/config/gateway_config.h"

namespace warpsmith::gateway {

absl::Status CheckReferences(const std::vector<ModelConfig>& models);
// The model that makes embeddings, if one is named.
absl::Status CheckNovelty(const std::vector<ModelConfig>& models, const std::string& name);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_CONFIG_REFERENCES_H_
