// Tokens in gRPC: the server's check of every call, sync and callback alike, before its handler runs; and who it was.
// Threading: safe from any thread.
#ifndef WARPSMITH_COMMON_GRPC_ACCESS_H_
#define WARPSMITH_COMMON_GRPC_ACCESS_H_

#include <grpcpp/security/auth_metadata_processor.h>
#include <grpcpp/server_context.h>

#include <memory>
#include <string>

#include "common/access.h"

namespace warpsmith {

// The header in which a client without a token says who runs it, "UID/USER": told, not proven.
inline constexpr char kUserMetadata[] = "warpsmith-user";

// Refuses with Unauthenticated or PermissionDenied; where the client showed a certificate, a worker's must have the
// token's name as its common name. Refusals are logged, once a second at most.
std::shared_ptr<grpc::AuthMetadataProcessor> MakeAccessProcessor(std::shared_ptr<const AccessControl> access);

struct Actor {
  std::string name;  // the token's, or "local:UID/USER"
  std::string role;  // the token's, or "local"
  std::string peer;  // "ipv4:10.0.0.7:50312", "unix:"
};
// Who makes this call. `access` null: no tokens are in use.
Actor ActorOf(const grpc::ServerContextBase& context, const AccessControl* access);

// The "authorization" metadata; empty: none.
std::string AuthorizationOf(const grpc::ServerContextBase& context);

}  // namespace warpsmith

#endif  // WARPSMITH_COMMON_GRPC_ACCESS_H_
