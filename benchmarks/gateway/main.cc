// What the gateway adds to a call of a model: see benchmarks/gateway.sh.
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>
#include <thread>

#include "benchmarks/gateway/measure.h"
#include "benchmarks/gateway/model_server.h"
#include "benchmarks/gateway/target.h"
#include "common/child_process.h"
#include "common/file.h"
#include "common/grpc_runtime.h"
#include "common/json.h"

namespace warpsmith::bench {
namespace {

constexpr double kOpenRate = 500;
constexpr int kStreams = 1000;

struct Flags {
  double seconds = 3;
  bool json = false;
  std::string json_file;
  std::string only;
};

std::string Milliseconds(double seconds) { return fmt::format("{:.3f}", 1e3 * seconds); }

Json Told(const Result& result) {
  return {{"requests", result.requests},
          {"failed", result.failed},
          {"per_second", result.per_second()},
          {"p50_ms", 1e3 * result.p50},
          {"p99_ms", 1e3 * result.p99},
          {"first_p50_ms", 1e3 * result.first_p50},
          {"first_p99_ms", 1e3 * result.first_p99}};
}

// The server in a process of its own, made before this one has threads.
int StartServer(pid_t& pid) {
  int port = 0;
  const int listener = Listen(port);
  if (listener < 0) return 0;
  pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Serve(listener, {});
  }
  close(listener);
  return port;
}

class GatewayProgram {
 public:
  static absl::StatusOr<std::unique_ptr<GatewayProgram>> Start(const std::string& config, const std::string& address) {
    auto program = std::make_unique<GatewayProgram>();
    WARPSMITH_ASSIGN_OR_RETURN(const std::filesystem::path file, FindProgram("warpsmith-gateway"));
    ChildOptions options;
    options.arguments = {file.string(), "--config", config, "--listen", address};
    WARPSMITH_ASSIGN_OR_RETURN(program->child_, ChildProcess::Start(options));
    const std::string socket = address.substr(5);
    for (int i = 0; i < 500 && !std::filesystem::exists(socket); ++i)
      RealClock().SleepFor(std::chrono::milliseconds(20));
    return program;
  }
  int pid() const { return child_->pid(); }

 private:
  std::unique_ptr<ChildProcess> child_;
};

std::string Config(int port) {
  std::string text = "models:\n";
  for (const char* name : {"plain", "stream"}) {
    text += fmt::format(
        "  - {{name: {}, provider: openai_compatible, base_url: \"http://127.0.0.1:{}/{}/v1\", model: x, concurrency: "
        "4096, max_output_tokens: 8000, price: {{input: 1, output: 4}}}}\n",
        name, port, name);
  }
  return text;
}

// A line: what, then direct beside each way through the gateway, and the difference that each makes.
void Print(const std::string& what, const std::vector<std::pair<std::string, Result>>& results, bool first) {
  std::cout << what << "\n";
  const auto value = [first](const Result& result, bool p99) {
    return first ? (p99 ? result.first_p99 : result.first_p50) : (p99 ? result.p99 : result.p50);
  };
  const Result& direct = results.front().second;
  for (const auto& [name, result] : results) {
    std::cout << fmt::format("  {:<11} {:>9.0f} requests/s   p50 {:>9} ms   p99 {:>9} ms", name, result.per_second(),
                             Milliseconds(value(result, false)), Milliseconds(value(result, true)));
    if (name != "direct") {
      std::cout << fmt::format("   added p50 {:>9} p99 {:>9}   1/{:.1f} of direct's rate",
                               Milliseconds(value(result, false) - value(direct, false)),
                               Milliseconds(value(result, true) - value(direct, true)),
                               direct.per_second() / std::max(1e-9, result.per_second()));
    }
    if (result.failed > 0) std::cout << fmt::format("   {} FAILED", result.failed);
    std::cout << "\n";
  }
}

absl::Status Run(const Flags& flags, int port, pid_t server) {
  WARPSMITH_ASSIGN_OR_RETURN(const TemporaryDirectory folder, TemporaryDirectory::Create("bench-gateway"));
  const std::string config = (folder.path() / "gateway.yaml").string();
  const std::string address = "unix:" + (folder.path() / "g.sock").string();
  WARPSMITH_RETURN_IF_ERROR(WriteFileAtomically(config, Config(port)));
  WARPSMITH_ASSIGN_OR_RETURN(const std::unique_ptr<GatewayProgram> program, GatewayProgram::Start(config, address));
  WARPSMITH_ASSIGN_OR_RETURN(InProcess layers, InProcessTarget(config));
  std::vector<std::unique_ptr<Target>> targets;
  targets.push_back(DirectTarget(port, layers.body));
  targets.push_back(std::move(layers.target));
  targets.push_back(RpcTarget(address));
  targets.push_back(OneStreamTarget(address));

  std::ostream& out = std::cout;
  const double start_megabytes = ResidentMegabytes(program->pid());
  if (!flags.json) {
    out << fmt::format("{} cores; requests of {:.1f} KB, answers of 2.6 KB; the gateway has {:.0f} MB at its start\n\n",
                       std::thread::hardware_concurrency(), static_cast<double>(layers.body.size()) / 1e3,
                       start_megabytes);
  }
  Json json = {{"cores", std::thread::hardware_concurrency()}, {"request_bytes", layers.body.size()}};
  const auto measure = [&](const std::string& key, const std::string& what, bool first, auto load) {
    if (!flags.only.empty() && key != flags.only) return;
    std::vector<std::pair<std::string, Result>> results;
    std::string took;
    for (const auto& target : targets) {
      const double gateway_cpu = CpuSeconds(program->pid()), own_cpu = CpuSeconds(getpid()),
                   server_cpu = CpuSeconds(server);
      results.emplace_back(target->name(), load(*target));
      const Result& result = results.back().second;
      const auto a_request = [&result](double seconds) {
        return 1e6 * seconds / static_cast<double>(std::max<int64_t>(1, result.requests));
      };
      const double own = a_request(CpuSeconds(getpid()) - own_cpu), model = a_request(CpuSeconds(server) - server_cpu);
      const double gateway = a_request(CpuSeconds(program->pid()) - gateway_cpu);
      Json told = Told(result);
      told["cpu_us_per_request"] = {{"this_program", own}, {"model_server", model}, {"gateway", gateway}};
      took += fmt::format("  CPU a request, {}: {:.0f} us in this program, {:.0f} us in the model server",
                          target->name(), own, model);
      if (target->name() == kRpc || target->name() == kOneStream) {
        const double megabytes = ResidentMegabytes(program->pid());
        told["gateway_resident_mb"] = megabytes;
        took += fmt::format(", {:.0f} us in the gateway, which has {:.0f} MB", gateway, megabytes);
      }
      took += "\n";
      json[key][target->name()] = std::move(told);
    }
    if (flags.json) return;
    Print(what, results, first);
    out << took << "\n" << std::flush;
  };
  measure("open_500", "500 requests a second", false, [&](Target& t) { return Open(t, kOpenRate, flags.seconds); });
  for (const int concurrency : {50, 200, 1000}) {
    measure(fmt::format("closed_{}", concurrency), fmt::format("{} always under way", concurrency), false,
            [&](Target& t) { return Closed(t, concurrency, flags.seconds); });
  }
  measure("streams_1000",
          "time to the first chunk with 1,000 streams open, each with a chunk every 200 ms\n"
          "  (gRPC hands on whole implementations: its first message is the last chunk's, 8 s after the first)",
          true, [&](Target& t) { return WithStreams(t, kStreams, 50, flags.seconds); });
  if (flags.json) out << json.dump(2) << "\n";
  if (!flags.json_file.empty()) WARPSMITH_RETURN_IF_ERROR(WriteFileAtomically(flags.json_file, json.dump(2) + "\n"));
  return absl::OkStatus();
}

}  // namespace
}  // namespace warpsmith::bench

int main(int argc, char** argv) {
  warpsmith::InitGrpcRuntime();
  warpsmith::bench::Flags flags;
  CLI::App app{"What the gateway adds to a call of a model, beside the same call made directly."};
  app.name("bench_gateway");
  app.add_option("--seconds", flags.seconds, "of each measurement")
      ->capture_default_str()
      ->check(CLI::Range(0.2, 600.0));
  app.add_flag("--json", flags.json, "print JSON");
  app.add_option("--json-file", flags.json_file, "write JSON besides");
  app.add_option("--only", flags.only, "one measurement: open_500, closed_50, closed_200, closed_1000 or streams_1000");
  CLI11_PARSE(app, argc, argv);
  signal(SIGPIPE, SIG_IGN);
  pid_t server = 0;
  const int port = warpsmith::bench::StartServer(server);
  if (port == 0 || server < 0) {
    std::cerr << "bench_gateway: the model server does not start\n";
    return 1;
  }
  const absl::Status status = warpsmith::bench::Run(flags, port, server);
  kill(server, SIGKILL);
  if (!status.ok()) {
    std::cerr << "bench_gateway: " << warpsmith::Message(status) << "\n";
    return 1;
  }
  return 0;
}
