// Commands on the gateway and its models: `gateway check` and `estimate`. Each prints its result and returns the exit
// code.
// Threading: one thread.
#ifndef WARPSMITH_CLI_GATEWAY_COMMANDS_H_
#define WARPSMITH_CLI_GATEWAY_COMMANDS_H_

#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/gateway_access.h"
#include "cli/search_commands.h"

namespace warpsmith::cli {

// One tiny call a model; 1 where one of them does not answer.
int RunGatewayCheck(Context& context, const GatewayChoice& choice, const std::vector<std::string>& models);

// What a search with these settings would cost, before it starts.
int RunEstimate(Context& context, const GatewayChoice& choice, const std::vector<std::string>& files,
                const SearchOptions& options);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_GATEWAY_COMMANDS_H_
