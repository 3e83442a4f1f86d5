// warpsmith-worker: one process a device. Parses, wires, waits.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>

#include "common/hash.h"
#include "common/log.h"
#include "common/shutdown.h"
#include "common/version.h"
#include "gpu_worker/evaluate/local_evaluator.h"
#include "gpu_worker/session/evaluation_task_runner.h"
#include "gpu_worker/session/worker.h"

namespace warpsmith {
namespace {

struct Flags {
  std::string coordinator;
  std::string worker_id;
  std::string data_dir;
  std::string device = "auto";
  int slots = 2;
  double drain_seconds = 60;
};

std::string DefaultWorkerId() {
  char host[256] = "worker";
  gethostname(host, sizeof host - 1);
  return fmt::format("{}-0", host);
}

int Run(const Flags& flags) {
  evaluate::LocalEvaluatorOptions local_options;
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
  spdlog::info("worker {} on the {} device{}", flags.worker_id, device.name(),
               device.toolkit() ? ", NVRTC checks sm_89 and sm_90" : ", without a CUDA toolkit");
  auto connector = session::MakeGrpcConnector(flags.coordinator);
  session::EvaluationTaskRunner runner((*local)->evaluator(), *connector);
  session::WorkerOptions options;
  options.worker_id = flags.worker_id;
  options.boot_id = RandomHex(8);
  options.device = device;
  options.slots = flags.slots;
  options.drain_seconds = flags.drain_seconds;
  session::Worker worker(options, *connector, runner, **spool, RealClock());
  std::jthread life([&](std::stop_token stop) {
    worker.Run(stop);
    kill(getpid(), SIGTERM);  // drained by the coordinator: main waits for this
  });
  WaitForSignal();
  ExitAfter(flags.drain_seconds + 30);
  life.request_stop();
  life.join();
  return 0;
}

}  // namespace
}  // namespace warpsmith

int main(int argc, char** argv) {
  warpsmith::Flags flags;
  flags.worker_id = warpsmith::DefaultWorkerId();
  CLI::App app(
      "Compiles, validates and times candidates for a coordinator.\n"
      "Example: warpsmith-worker --coordinator 127.0.0.1:7070 --data-dir /var/lib/warpsmith/worker0");
  app.add_option("--coordinator", flags.coordinator, "host:port or unix:/path of the coordinator")
      ->required()
      ->envname("WARPSMITH_COORDINATOR");
  app.add_option("--worker-id", flags.worker_id, "stable across restarts; this host's name and -0 by default");
  app.add_option("--data-dir", flags.data_dir, "for the result spool and the compiler's cache")->required();
  app.add_option("--device", flags.device, "auto or emulated");
  app.add_option("--slots", flags.slots, "assignments in hand: one on the device while others compile")
      ->check(CLI::Range(1, 16));
  app.add_option("--drain-seconds", flags.drain_seconds, "how long a stop waits for what runs");
  app.set_version_flag("--version", warpsmith::kVersion);
  CLI11_PARSE(app, argc, argv);
  warpsmith::InitLogging("worker");
  warpsmith::BlockSignals();
  return warpsmith::Run(flags);
}
