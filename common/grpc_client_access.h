// What a client adds to its calls: its token, or without one the user who runs it; and calls that are refused here.
// Threading: gRPC's; factories are safe from any thread.
#ifndef WARPSMITH_COMMON_GRPC_CLIENT_ACCESS_H_
#define WARPSMITH_COMMON_GRPC_CLIENT_ACCESS_H_

#include <grpcpp/support/client_interceptor.h>

#include <memory>
#include <string>

#include "common/access.h"

namespace warpsmith {

using ClientInterceptorFactory = std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>;

// Every call carries "authorization: Bearer TOKEN".
ClientInterceptorFactory SendToken(std::shared_ptr<TokenFile> tokens);
// Calls that change something say which user makes them, for the audit.
ClientInterceptorFactory SendUser();
// Every call ends with this status and nothing is sent.
ClientInterceptorFactory RefuseCalls(const absl::Status& status);

}  // namespace warpsmith

#endif  // WARPSMITH_COMMON_GRPC_CLIENT_ACCESS_H_
