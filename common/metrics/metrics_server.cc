#include "common/metrics/metrics_server.h"

#include <arpa/inet.h>
#include <civetweb.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <mutex>
#include <string_view>
#include <thread>

#include "common/file.h"
#include "common/log.h"

namespace warpsmith::metrics {
namespace {

constexpr char kText[] = "text/plain; charset=utf-8";
constexpr char kExposition[] = "text/plain; version=0.0.4; charset=utf-8";

absl::Status BadAddress(const std::string& address, const char* what) {
  return InvalidArgument(fmt::format(
      "--metrics-address {}: {}; give HOST:PORT such as 127.0.0.1:9464, or an empty one for none", address, what));
}

// As civetweb takes it.
absl::StatusOr<std::string> ListeningPort(const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) return BadAddress(address, "has no port");
  std::string host = address.substr(0, colon);
  const std::string port = address.substr(colon + 1);
  int number = -1;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error != std::errc() || end != port.data() + port.size() || number < 0 || number > 65535) {
    return BadAddress(address, "the port is no number from 0 to 65535");
  }
  if (host.empty()) return fmt::format("{}", number);
  if (host == "localhost") host = "127.0.0.1";
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  unsigned char bytes[16];
  const std::string bare = bracketed ? host.substr(1, host.size() - 2) : host;
  if (inet_pton(bracketed ? AF_INET6 : AF_INET, bare.c_str(), bytes) != 1) {
    return BadAddress(address, "the host is no IP address (one of IPv6 stands in brackets)");
  }
  return fmt::format("{}:{}", host, number);
}

// Connects and leaves.
void Touch(const std::string& host, int port) {
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  v4.sin_family = AF_INET;
  v6.sin6_family = AF_INET6;
  v4.sin_port = v6.sin6_port = htons(static_cast<uint16_t>(port));
  const bool is_v6 = inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1;
  if (!is_v6 && inet_pton(AF_INET, host.c_str(), &v4.sin_addr) != 1) v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int touching = socket(is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (touching < 0) return;
  const auto* address = is_v6 ? reinterpret_cast<const sockaddr*>(&v6) : reinterpret_cast<const sockaddr*>(&v4);
  (void)connect(touching, address, is_v6 ? sizeof(v6) : sizeof(v4));
  close(touching);
}

int LogServer(const mg_connection*, const char* message) {
  spdlog::debug("metrics: {}", message);
  return 1;
}

int Send(mg_connection* connection, int status, const char* reason, const char* type, const std::string& body,
         bool with_body) {
  const std::string head = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\nX-Content-Type-Options: "
      "nosniff\r\nConnection: close\r\n\r\n",
      status, reason, type, body.size());
  mg_write(connection, head.data(), head.size());
  if (with_body) mg_write(connection, body.data(), body.size());
  return status;
}

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Start(const std::string& address, Telemetry& telemetry) {
  WARPSMITH_ASSIGN_OR_RETURN(const std::string listening, ListeningPort(address));
  static std::once_flag initialised;
  std::call_once(initialised, [] { mg_init_library(0); });
  std::unique_ptr<MetricsServer> server(new MetricsServer(telemetry));
  mg_callbacks callbacks{};
  callbacks.log_message = LogServer;
  // A scraper, a probe and a person at once; whoever is slow gives way after a few seconds.
  const char* options[] = {"listening_ports",
                           listening.c_str(),
                           "num_threads",
                           "3",
                           "request_timeout_ms",
                           "5000",
                           "linger_timeout_ms",
                           "100",
                           "enable_keep_alive",
                           "no",
                           nullptr};
  server->context_ = mg_start(&callbacks, server.get(), options);
  if (server->context_ == nullptr) {
    return Unavailable(fmt::format(
        "cannot listen on {} for metrics: the address is in use or not ours; stop what uses it or choose another with "
        "--metrics-address",
        address));
  }
  mg_server_port ports[1];
  if (mg_get_server_ports(server->context_, 1, ports) > 0) server->port_ = ports[0].port;
  // Without the port and the brackets.
  const size_t colon = listening.rfind(':');
  if (colon != std::string::npos) server->host_ = listening.substr(0, colon);
  std::erase_if(server->host_, [](char c) { return c == '[' || c == ']'; });
  mg_set_request_handler(server->context_, "/", &MetricsServer::Answer, server.get());
  return server;
}

MetricsServer::~MetricsServer() {
  if (context_ == nullptr) return;
  // The thread that listens looks up every two seconds by itself; a connection makes it look now.
  std::atomic<bool> stopped{false};
  std::thread waker([&] {
    while (!stopped) {
      Touch(host_, port_);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  mg_stop(context_);
  stopped = true;
  waker.join();
}

int MetricsServer::Answer(mg_connection* connection, void* self) {
  return static_cast<const MetricsServer*>(self)->Respond(connection);
}

int MetricsServer::Respond(mg_connection* connection) const {
  const mg_request_info* request = mg_get_request_info(connection);
  const std::string_view method = request->request_method;
  const std::string_view path = request->local_uri == nullptr ? "" : request->local_uri;
  const bool get = method == "GET";
  if (!get && method != "HEAD") {
    return Send(connection, 405, "Method Not Allowed", kText, "only GET and HEAD\n", true);
  }
  if (path == "/metrics") return Send(connection, 200, "OK", kExposition, telemetry_.Page(), get);
  if (path == "/healthz") return Send(connection, 200, "OK", kText, "ok\n", get);
  if (path == "/readyz") {
    const Readiness::Report report = telemetry_.readiness().Look();
    if (report.ready) return Send(connection, 200, "OK", kText, report.text, get);
    return Send(connection, 503, "Service Unavailable", kText, report.text, get);
  }
  return Send(connection, 404, "Not Found", kText, "there are /metrics, /healthz and /readyz\n", get);
}

absl::StatusOr<std::unique_ptr<MetricsServer>> StartMetrics(const MetricsOptions& options, Telemetry& telemetry) {
  if (options.address.empty()) return nullptr;
  auto server = MetricsServer::Start(options.address, telemetry);
  if (!server.ok()) {
    if (options.given || !absl::IsUnavailable(server.status())) return server.status();
    spdlog::warn("there are no metrics: {}", Message(server.status()));
    return nullptr;
  }
  if (!options.port_file.empty()) {
    WARPSMITH_RETURN_IF_ERROR(WriteFileAtomically(options.port_file, fmt::format("{}\n", (*server)->port())));
  }
  spdlog::info("metrics and health at port {} of {}", (*server)->port(), options.address);
  return server;
}

std::string AddressOfNumber(const std::string& address, int number) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) return address;
  int port = 0;
  const char* const end = address.data() + address.size();
  const auto [stopped, error] = std::from_chars(address.data() + colon + 1, end, port);
  if (error != std::errc() || stopped != end || port == 0 || port + number > 65535) return address;
  return fmt::format("{}:{}", address.substr(0, colon), port + number);
}

}  // namespace warpsmith::metrics
