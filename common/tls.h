// TLS for gRPC from PEM files. Files are checked at start; after that they are looked at every few seconds, and new
// connections are made with what stands in them then (gRPC's file watcher, experimental in 1.51). TLS 1.2 and newer.
// Threading: safe from any thread. Errors: certificate_files.h's.
#ifndef WARPSMITH_COMMON_TLS_H_
#define WARPSMITH_COMMON_TLS_H_

#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>

#include <memory>

#include "common/status.h"
#include "common/transport_security.h"

namespace warpsmith {

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> TlsServerCredentials(const TransportSecurity& security);

// The server's certificate must be signed by `ca` and name the host of the address. Shows `certificate` where the
// server asks for one.
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> TlsChannelCredentials(const TransportSecurity& security);

}  // namespace warpsmith

#endif  // WARPSMITH_COMMON_TLS_H_
