// Channels and servers with the settings that a cluster needs: keepalive on both sides, 16 MiB messages, no port reuse.
// Addresses: "host:port" or "unix:/path". Without TLS only loopback and Unix sockets are taken.
// Threading: safe from any thread.
#ifndef WARPSMITH_COMMON_GRPC_CHANNEL_H_
#define WARPSMITH_COMMON_GRPC_CHANNEL_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <vector>

#include "common/status.h"

namespace warpsmith {

std::shared_ptr<grpc::Channel> ConnectTo(const std::string& address);

struct RunningServer {
  std::unique_ptr<grpc::Server> server;
  int port = 0;  // the one bound, where the address asked for port 0; 0 for Unix sockets
};

// InvalidArgument for a non-loopback address; Unavailable "port in use" names the address and the remedy.
absl::StatusOr<RunningServer> StartServer(const std::string& address, const std::vector<grpc::Service*>& services);

// Shutdown with a deadline: streams still open after it are cancelled.
void StopServer(grpc::Server& server, double seconds);

}  // namespace warpsmith

#endif  // WARPSMITH_COMMON_GRPC_CHANNEL_H_
