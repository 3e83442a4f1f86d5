#include <malloc.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <iostream>
#include <memory>
#include <string>
#include <thread>

#include "common/file.h"
#include "common/grpc_channel.h"
#include "common/grpc_runtime.h"
#include "common/log.h"
#include "common/metrics/health_reporter.h"
#include "common/metrics/metrics_options.h"
#include "common/metrics/service_notice.h"
#include "common/security_options.h"
#include "common/service_manager.h"
#include "common/shutdown.h"
#include "common/version.h"
#include "llm_gateway/http/curl_transport.h"
#include "llm_gateway/service/build_gateway.h"
#include "llm_gateway/service/grpc_service.h"
#include "llm_gateway/service/rate_sharer.h"

namespace warpsmith::gateway {
namespace {

constexpr unsigned kMostLoops = 4;

constexpr char kFooter[] = R"(Without --config the catalog alone answers: hand-written recipes, no model, no key.

gateway.yaml (every field: docs/gateway.md):
  max_usd_per_day: 50
  models:
    - name: o3
      provider: openai
      model: o3
      api_key_env: OPENAI_API_KEY
      reasoning_effort: high
      efforts: [low, medium, high]
      background: true
      max_output_tokens: 32000
      fallback_unavailable: [gemini, local]
    - name: claude
      provider: anthropic
      model: claude-opus-4-8
      api_key_file: /run/secrets/anthropic
      thinking_budget: 16000
      requests_per_minute: 50
      tokens_per_minute: 400000
    - name: gemini
      provider: gemini
      model: gemini-2.5-pro
      api_key_env: GEMINI_API_KEY
    - name: local
      provider: openai_compatible
      base_url: http://127.0.0.1:8000/v1
      model: my-model
      price: {input: 0, output: 0}
    - name: script
      provider: command
      command: [/usr/local/bin/ask-a-model, --quiet]
    - name: replayed
      provider: recorded
      recording: calls.jsonl
      upstream: o3
      enabled: false
    - name: catalog
      provider: catalog

Signals: SIGHUP reads all keys again (key files that change are noticed without it); SIGTERM takes no more calls, lets
those under way end for --drain-seconds, and cancels the rest.

Example:
  warpsmith-gateway --listen 127.0.0.1:7020 --config gateway.yaml --data-dir /var/lib/warpsmith/gateway)";

// Threads that work on calls: each does some ten thousand a second.
int Loops() { return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, kMostLoops)); }

struct Flags {
  std::string listen = "127.0.0.1:7020";
  std::string port_file;
  std::string config;
  std::string data_dir;
  std::string coordinator;
  double drain_seconds = 4;
  metrics::MetricsOptions metrics{"127.0.0.1:9465", "", false};
  SecuritySettings security;
};

absl::Status Serve(const Flags& flags) {
  SetProcessSecurity(flags.security);
  WARPSMITH_ASSIGN_OR_RETURN(ServerOptions server_options, ServerOptionsFrom(flags.security));
  if (!flags.coordinator.empty()) WARPSMITH_RETURN_IF_ERROR(CheckConnection(flags.coordinator, flags.security));
  GatewayConfig config = DefaultConfig();
  if (!flags.config.empty()) {
    WARPSMITH_ASSIGN_OR_RETURN(config, LoadConfig(flags.config));
  }
  WARPSMITH_ASSIGN_OR_RETURN(GatewayFolders folders, GatewayFolders::Find());
  folders.data = flags.data_dir;
  CurlTransport transport(Loops());
  metrics::Telemetry telemetry;
  const auto counted = std::make_shared<GatewayMetrics>(telemetry);
  WARPSMITH_ASSIGN_OR_RETURN(GatewayParts parts, BuildGateway(config, folders, transport, RealClock(), counted.get()));
  telemetry.Add(counted);
  telemetry.readiness().Set("configuration", [] { return absl::OkStatus(); });
  GrpcGatewayService service(*parts.gateway, *parts.checker, *parts.estimator, *parts.pool);
  std::unique_ptr<RateSharer> sharer;
  if (!flags.coordinator.empty()) sharer = std::make_unique<RateSharer>(flags.coordinator, *parts.models);
  WARPSMITH_ASSIGN_OR_RETURN(RunningServer running, StartServer(flags.listen, {&service}, std::move(server_options)));
  if (sharer) {
    telemetry.readiness().Set("coordinator", [&sharer, &flags]() -> absl::Status {
      if (sharer->reachable()) return absl::OkStatus();
      return Unavailable("the coordinator at " + flags.coordinator + " does not answer");
    });
  }
  metrics::HealthReporter health(*running.server, telemetry.readiness());
  metrics::ServiceNotice notice(telemetry.readiness());
  WARPSMITH_ASSIGN_OR_RETURN(const std::unique_ptr<metrics::MetricsServer> metrics_server,
                             metrics::StartMetrics(flags.metrics, telemetry));
  if (!flags.port_file.empty()) {
    WARPSMITH_RETURN_IF_ERROR(WriteFileAtomically(flags.port_file, std::to_string(running.port) + "\n"));
  }
  spdlog::info("warpsmith-gateway {} listens on {}{}, {} models", kVersion, flags.listen,
               running.port > 0 ? " (port " + std::to_string(running.port) + ")" : "", config.models.size());
  while (WaitForSignal() == SIGHUP) {
    spdlog::info("reading all keys again");
    parts.models->ReloadKeys();
  }
  spdlog::info("stopping");
  ExitAfter(flags.drain_seconds + 10);
  telemetry.readiness().Set("configuration", [] { return Unavailable("the gateway is stopping"); });
  notice.Stop();
  health.Stop();
  if (!service.Drain(FromSeconds(flags.drain_seconds))) {
    spdlog::warn("{} calls have not ended within {} s and are cancelled", service.active_calls(), flags.drain_seconds);
  }
  service.CancelAll();
  StopServer(*running.server, 3);
  return absl::OkStatus();
}

}  // namespace
}  // namespace warpsmith::gateway

int main(int argc, char** argv) {
  warpsmith::gateway::Flags flags;
  CLI::App app{"Turns \"propose ideas\", \"implement this idea\" and \"repair this\" into calls to language models."};
  app.name("warpsmith-gateway");
  app.add_option("--listen", flags.listen,
                 "host:port or unix:/path; port 0 lets the system choose; TLS and tokens are needed off this machine's "
                 "loopback")
      ->capture_default_str();
  app.add_option("--port-file", flags.port_file, "written with the port once it listens");
  app.add_option("--config", flags.config, "gateway.yaml: the models and how to reach them");
  app.add_option("--data-dir", flags.data_dir,
                 "replies are kept here, so that a repeated call is not paid for again; without it in memory only");
  app.add_option("--coordinator", flags.coordinator,
                 "host:port or unix:/path: shares the models' rates with other gateways through it");
  app.add_option("--drain-seconds", flags.drain_seconds, "for calls under way to end after SIGTERM")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 86400.0));
  warpsmith::metrics::AddMetricsOptions(app, &flags.metrics);
  warpsmith::AddServerSecurityOptions(app, &flags.security);
  app.set_version_flag("--version", warpsmith::kVersion);
  app.footer(warpsmith::gateway::kFooter);
  CLI11_PARSE(app, argc, argv);
  // A few threads do nearly all the work; more arenas would only hold what the others have given back.
  mallopt(M_ARENA_MAX, 2);
  warpsmith::BlockSignals();
  warpsmith::FindServiceManager();
  warpsmith::InitLogging("warpsmith-gateway");
  warpsmith::InitGrpcRuntime();
  absl::Status status = warpsmith::gateway::Serve(flags);
  if (!status.ok()) {
    std::cerr << "warpsmith-gateway: " << warpsmith::Message(status) << "\n";
    return 1;
  }
  return 0;
}
