// A Gateway out of its configuration: providers with their keys, prompts, and recipes where a catalog is configured.
// Threading: use from one thread. Errors: a broken prompt or recipe stops the start; a missing key does not, its model
// is listed as unusable with the reason.
#ifndef WARPSMITH_LLM_GATEWAY_SERVICE_BUILD_GATEWAY_H_
#define WARPSMITH_LLM_GATEWAY_SERVICE_BUILD_GATEWAY_H_

#include <filesystem>
#include <memory>

#include "common/clock.h"
#include "llm_gateway/config/gateway_config.h"
#include "llm_gateway/http/http_transport.h"
#include "llm_gateway/prompts/prompt_set.h"
#include "llm_gateway/service/gateway.h"

namespace warpsmith::gateway {

struct GatewayParts {
  std::unique_ptr<PromptSet> prompts;  // outlives the gateway
  std::unique_ptr<Gateway> gateway;
};

// `transport` and `clock` outlive the result. Folders: llm_gateway/prompts and llm_gateway/catalog/recipes.
absl::StatusOr<GatewayParts> BuildGateway(const GatewayConfig& config, const std::filesystem::path& prompts,
                                          const std::filesystem::path& recipes, HttpTransport& transport, Clock& clock);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_SERVICE_BUILD_GATEWAY_H_
