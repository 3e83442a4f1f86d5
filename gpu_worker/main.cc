// warpsmith-worker: one process a device, and where it is given several GPUs the supervisor of one worker a GPU.
// Parses, wires, waits.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "common/clock.h"
#include "common/file.h"
#include "common/grpc_channel.h"
#include "common/grpc_runtime.h"
#include "common/hash.h"
#include "common/log.h"
#include "common/metrics/metrics_options.h"
#include "common/metrics/service_notice.h"
#include "common/security_options.h"
#include "common/service_manager.h"
#include "common/shutdown.h"
#include "common/version.h"
#include "gpu_worker/evaluate/local_evaluator.h"
#include "gpu_worker/exit_code.h"
#include "gpu_worker/gpu_selection.h"
#include "gpu_worker/metrics/observed_connector.h"
#include "gpu_worker/metrics/observed_task_runner.h"
#include "gpu_worker/session/evaluation_task_runner.h"
#include "gpu_worker/session/worker.h"
#include "gpu_worker/supervisor.h"

namespace warpsmith {
namespace {

struct Flags {
  std::string coordinator;
  std::string worker_id;
  std::string data_dir;
  std::string gpus;
  std::string device = "auto";
  int slots = 2;
  double drain_seconds = 60;
  std::string node;
  metrics::MetricsOptions metrics{"127.0.0.1:9466", "", false};
  SecuritySettings security;
};

std::string HostName() {
  char host[256] = "worker";
  gethostname(host, sizeof host - 1);
  return host;
}

std::unique_ptr<cuda::DeviceMonitor> Monitor(const std::string& uuid) {
  auto monitor = cuda::MakeNvmlMonitor(uuid);
  return monitor.ok() ? *std::move(monitor) : nullptr;
}

// Blocks until a signal, or until `life` ends by itself and sends one.
template <typename Life>
void RunUntilSignal(double drain_seconds, Life life) {
  std::jthread thread([&](std::stop_token stop) {
    life(stop);
    kill(getpid(), SIGTERM);  // over by itself: main waits for this
  });
  WaitForSignal();
  TellServiceManager("STOPPING=1\nSTATUS=stopping");
  ExitAfter(drain_seconds);
  thread.request_stop();
  thread.join();
}

// A device that is not to be trusted turns every candidate into an infra_error, which others could evaluate meanwhile:
// the worker leaves, with a status that tells its supervisor whether the device may come back.
class HealthWatch {
 public:
  HealthWatch(const evaluate::Evaluator& evaluator, std::stop_source life)
      : thread_([this, &evaluator, life](std::stop_token stop) mutable { Watch(evaluator, life, stop); }) {}

  int exit_code() const { return exit_code_; }

 private:
  void Watch(const evaluate::Evaluator& evaluator, std::stop_source& life, const std::stop_token& stop) {
    int wedged_looks = 0;
    while (!stop.stop_requested() && exit_code_ == 0) {
      RealClock().SleepFor(kHealthLook);
      const absl::Status health = evaluator.Health();
      wedged_looks = health.code() == absl::StatusCode::kFailedPrecondition ? wedged_looks + 1 : 0;
      if (health.code() == absl::StatusCode::kDataLoss) exit_code_ = kExitGpuRetired;
      if (wedged_looks >= kWedgedLooks) exit_code_ = kExitGpuWedged;
      if (exit_code_ != 0) spdlog::error("leaving: {}", Message(health));
    }
    if (exit_code_ != 0) life.request_stop();
  }

  static constexpr std::chrono::milliseconds kHealthLook{500};
  static constexpr int kWedgedLooks = 60;  // what hangs now and then goes by itself
  std::atomic<int> exit_code_{0};
  std::jthread thread_;
};

// What the metrics ask, until they are told to forget it.
class ShownParts {
 public:
  ShownParts(metrics::Telemetry& telemetry, metrics::WorkerMetrics& metrics, metrics::WorkerSources sources)
      : metrics_(metrics) {
    telemetry.readiness().Set("coordinator", [connected = sources.connected] {
      return connected() ? absl::OkStatus() : Unavailable("the coordinator has not answered on an open stream");
    });
    telemetry.readiness().Set("device", sources.health);
    metrics_.SetSources(std::move(sources));
    telemetry_ = &telemetry;
  }
  ~ShownParts() {
    const auto stopping = [] { return Unavailable("the worker is stopping"); };
    telemetry_->readiness().Set("coordinator", stopping);
    telemetry_->readiness().Set("device", stopping);
    metrics_.SetSources({});
  }

 private:
  metrics::Telemetry* telemetry_;
  metrics::WorkerMetrics& metrics_;
};

int Work(const Flags& flags) {
  metrics::Telemetry telemetry;
  const auto counted = std::make_shared<metrics::WorkerMetrics>(telemetry, RealClock());
  telemetry.Add(counted);
  telemetry.readiness().Set("device", [] { return Unavailable("it is being looked at"); });
  const auto metrics_server = metrics::StartMetrics(flags.metrics, telemetry);
  if (!metrics_server.ok()) {
    spdlog::error("{}", Message(metrics_server.status()));
    return 1;
  }
  const metrics::ServiceNotice notice(telemetry.readiness());
  evaluate::LocalEvaluatorOptions local_options;
  local_options.observer = counted.get();
  local_options.worker_id = flags.worker_id;
  local_options.device = flags.device;
  local_options.cache_folder = std::filesystem::path(flags.data_dir) / "cache";
  auto local = evaluate::LocalEvaluator::Create(local_options);
  if (!local.ok()) {
    spdlog::error("{}", Message(local.status()));
    return 1;
  }
  auto spool = session::ResultSpool::Open(std::filesystem::path(flags.data_dir) / "spool");
  if (!spool.ok()) {
    spdlog::error("{}", Message(spool.status()));
    return 1;
  }
  const v1::DeviceDescription& device = (*local)->device();
  const char* toolkit = device.toolkit() ? ", NVRTC checks sm_89 and sm_90" : ", without a CUDA toolkit";
  spdlog::info("worker {} on {}{}", flags.worker_id,
               device.emulated() ? "the emulated device" : device.name() + " " + device.uuid(),
               device.emulated() ? toolkit : "");
  const auto grpc_connector = session::MakeGrpcConnector(flags.coordinator);
  metrics::ObservedConnector connector(*grpc_connector);
  session::EvaluationTaskRunner evaluation_runner((*local)->evaluator(), connector);
  metrics::ObservedTaskRunner runner(evaluation_runner, *counted, RealClock());
  const std::string gpu = std::to_string((*local)->device_number());
  counted->SetGpu(gpu);
  auto monitor = device.emulated() ? nullptr : Monitor(device.uuid());
  const metrics::DeviceSampler sampler(std::move(monitor));
  const ShownParts shown(telemetry, *counted,
                         {[&] { return (*local)->evaluator().Health(); }, [&] { return sampler.Last(); },
                          [&] { return (*spool)->size(); }, [&] { return connector.connected(); }});
  session::WorkerOptions options;
  options.worker_id = flags.worker_id;
  options.boot_id = RandomHex(8);
  options.device = device;
  options.slots = flags.slots;
  options.drain_seconds = flags.drain_seconds;
  options.node = flags.node;
  options.gpu = gpu;
  options.condition = [&] { return counted->Condition(); };
  session::Worker worker(options, connector, runner, **spool, RealClock());
  int code = 0;
  RunUntilSignal(flags.drain_seconds + 30, [&](std::stop_token stop) {
    std::stop_source life;
    const std::stop_callback pass_on(stop, [&life] { life.request_stop(); });
    const HealthWatch watch((*local)->evaluator(), life);
    worker.Run(life.get_token());
    code = watch.exit_code();
  });
  return code;
}

int Supervise(const Flags& flags, const std::vector<cuda::GpuDevice>& gpus, cuda::GpuProbe& probe) {
  auto program = FindProgram("warpsmith-worker");
  if (!program.ok()) {
    spdlog::error("{}", Message(program.status()));
    return 1;
  }
  SupervisorOptions options;
  options.stop_limit = flags.drain_seconds + 40;
  const std::string base = flags.worker_id.empty() ? HostName() : flags.worker_id;
  for (const cuda::GpuDevice& gpu : gpus) {
    SupervisedWorker worker;
    worker.worker_id = fmt::format("{}-{}", base, gpu.ordinal);
    worker.gpu_uuid = gpu.uuid;
    worker.gpu = fmt::format("GPU {} ({})", gpu.ordinal, gpu.name);
    worker.arguments = {program->string(),
                        "--coordinator",
                        flags.coordinator,
                        "--worker-id",
                        worker.worker_id,
                        "--data-dir",
                        (std::filesystem::path(flags.data_dir) / fmt::format("gpu{}", gpu.ordinal)).string(),
                        "--device",
                        fmt::format("cuda:{}", gpu.ordinal),
                        "--slots",
                        std::to_string(flags.slots),
                        "--drain-seconds",
                        fmt::format("{}", flags.drain_seconds),
                        "--node",
                        flags.node};
    if (flags.metrics.given) {
      worker.arguments.insert(worker.arguments.end(),
                              {"--metrics-address", metrics::AddressOfNumber(flags.metrics.address, gpu.ordinal)});
    }
    for (const auto& [flag, file] :
         {std::pair("--tls-ca", flags.security.tls.ca), std::pair("--tls-certificate", flags.security.tls.certificate),
          std::pair("--tls-key", flags.security.tls.key), std::pair("--token-file", flags.security.token_file)}) {
      if (!file.empty()) worker.arguments.insert(worker.arguments.end(), {flag, file});
    }
    options.workers.push_back(std::move(worker));
  }
  spdlog::info("supervising {} workers, one a GPU", gpus.size());
  Supervisor supervisor(options, probe);
  int code = 0;
  TellServiceManager(fmt::format("READY=1\nSTATUS=supervising {} workers, one a GPU", gpus.size()));
  RunUntilSignal(flags.drain_seconds + 60, [&](std::stop_token stop) { code = supervisor.Run(stop); });
  return code;
}

int Run(Flags flags) {
  SetProcessSecurity(flags.security);
  if (flags.node.empty()) flags.node = HostName();
  if (const absl::Status status = CheckConnection(flags.coordinator, flags.security); !status.ok()) {
    spdlog::error("{}", Message(status));
    return 1;
  }
  if (!flags.gpus.empty() && flags.device != "auto") {
    spdlog::error("--gpus and --device exclude each other; leave one out");
    return 1;
  }
  if (flags.gpus == "none") flags.device = "emulated";
  if (!flags.gpus.empty() && flags.gpus != "none") {
    cuda::ProcessGpuProbe probe;
    const auto found = probe.List();
    const auto selected = found.ok() ? SelectGpus(flags.gpus, *found) : found.status();
    if (!selected.ok()) {
      spdlog::error("{}", Message(selected.status()));
      return 1;
    }
    if (selected->size() > 1) return Supervise(flags, *selected, probe);
    flags.device = fmt::format("cuda:{}", selected->front().ordinal);
  }
  if (!flags.metrics.given) {
    const bool numbered = flags.device.rfind("cuda:", 0) == 0;
    const int number = numbered ? std::atoi(flags.device.c_str() + 5) : 0;
    flags.metrics.address = metrics::AddressOfNumber(flags.metrics.address, number);
  }
  if (flags.worker_id.empty()) {
    const bool numbered = flags.device.rfind("cuda:", 0) == 0;
    flags.worker_id = fmt::format("{}-{}", HostName(), numbered ? flags.device.substr(5) : "0");
  }
  return Work(flags);
}

}  // namespace
}  // namespace warpsmith

int main(int argc, char** argv) {
  warpsmith::Flags flags;
  CLI::App app(
      "Compiles, validates and times candidates for a coordinator.\n"
      "Example: warpsmith-worker --coordinator 127.0.0.1:7070 --data-dir /var/lib/warpsmith/worker --gpus all");
  app.add_option("--coordinator", flags.coordinator, "host:port or unix:/path of the coordinator")
      ->required()
      ->envname("WARPSMITH_COORDINATOR");
  app.add_option("--worker-id", flags.worker_id,
                 "stable across restarts; by default this host's name and the GPU's number, which several GPUs get "
                 "behind whatever is given here; with tokens in use it begins with the token's name");
  app.add_option("--data-dir", flags.data_dir, "for the result spool and the compiler's cache")->required();
  app.add_option("--gpus", flags.gpus,
                 "all, none (the emulated device), or numbers such as 0,2 as nvidia-smi counts them: one worker "
                 "process each, started again when it dies");
  app.add_option("--device", flags.device, "auto (the first GPU, else emulated), emulated, or cuda:N");
  app.add_option("--slots", flags.slots, "assignments in hand: one on the device while others compile")
      ->check(CLI::Range(1, 16));
  app.add_option("--drain-seconds", flags.drain_seconds, "how long a stop waits for what runs");
  app.add_option("--node", flags.node, "this machine's name for dashboards; by default its host name")
      ->envname("WARPSMITH_NODE");
  warpsmith::metrics::AddMetricsOptions(app, &flags.metrics);
  warpsmith::AddClientSecurityOptions(app, &flags.security);
  app.set_version_flag("--version", warpsmith::kVersion);
  CLI11_PARSE(app, argc, argv);
  warpsmith::InitLogging("worker");
  warpsmith::InitGrpcRuntime();
  warpsmith::BlockSignals();
  warpsmith::FindServiceManager();
  return warpsmith::Run(flags);
}
