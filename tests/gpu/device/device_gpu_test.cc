// What is known of a GPU, on a GPU: its figures, its state, the canary, the lock, the driver's events, and what
// `warpsmith doctor` says. One line a check; exits with 1 if one failed.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "common/clock.h"
#include "common/file.h"
#include "common/json.h"
#include "common/run_child.h"
#include "gpu_worker/device/cuda/gpu_keeper.h"
#include "gpu_worker/device/cuda/gpu_lock.h"
#include "gpu_worker/device/cuda/gpu_probe.h"
#include "gpu_worker/device/cuda/xid_watch.h"

namespace warpsmith::cuda {
namespace {

int failures = 0;

void Check(bool ok, const std::string& what) {
  std::printf("%-6s %s\n", ok ? "ok" : "FAILED", what.c_str());
  std::fflush(stdout);
  if (!ok) ++failures;
}

double SecondsSince(TimePoint start) { return ToSeconds(RealClock().Now() - start); }

template <typename T>
std::string Text(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : std::string("not told");
}

void CheckDevice(const GpuDevice& gpu, double seconds) {
  Check(gpu.compute_capability >= 70 && gpu.sm_count > 0 && gpu.uuid.size() == 40 && !gpu.name.empty(),
        fmt::format("device {}: {}, {}, {} SMs, {}, PCI {}; listed in {:.2f} s", gpu.ordinal, gpu.name,
                    gpu.Architecture(), gpu.sm_count, gpu.uuid, gpu.pci_bus_id, seconds));
  Check(gpu.memory_bytes > int64_t{1} << 30 && gpu.l2_bytes > 1 << 20,
        fmt::format("memory {:.2f} GiB, L2 {:.1f} MiB ({:.1f} persisting)",
                    static_cast<double>(gpu.memory_bytes) / (1 << 30), static_cast<double>(gpu.l2_bytes) / (1 << 20),
                    static_cast<double>(gpu.persisting_l2_bytes) / (1 << 20)));
  Check(gpu.PeakBandwidth() > 1e11 && gpu.PeakBandwidth() < 3e13,
        fmt::format("memory clock {} kHz, bus {} bits: {:.0f} GB/s, reachable {:.0f}", gpu.memory_clock_khz,
                    gpu.memory_bus_bits, gpu.PeakBandwidth() / 1e9, gpu.ReachableBandwidth() / 1e9));
  const plan::DeviceLimits own = LimitsOf(gpu);
  const plan::DeviceLimits known = plan::DeviceLimits::ForArchitecture(gpu.compute_capability);
  Check(
      own.shared_opt_in_bytes == known.shared_opt_in_bytes && own.shared_per_sm_bytes == known.shared_per_sm_bytes &&
          own.threads_per_sm == known.threads_per_sm && own.blocks_per_sm == known.blocks_per_sm &&
          own.registers_per_sm == known.registers_per_sm && own.shared_reserved_bytes == known.shared_reserved_bytes,
      fmt::format("limits as the table of architectures has them: shared {} opt-in, {} an SM, {} reserved, {} threads, "
                  "{} blocks, {} registers an SM",
                  own.shared_opt_in_bytes, own.shared_per_sm_bytes, own.shared_reserved_bytes, own.threads_per_sm,
                  own.blocks_per_sm, own.registers_per_sm));
  Check(!gpu.driver_version.empty() && gpu.cuda_version >= 12000,
        fmt::format("driver {}, CUDA {}, power limit {} W, pageable memory access: {}", gpu.driver_version,
                    CudaVersionText(gpu.cuda_version), gpu.power_limit_w, gpu.pageable_memory_access));
}

void CheckMonitor(const GpuDevice& gpu) {
  auto monitor = MakeNvmlMonitor(gpu.uuid);
  if (!monitor.ok()) {
    Check(false, "monitor: " + Message(monitor.status()));
    return;
  }
  TimePoint start = RealClock().Now();
  const auto state = (*monitor)->Read();
  const double read = SecondsSince(start);
  Check(state.ok() && state->memory_total_bytes.value_or(0) > 0,
        fmt::format("monitor reads all in {:.2f} ms: memory {} of {} free", read * 1e3,
                    state.ok() ? Text(state->memory_free_bytes) : Message(state.status()),
                    state.ok() ? Text(state->memory_total_bytes) : ""));
  if (!state.ok()) return;
  Check(!state->sm_mhz || *state->sm_mhz > 0,
        fmt::format("state: SM {} MHz of {}, memory {} MHz, {} C, {} W of {}, throttle reasons {}, other processes {}, "
                    "uncorrected errors {}, exclusive mode {}, MIG {}",
                    Text(state->sm_mhz), Text(state->max_sm_mhz), Text(state->memory_mhz), Text(state->temperature_c),
                    Text(state->power_w), Text(state->power_limit_w),
                    state->throttle_reasons ? "[" + ThrottleText(*state->throttle_reasons) + "]" : "not told",
                    state->other_processes ? std::to_string(state->other_processes->size()) : "not told",
                    Text(state->uncorrected_ecc_errors), Text(state->exclusive_compute_mode), Text(state->mig)));
  constexpr int kReads = 100;
  start = RealClock().Now();
  for (int i = 0; i < kReads; ++i) (void)(*monitor)->ReadClocks();
  const double each = SecondsSince(start) / kReads;
  Check(each < 0.01, fmt::format("clocks are read in {:.3f} ms", each * 1e3));
}

void CheckCanary(const GpuDevice& gpu) {
  auto options = ProcessCanary::OptionsFor(gpu.uuid);
  if (!options.ok()) {
    Check(false, "canary: " + Message(options.status()));
    return;
  }
  ProcessCanary canary(*options);
  for (int i = 0; i < 4; ++i) {
    const absl::Status result = canary.Check();
    if (!result.ok()) {
      Check(false, fmt::format("canary {}: {}", i, Message(result)));
      continue;
    }
    const CanaryFigures& figures = *canary.last();
    const double share = figures.copy_bytes_per_second / gpu.PeakBandwidth();
    Check(figures.seconds < 5 && share > 0.6 && share < 1,
          fmt::format("canary {}: {:.3f} ms, copies {:.0f} GB/s ({:.1f} % of the peak), {:.2f} s in all", i,
                      figures.kernel_ms, figures.copy_bytes_per_second / 1e9, 100 * share, figures.seconds));
  }
  ProcessCanaryOptions hurried = *options;
  hurried.deadline = std::chrono::milliseconds(30);
  const absl::Status late = ProcessCanary(hurried).Check();
  Check(late.code() == absl::StatusCode::kDeadlineExceeded, "a canary that is late is killed: " + Message(late));
  Check(canary.Check().ok(), "and the GPU is as good as before");
}

void CheckKeeper(const GpuDevice& gpu) {
  auto options = ProcessCanary::OptionsFor(gpu.uuid);
  if (!options.ok()) return;
  ProcessCanary canary(*options);
  auto xids = MakeNvmlXidWatch(gpu.uuid);
  std::printf("%-6s %s\n", "note",
              (xids.ok() ? "the driver's errors are watched"
                         : "the driver's errors cannot be watched: " + Message(xids.status()))
                  .c_str());
  GpuKeeper keeper(canary, xids.ok() ? xids->get() : nullptr);
  keeper.OnExecutorEnd(ExecutorEnd::kAbnormal, "a test says so");
  Check(keeper.health() == GpuHealth::kSuspect, "an abnormal end makes the GPU suspect");
  const TimePoint start = RealClock().Now();
  const absl::Status ready = keeper.Ready();
  Check(ready.ok() && keeper.health() == GpuHealth::kHealthy,
        fmt::format("and its canary clears it in {:.2f} s {}", SecondsSince(start), Message(ready)));
}

void CheckLock(const GpuDevice& gpu, const char* self) {
  const auto lock = GpuLock::Acquire(gpu.uuid, std::chrono::seconds(5));
  Check(lock.ok(),
        fmt::format("lock in {}: {}", GpuLock::DefaultFolder().string(), lock.ok() ? "held" : Message(lock.status())));
  ChildOptions child;
  child.arguments = {self, "--lock", gpu.uuid};
  const auto other = RunChild(child, "", std::chrono::seconds(10));
  Check(other.ok() && other->exit_code == 3,
        "another process is refused: " + (other.ok() ? other->standard_output : Message(other.status())));
}

void CheckDoctor(const GpuDevice& gpu) {
  const auto program = FindProgram("warpsmith");
  if (!program.ok()) {
    Check(false, Message(program.status()));
    return;
  }
  ChildOptions child;
  child.arguments = {program->string(), "doctor", "--json", "--data-dir", "/tmp/warpsmith-doctor-test"};
  const TimePoint start = RealClock().Now();
  const auto exit = RunChild(child, "", std::chrono::seconds(50));
  const auto json = exit.ok() ? ParseStrictJson(exit->standard_output) : exit.status();
  if (!json.ok() || !json->contains("checks") || !json->contains("gpus")) {
    Check(false, "doctor --json: " + Message(json.status()));
    return;
  }
  for (const Json& check : (*json)["checks"]) {
    // What another machine may lack is said, not judged.
    const std::string name = check.value("check", "");
    const bool must = name == "gpu" || name == "python" || name == "nvrtc" || name.rfind("gpu ", 0) == 0 ||
                      name.rfind("canary ", 0) == 0 || name == "programs";
    Check(!must || check.value("level", "") != "fail",
          fmt::format("doctor: {} {}: {}", check.value("level", ""), name, check.value("found", "")));
  }
  const Json& gpus = (*json)["gpus"];
  const bool same = gpus.is_array() && gpus.size() > static_cast<size_t>(gpu.ordinal) &&
                    gpus[gpu.ordinal].value("uuid", "") == gpu.uuid &&
                    gpus[gpu.ordinal].value("canary", Json::object()).value("kernel_ms", 0.0) > 0;
  Check(same, fmt::format("doctor describes the GPU and times its canary, in {:.1f} s", SecondsSince(start)));
}

int Run(const char* self) {
  const TimePoint start = RealClock().Now();
  const auto gpus = ListGpus();
  const double seconds = SecondsSince(start);
  const char* number = std::getenv("WARPSMITH_GPU");
  const size_t wanted = number == nullptr ? 0 : std::strtoul(number, nullptr, 10);
  if (!gpus.ok() || gpus->size() <= wanted) {
    Check(false, fmt::format("GPU {}: {}", wanted, gpus.ok() ? "not there" : Message(gpus.status())));
    return 1;
  }
  const GpuDevice& gpu = (*gpus)[wanted];
  CheckDevice(gpu, seconds);
  ProcessGpuProbe probe;
  const auto reports = probe.List();
  Check(reports.ok() && reports->size() == gpus->size() && (*reports)[wanted].device.uuid == gpu.uuid,
        "the probe, in a process of its own, lists the same: " + Message(reports.status()));
  CheckMonitor(gpu);
  CheckCanary(gpu);
  CheckKeeper(gpu);
  CheckLock(gpu, self);
  CheckDoctor(gpu);
  return failures == 0 ? 0 : 1;
}

int TryLock(const char* uuid) {
  const auto lock = GpuLock::Acquire(uuid, std::chrono::milliseconds(100));
  std::printf("%s", lock.ok() ? "it was not" : Message(lock.status()).c_str());
  return lock.ok() ? 0 : 3;
}

}  // namespace
}  // namespace warpsmith::cuda

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--lock") return warpsmith::cuda::TryLock(argv[2]);
  return warpsmith::cuda::Run(argv[0]);
}
