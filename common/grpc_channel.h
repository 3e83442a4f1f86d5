// Channels and servers with the settings that a cluster needs: keepalive on both sides, limits on messages, streams and
// metadata, no port reuse; TLS and tokens wherever a connection leaves the machine.
// Addresses: "host:port" or "unix:/path". Without TLS only loopback and Unix sockets are taken; with TLS files given it
// is used on loopback too, and never on Unix sockets. Tokens must be asked for on every other listener.
// Threading: safe from any thread.
#ifndef WARPSMITH_COMMON_GRPC_CHANNEL_H_
#define WARPSMITH_COMMON_GRPC_CHANNEL_H_

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/server_interceptor.h>

#include <memory>
#include <string>
#include <vector>

#include "common/security_settings.h"
#include "common/status.h"

namespace warpsmith {

class AccessControl;

inline constexpr int kMaxMessageBytes = 16 << 20;
inline constexpr int kMaxMetadataBytes = 16 << 10;
inline constexpr int kMaxStreamsPerConnection = 4096;

// With the process's settings (SetProcessSecurity), or those given. Files that cannot be used, and addresses that TLS
// is needed for where there is none, make a channel whose calls all fail with a text that says so.
std::shared_ptr<grpc::Channel> ConnectTo(const std::string& address);
std::shared_ptr<grpc::Channel> ConnectTo(const std::string& address, const SecuritySettings& settings);
// What would make ConnectTo's calls fail before anything is sent.
absl::Status CheckConnection(const std::string& address, const SecuritySettings& settings);

// An Unavailable status with its reason, where TLS is it: a certificate that expired, is another host's or was signed
// by another authority, a client certificate that the server wants, TLS on one side only. Connects to look, for a few
// seconds at most; every other status comes back as it is.
absl::Status ExplainUnavailable(const std::string& address, const absl::Status& status);
absl::Status ExplainUnavailable(const std::string& address, const absl::Status& status,
                                const SecuritySettings& settings);

struct RunningServer {
  std::unique_ptr<grpc::Server> server;
  int port = 0;  // the one bound, where the address asked for port 0; 0 for Unix sockets
};

struct ServerOptions {
  TransportSecurity tls;
  std::shared_ptr<AccessControl> access;  // null: nobody is asked for a token
  std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> interceptors;
};
// Opens the tokens file, where there is one.
absl::StatusOr<ServerOptions> ServerOptionsFrom(const SecuritySettings& settings);

// InvalidArgument for a non-loopback address without TLS or tokens: what StartServer would say, before anything else is
// started.
absl::Status CheckListener(const std::string& address, const ServerOptions& options);

// InvalidArgument as CheckListener's; Unavailable "port in use" names the address and the
// remedy.
absl::StatusOr<RunningServer> StartServer(const std::string& address, const std::vector<grpc::Service*>& services,
                                          ServerOptions options = {});

// Shutdown with a deadline: streams still open after it are cancelled.
void StopServer(grpc::Server& server, double seconds);

}  // namespace warpsmith

#endif  // WARPSMITH_COMMON_GRPC_CHANNEL_H_
