// One entry of gateway.yaml's `models`, read and checked field by field; which fields there are depends on the
// provider, and a field of another provider is an error. References to other models are checked elsewhere
// (references.h).
// Threading: pure. Units: as ModelConfig. Errors: InvalidArgument "file:line: models[i].field: what is wrong; remedy".
#ifndef WARPSMITH_LLM_GATEWAY_CONFIG_MODEL_READER_H_
#define WARPSMITH_LLM_GATEWAY_CONFIG_MODEL_READER_H_

#include <yaml-cpp/yaml.h>

#include <string>

#include "llm_gateway/config/gateway_config.h"

namespace warpsmith::gateway {

absl::StatusOr<ModelConfig> ReadModel(const YAML::Node& node, size_t index, const std::string& file);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_CONFIG_MODEL_READER_H_
