// GatewayClient over gRPC. Threading and errors: as gateway_client.h says.
#ifndef WARPSMITH_COORDINATOR_ENGINE_GRPC_GATEWAY_CLIENT_H_
#define WARPSMITH_COORDINATOR_ENGINE_GRPC_GATEWAY_CLIENT_H_

#include <memory>
#include <string>

#include "common/security_settings.h"
#include "coordinator/engine/gateway_client.h"

namespace warpsmith::engine {

std::unique_ptr<GatewayClient> ConnectToGateway(const std::string& address,
                                                const SecuritySettings& security = ProcessSecurity());

}  // namespace warpsmith::engine

#endif  // WARPSMITH_COORDINATOR_ENGINE_GRPC_GATEWAY_CLIENT_H_
