#include "common/grpc_channel.h"

#include <fmt/format.h>
#include <grpcpp/health_check_service_interface.h>
#include <sys/un.h>

#include <chrono>

namespace warpsmith {
namespace {

constexpr int kMessageBytes = 16 << 20;

bool IsUnix(const std::string& address) { return address.rfind("unix:", 0) == 0; }

bool IsLoopback(const std::string& address) {
  return IsUnix(address) || address.rfind("127.", 0) == 0 || address.rfind("localhost:", 0) == 0 ||
         address.rfind("[::1]:", 0) == 0;
}

absl::Status CheckAddress(const std::string& address) {
  if (!IsLoopback(address)) {
    return InvalidArgument(
        fmt::format("the address {} is not on this machine's loopback, and connections are not encrypted yet; use "
                    "127.0.0.1:PORT or "
                    "unix:PATH",
                    address));
  }
  if (IsUnix(address) && address.size() - 5 >= sizeof(sockaddr_un::sun_path)) {
    return InvalidArgument(
        fmt::format("the socket path {} is longer than the {} bytes that Linux takes; use a shorter "
                    "folder",
                    address.substr(5), sizeof(sockaddr_un::sun_path) - 1));
  }
  return absl::OkStatus();
}

}  // namespace

std::shared_ptr<grpc::Channel> ConnectTo(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 200);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 200);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 5'000);
  arguments.SetMaxReceiveMessageSize(kMessageBytes);
  arguments.SetMaxSendMessageSize(kMessageBytes);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

absl::StatusOr<RunningServer> StartServer(const std::string& address, const std::vector<grpc::Service*>& services) {
  WARPSMITH_RETURN_IF_ERROR(CheckAddress(address));
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  RunningServer running;
  int port = 0;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 15'000);
  builder.SetMaxReceiveMessageSize(kMessageBytes);
  builder.SetMaxSendMessageSize(kMessageBytes);
  for (grpc::Service* service : services) builder.RegisterService(service);
  running.server = builder.BuildAndStart();
  if (!running.server || (!IsUnix(address) && port == 0)) {
    return Unavailable(
        fmt::format("cannot listen on {}: the address is in use or not ours; stop what uses it or choose "
                    "another with --listen",
                    address));
  }
  running.port = IsUnix(address) ? 0 : port;
  return running;
}

void StopServer(grpc::Server& server, double seconds) {
  if (auto* health = server.GetHealthCheckService()) health->SetServingStatus(false);
  server.Shutdown(std::chrono::system_clock::now() +
                  std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::duration<double>(seconds)));
}

}  // namespace warpsmith
