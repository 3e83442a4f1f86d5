#include "gpu_worker/evaluate/local_evaluator.h"

#include <fmt/format.h>

#include <cmath>
#include <thread>

#include "common/file.h"
#include "common/log.h"
#include "gpu_worker/compile/caching_compiler.h"
#include "gpu_worker/compile/child_compiler.h"
#include "gpu_worker/device/cuda/child_environment.h"
#include "gpu_worker/evaluate/cuda_guard.h"
#include "gpu_worker/evaluate/device_choice.h"
#include "gpu_worker/executor/process_executor.h"
#include "gpu_worker/library/shared_library.h"
#include "gpu_worker/profile/cupti_paths.h"
#include "gpu_worker/profile/process_profiler.h"
#include "gpu_worker/reference/python_locator.h"
#include "gpu_worker/reference/python_oracle.h"

namespace warpsmith::evaluate {
namespace {

constexpr double kEmulatedSeconds = 0.4;

absl::Status CreateFolder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return absl::OkStatus();
  return FailedPrecondition(fmt::format("cannot create the cache folder {}: {}", folder.string(), error.message()));
}

executor::RefillLimits Refill(const cuda::GpuReport& gpu) {
  return executor::RefillLimits::ForGpu(gpu.device.memory_bytes, static_cast<int>(std::thread::hardware_concurrency()));
}

EvaluatorOptions EmulatedOptions(const LocalEvaluatorOptions& local) {
  EvaluatorOptions options;
  options.device.set_name("emulated");
  options.device.set_device_class("emulated");
  options.device.set_emulated(true);
  options.device.set_sm_count(plan::DeviceLimits::Emulated(std::nullopt).sm_count);
  options.measurement.max_seconds = local.measure_seconds > 0 ? local.measure_seconds : kEmulatedSeconds;
  options.measurement.clock_tolerance = 0.5;  // decision record 0003
  options.measurement.min_samples = 6;
  options.measurement.screen_samples = 2;
  options.confirmation.seconds = 0.6;
  options.confirmation.rounds = 3;
  return options;
}

EvaluatorOptions GpuOptions(const LocalEvaluatorOptions& local, const cuda::GpuReport& gpu) {
  EvaluatorOptions options;
  options.device = cuda::Describe(gpu.device, /*toolkit=*/true);
  options.limits = cuda::LimitsOf(gpu.device);
  options.peaks = measure::PeaksOf(gpu.device.name);
  options.peaks.l2_bytes = gpu.device.l2_bytes;
  if (gpu.device.PeakBandwidth() > 0) options.peaks.memory_bytes_per_second = gpu.device.PeakBandwidth();
  options.measurement = MeasurementOptions::ForGpu();
  if (local.measure_seconds > 0) options.measurement.max_seconds = local.measure_seconds;
  options.anchor_seconds = 0.05;
  return options;
}

}  // namespace

struct LocalEvaluator::Parts {
  std::unique_ptr<compile::ChildCompiler> child_compiler;
  std::unique_ptr<compile::CachingCompiler> compiler;
  std::unique_ptr<executor::ProcessExecutorFactory> executors;
  std::unique_ptr<reference::PythonOracle> oracle;
  std::unique_ptr<CudaGuard> guard;
  std::unique_ptr<BaselineCache> baselines;
  std::unique_ptr<profile::Profiler> profiler;
  v1::DeviceDescription device;
  int device_number = 0;
  std::unique_ptr<Evaluator> evaluator;

  absl::Status AddGpu(const cuda::GpuReport& gpu, const LocalEvaluatorOptions& options,
                      const std::string& executor_program, GpuServices& services);
};

absl::Status LocalEvaluator::Parts::AddGpu(const cuda::GpuReport& gpu, const LocalEvaluatorOptions& options,
                                           const std::string& executor_program, GpuServices& services) {
  if (child_compiler->NvrtcVersion().empty()) {
    return FailedPrecondition(
        fmt::format("{} cannot be used: there is no NVRTC to compile for it; install the CUDA toolkit (or set "
                    "WARPSMITH_CUDA_PATH to it), or use --device emulated",
                    gpu.device.name));
  }
  const std::string& uuid = gpu.device.uuid;
  executor::ProcessExecutorOptions executor_options;
  executor_options.program = executor_program;
  executor_options.refill = Refill(gpu);
  executor_options.cuda = true;
  executor_options.environment = cuda::ChildEnvironment(uuid);
  executor_options.library_folders = library::FindLibraryFolders();
  executors = std::make_unique<executor::ProcessExecutorFactory>(std::move(executor_options));

  reference::PythonOracleOptions oracle_options;
  // A context each, and what a candidate's scratch and heap take.
  oracle_options.reserve_bytes = (int64_t{3} << 30) + (Refill(gpu).depth + 2) * (int64_t{512} << 20);
  oracle_options.device = "cuda:0";  // the only one that its process sees
  oracle_options.environment = cuda::ChildEnvironment(uuid);
  oracle = std::make_unique<reference::PythonOracle>(std::move(oracle_options));

  WARPSMITH_ASSIGN_OR_RETURN(cuda::ProcessCanaryOptions canary, cuda::ProcessCanary::OptionsFor(uuid));
  auto monitor = cuda::MakeNvmlMonitor(uuid);
  auto xids = cuda::MakeNvmlXidWatch(uuid);
  if (!monitor.ok()) spdlog::warn("clocks are taken on trust: {}", Message(monitor.status()));
  if (!xids.ok()) spdlog::info("the driver's errors are not watched: {}", Message(xids.status()));
  guard = std::make_unique<CudaGuard>(uuid, monitor.ok() ? *std::move(monitor) : nullptr,
                                      std::make_unique<cuda::ProcessCanary>(std::move(canary)),
                                      xids.ok() ? *std::move(xids) : nullptr);
  services.guard = guard.get();

  baselines = std::make_unique<BaselineCache>(options.cache_folder / "baselines");
  services.baselines = baselines.get();
  services.baseline_key.gpu_model = gpu.device.name;
  services.baseline_key.driver = gpu.device.driver_version;
  double limit = gpu.state ? gpu.state->power_limit_w.value_or(gpu.device.power_limit_w) : gpu.device.power_limit_w;
  services.baseline_key.power_limit_watts = static_cast<int>(std::lround(limit));
  auto python = reference::FindPython(/*with_cuda=*/true);
  if (!python.ok()) return python.status();
  services.baseline_key.pytorch_version = python->pytorch_version;

  absl::StatusOr<std::filesystem::path> profiler_program = FindProgram("warpsmith-profiler");
  if (profiler_program.ok()) {
    profile::ProcessProfilerOptions profiler_options;
    profiler_options.program = profiler_program->string();
    profiler_options.environment = cuda::ChildEnvironment(uuid);
    profiler_options.cupti_paths = profile::FindCupti();
    profiler_options.library_folders = library::FindLibraryFolders();
    profiler = std::make_unique<profile::ProcessProfiler>(std::move(profiler_options));
    services.profiler = profiler.get();
  }
  return absl::OkStatus();
}

LocalEvaluator::LocalEvaluator(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
LocalEvaluator::~LocalEvaluator() = default;

Evaluator& LocalEvaluator::evaluator() { return *parts_->evaluator; }
const v1::DeviceDescription& LocalEvaluator::device() const { return parts_->device; }
int LocalEvaluator::device_number() const { return parts_->device_number; }

absl::StatusOr<std::unique_ptr<LocalEvaluator>> LocalEvaluator::Create(const LocalEvaluatorOptions& options) {
  cuda::ProcessGpuProbe probe;
  WARPSMITH_ASSIGN_OR_RETURN(std::optional<cuda::GpuReport> gpu, ChooseDevice(options.device, probe));
  WARPSMITH_RETURN_IF_ERROR(CreateFolder(options.cache_folder / "artifacts"));
  WARPSMITH_RETURN_IF_ERROR(CreateFolder(options.cache_folder / "headers"));
  WARPSMITH_ASSIGN_OR_RETURN(std::filesystem::path executor_program, FindProgram("warpsmith-executor"));

  auto parts = std::make_unique<Parts>();
  compile::ChildCompilerOptions compiler_options;
  compiler_options.cache_folder = options.cache_folder / "headers";
  compiler_options.use_toolkit = options.use_toolkit;
  parts->child_compiler = std::make_unique<compile::ChildCompiler>(std::move(compiler_options));
  parts->compiler =
      std::make_unique<compile::CachingCompiler>(*parts->child_compiler, options.cache_folder / "artifacts");

  GpuServices services;
  if (gpu) {
    absl::Status usable = parts->AddGpu(*gpu, options, executor_program.string(), services);
    if (!usable.ok() && options.device != "auto") return usable;
    if (!usable.ok()) {
      spdlog::warn("the emulated device is used instead of {}: {}", gpu->device.name, Message(usable));
      services = {};
      gpu.reset();
    }
  }
  EvaluatorOptions evaluator = gpu ? GpuOptions(options, *gpu) : EmulatedOptions(options);
  if (!gpu) {
    parts->executors = std::make_unique<executor::ProcessExecutorFactory>(executor_program.string());
    parts->oracle = std::make_unique<reference::PythonOracle>(reference::PythonOracleOptions{});
    evaluator.device.set_toolkit(!parts->child_compiler->NvrtcVersion().empty());
  }
  evaluator.worker_id = options.worker_id;
  evaluator.run_limit_seconds = options.run_limit_seconds;
  evaluator.observer = options.observer;
  parts->device = evaluator.device;
  parts->device_number = gpu ? gpu->device.ordinal : 0;
  parts->evaluator = std::make_unique<Evaluator>(std::move(evaluator), *parts->compiler, *parts->executors,
                                                 *parts->oracle, RealClock(), std::move(services));
  return std::unique_ptr<LocalEvaluator>(new LocalEvaluator(std::move(parts)));
}

}  // namespace warpsmith::evaluate
