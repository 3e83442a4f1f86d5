#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>
#include <string>

#include "common/file.h"
#include "common/grpc_channel.h"
#include "common/log.h"
#include "common/shutdown.h"
#include "common/version.h"
#include "llm_gateway/http/curl_transport.h"
#include "llm_gateway/service/build_gateway.h"
#include "llm_gateway/service/grpc_service.h"

namespace warpsmith::gateway {
namespace {

constexpr char kFooter[] = R"(Without --config the catalog alone answers: hand-written recipes, no model, no key.

gateway.yaml:
  models:
    - name: local
      provider: openai_compatible
      base_url: http://127.0.0.1:8000/v1
      model: my-model
    - name: paid
      provider: openai_compatible
      base_url: https://api.openai.com/v1
      model: o3
      api_key_env: OPENAI_API_KEY
      reasoning_effort: high
    - name: script
      provider: command
      command: [/usr/local/bin/ask-a-model, --quiet]
    - name: catalog
      provider: catalog

Example:
  warpsmith-gateway --listen 127.0.0.1:7020 --config gateway.yaml)";

struct Flags {
  std::string listen = "127.0.0.1:7020";
  std::string port_file;
  std::string config;
};

absl::Status Serve(const Flags& flags) {
  GatewayConfig config = DefaultConfig();
  if (!flags.config.empty()) {
    WARPSMITH_ASSIGN_OR_RETURN(config, LoadConfig(flags.config));
  }
  WARPSMITH_ASSIGN_OR_RETURN(std::filesystem::path prompts, FindShare("llm_gateway/prompts"));
  WARPSMITH_ASSIGN_OR_RETURN(std::filesystem::path recipes, FindShare("llm_gateway/catalog/recipes"));
  CurlTransport transport;
  WARPSMITH_ASSIGN_OR_RETURN(GatewayParts parts, BuildGateway(config, prompts, recipes, transport, RealClock()));
  GrpcGatewayService service(*parts.gateway);
  WARPSMITH_ASSIGN_OR_RETURN(RunningServer running, StartServer(flags.listen, {&service}));
  if (!flags.port_file.empty()) {
    WARPSMITH_RETURN_IF_ERROR(WriteFileAtomically(flags.port_file, std::to_string(running.port) + "\n"));
  }
  spdlog::info("warpsmith-gateway {} listens on {}{}, {} models", kVersion, flags.listen,
               running.port > 0 ? " (port " + std::to_string(running.port) + ")" : "", config.models.size());
  while (WaitForSignal() == SIGHUP) spdlog::info("the configuration is read at the start only; restart to change it");
  spdlog::info("stopping");
  ExitAfter(10);
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
  app.add_option("--listen", flags.listen, "host:port or unix:/path; port 0 lets the system choose")
      ->capture_default_str();
  app.add_option("--port-file", flags.port_file, "written with the port once it listens");
  app.add_option("--config", flags.config, "gateway.yaml: the models and how to reach them");
  app.set_version_flag("--version", warpsmith::kVersion);
  app.footer(warpsmith::gateway::kFooter);
  CLI11_PARSE(app, argc, argv);
  warpsmith::BlockSignals();
  warpsmith::InitLogging("warpsmith-gateway");
  absl::Status status = warpsmith::gateway::Serve(flags);
  if (!status.ok()) {
    std::cerr << "warpsmith-gateway: " << warpsmith::Message(status) << "\n";
    return 1;
  }
  return 0;
}
