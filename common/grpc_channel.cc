#include "common/grpc_channel.h"

#include <fmt/format.h>
#include <grpc/support/log.h>
#include <grpcpp/health_check_service_interface.h>
#include <spdlog/spdlog.h>
#include <sys/un.h>

#include <chrono>
#include <cstdio>
#include <mutex>
#include <string_view>

#include "common/access.h"
#include "common/address.h"
#include "common/grpc_access.h"
#include "common/grpc_client_access.h"
#include "common/tls.h"
#include "common/tls_diagnosis.h"

namespace warpsmith {
namespace {

constexpr double kDiagnosisSeconds = 3;

// gRPC writes OpenSSL's words for every handshake that fails, on both sides; what has to be known is told by statuses.
void LogGrpc(gpr_log_func_args* entry) {
  if (std::string_view(entry->message).rfind("assertion failed", 0) == 0) {
    std::fprintf(stderr, "gRPC: %s:%d: %s\n", entry->file, entry->line, entry->message);
  } else {
    spdlog::debug("gRPC: {}", entry->message);
  }
}

void TakeGrpcLog() {
  static std::once_flag once;
  std::call_once(once, [] { gpr_set_log_function(LogGrpc); });
}

grpc::ChannelArguments ChannelSettings() {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 200);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 200);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 5'000);
  arguments.SetInt(GRPC_ARG_MAX_METADATA_SIZE, kMaxMetadataBytes);
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  return arguments;
}

absl::Status CheckSocketPath(const std::string& address) {
  if (IsUnixAddress(address) && address.size() - 5 >= sizeof(sockaddr_un::sun_path)) {
    return InvalidArgument(
        fmt::format("the socket path {} is longer than the {} bytes that Linux takes; use a shorter "
                    "folder",
                    address.substr(5), sizeof(sockaddr_un::sun_path) - 1));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> ClientCredentials(const std::string& address,
                                                                            const SecuritySettings& settings) {
  if (!IsUnixAddress(address) && settings.tls.client()) return TlsChannelCredentials(settings.tls);
  if (IsLocalAddress(address)) return grpc::InsecureChannelCredentials();
  return FailedPrecondition(fmt::format(
      "{} is not on this machine's loopback, and connections that leave the machine are encrypted; name the "
      "authorities that signed its certificate with --tls-ca or WARPSMITH_TLS_CA",
      address));
}

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> ServerCredentialsFor(const std::string& address,
                                                                              const ServerOptions& options) {
  WARPSMITH_RETURN_IF_ERROR(CheckSocketPath(address));
  WARPSMITH_RETURN_IF_ERROR(CheckListener(address, options));
  std::shared_ptr<grpc::ServerCredentials> credentials;
  if (!IsUnixAddress(address) && (options.tls.server() || !options.tls.key.empty())) {
    WARPSMITH_ASSIGN_OR_RETURN(credentials, TlsServerCredentials(options.tls));
  } else if (options.access) {
    // Without encryption, but able to ask for tokens, which gRPC's insecure credentials are not.
    credentials = grpc::experimental::LocalServerCredentials(IsUnixAddress(address) ? UDS : LOCAL_TCP);
  } else {
    return grpc::InsecureServerCredentials();
  }
  if (options.access) credentials->SetAuthMetadataProcessor(MakeAccessProcessor(options.access));
  return credentials;
}

}  // namespace

absl::Status CheckListener(const std::string& address, const ServerOptions& options) {
  if (IsLocalAddress(address)) return absl::OkStatus();
  if (!options.tls.server()) {
    return InvalidArgument(
        fmt::format("the address {} is not on this machine's loopback, so connections must be encrypted; give "
                    "--tls-certificate and --tls-key, or use 127.0.0.1:PORT or unix:PATH",
                    address));
  }
  if (!options.access) {
    return InvalidArgument(
        fmt::format("the address {} is not on this machine's loopback, so callers must show a token; give --tokens a "
                    "file of lines made by `warpsmith token new`",
                    address));
  }
  return absl::OkStatus();
}

std::shared_ptr<grpc::Channel> ConnectTo(const std::string& address) { return ConnectTo(address, ProcessSecurity()); }

std::shared_ptr<grpc::Channel> ConnectTo(const std::string& address, const SecuritySettings& settings) {
  TakeGrpcLog();
  auto credentials = ClientCredentials(address, settings);
  std::vector<ClientInterceptorFactory> interceptors;
  if (!credentials.ok()) {
    interceptors.push_back(RefuseCalls(credentials.status()));
  } else if (!settings.token_file.empty()) {
    interceptors.push_back(SendToken(std::make_shared<TokenFile>(settings.token_file)));
  } else {
    interceptors.push_back(SendUser());
  }
  return grpc::experimental::CreateCustomChannelWithInterceptors(
      address, credentials.ok() ? *credentials : grpc::InsecureChannelCredentials(), ChannelSettings(),
      std::move(interceptors));
}

absl::Status CheckConnection(const std::string& address, const SecuritySettings& settings) {
  WARPSMITH_RETURN_IF_ERROR(ClientCredentials(address, settings).status());
  return settings.token_file.empty() ? absl::OkStatus() : TokenFile(settings.token_file).Token().status();
}

absl::Status ExplainUnavailable(const std::string& address, const absl::Status& status) {
  return ExplainUnavailable(address, status, ProcessSecurity());
}

absl::Status ExplainUnavailable(const std::string& address, const absl::Status& status,
                                const SecuritySettings& settings) {
  if (!absl::IsUnavailable(status) || IsUnixAddress(address)) return status;
  const std::string found = DiagnoseTls(address, settings.tls, kDiagnosisSeconds);
  return found.empty() ? status : Unavailable(found);
}

absl::StatusOr<ServerOptions> ServerOptionsFrom(const SecuritySettings& settings) {
  ServerOptions options;
  options.tls = settings.tls;
  if (!settings.tokens.empty()) {
    WARPSMITH_ASSIGN_OR_RETURN(options.access, AccessControl::Open(settings.tokens));
  }
  return options;
}

absl::StatusOr<RunningServer> StartServer(const std::string& address, const std::vector<grpc::Service*>& services,
                                          ServerOptions options) {
  WARPSMITH_ASSIGN_OR_RETURN(const std::shared_ptr<grpc::ServerCredentials> credentials,
                             ServerCredentialsFor(address, options));
  TakeGrpcLog();
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  RunningServer running;
  int port = 0;
  builder.AddListeningPort(address, credentials, &port);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 15'000);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMaxMetadataBytes);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxStreamsPerConnection);
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  builder.SetMaxSendMessageSize(kMaxMessageBytes);
  if (!options.interceptors.empty()) builder.experimental().SetInterceptorCreators(std::move(options.interceptors));
  for (grpc::Service* service : services) builder.RegisterService(service);
  running.server = builder.BuildAndStart();
  if (!running.server || (!IsUnixAddress(address) && port == 0)) {
    return Unavailable(
        fmt::format("cannot listen on {}: the address is in use or not ours; stop what uses it or choose "
                    "another with --listen",
                    address));
  }
  running.port = IsUnixAddress(address) ? 0 : port;
  return running;
}

void StopServer(grpc::Server& server, double seconds) {
  if (auto* health = server.GetHealthCheckService()) health->SetServingStatus(false);
  server.Shutdown(std::chrono::system_clock::now() +
                  std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::duration<double>(seconds)));
}

}  // namespace warpsmith
