// A gateway to be asked about its models: one that runs, or one made of a configuration for this question alone.
// Threading: one thread. Errors: Unavailable where the gateway does not answer, InvalidArgument for a configuration
// that is wrong; Cancelled where the operator interrupts.
#ifndef WARPSMITH_CLI_GATEWAY_ACCESS_H_
#define WARPSMITH_CLI_GATEWAY_ACCESS_H_

#include <functional>
#include <memory>
#include <string>

#include "cli/context.h"
#include "common/status.h"
#include "warpsmith/v1/gateway.pb.h"

namespace warpsmith::cli {

struct GatewayChoice {
  std::string address;  // of one that runs
  std::string config;   // gateway.yaml
};

class GatewayAccess {
 public:
  virtual ~GatewayAccess() = default;
  virtual std::string where() const = 0;  // "the gateway at 127.0.0.1:7020", "gateway.yaml"
  virtual absl::StatusOr<v1::EstimateReply> Estimate(const v1::EstimateRequest& request) = 0;
  // `on_check` as each model answers.
  virtual absl::Status Check(const v1::CheckModelsRequest& request,
                             const std::function<void(const v1::ModelCheck&)>& on_check) = 0;
};

// What was chosen; else the gateway of the data directory's cluster where it runs, else the data directory's
// gateway.yaml, else the catalog alone.
absl::StatusOr<std::unique_ptr<GatewayAccess>> OpenGateway(const Context& context, const GatewayChoice& choice);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_GATEWAY_ACCESS_H_
