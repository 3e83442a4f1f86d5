#include "gpu_worker/evaluate/local_evaluator.h"

#include <fmt/format.h>

#include <thread>

#include "common/file.h"
#include "common/log.h"
#include "gpu_worker/compile/caching_compiler.h"
#include "gpu_worker/compile/child_compiler.h"
#include "gpu_worker/executor/process_executor.h"
#include "gpu_worker/reference/python_oracle.h"

namespace warpsmith::evaluate {

struct LocalEvaluator::Parts {
  Parts(const LocalEvaluatorOptions& options, compile::ChildCompilerOptions compiler_options,
        const std::string& executor_program)
      : child_compiler(std::move(compiler_options)),
        compiler(child_compiler, options.cache_folder / "artifacts"),
        executors(executor_program),
        oracle(reference::PythonOracleOptions{}) {}

  compile::ChildCompiler child_compiler;
  compile::CachingCompiler compiler;
  executor::ProcessExecutorFactory executors;
  reference::PythonOracle oracle;
  v1::DeviceDescription device;
  std::unique_ptr<Evaluator> evaluator;
};

LocalEvaluator::LocalEvaluator(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
LocalEvaluator::~LocalEvaluator() = default;

Evaluator& LocalEvaluator::evaluator() { return *parts_->evaluator; }
const v1::DeviceDescription& LocalEvaluator::device() const { return parts_->device; }

absl::StatusOr<std::unique_ptr<LocalEvaluator>> LocalEvaluator::Create(const LocalEvaluatorOptions& options) {
  if (options.device != "auto" && options.device != "emulated") {
    return InvalidArgument(
        fmt::format("no device \"{}\" in this build; use --device emulated (or auto)", options.device));
  }
  bool gpu = std::filesystem::exists("/dev/nvidiactl");
  if (options.device == "auto" && gpu) {
    spdlog::warn("there is an NVIDIA GPU here, and this build runs the emulated device only");
  }
  std::error_code error;
  std::filesystem::create_directories(options.cache_folder / "artifacts", error);
  if (error) {
    return FailedPrecondition(
        fmt::format("cannot create the cache folder {}: {}", options.cache_folder.string(), error.message()));
  }
  compile::ChildCompilerOptions compiler_options;
  compiler_options.cache_folder = options.cache_folder / "headers";
  compiler_options.use_toolkit = options.use_toolkit;
  std::filesystem::create_directories(compiler_options.cache_folder, error);
  WARPSMITH_ASSIGN_OR_RETURN(std::filesystem::path executor_program, FindProgram("warpsmith-executor"));
  auto parts = std::make_unique<Parts>(options, std::move(compiler_options), executor_program.string());

  v1::DeviceDescription& device = parts->device;
  device.set_name("emulated");
  device.set_device_class("emulated");
  device.set_emulated(true);
  device.set_sm_count(plan::DeviceLimits::Emulated(std::nullopt).sm_count);
  device.set_toolkit(!parts->child_compiler.NvrtcVersion().empty());

  EvaluatorOptions evaluator;
  evaluator.device = device;
  evaluator.worker_id = options.worker_id;
  evaluator.run_limit_seconds = options.run_limit_seconds;
  evaluator.measurement.max_seconds = options.measure_seconds;
  evaluator.measurement.clock_tolerance = 0.5;  // decision record 0003
  evaluator.measurement.min_samples = 6;
  evaluator.measurement.screen_samples = 2;
  parts->evaluator =
      std::make_unique<Evaluator>(evaluator, parts->compiler, parts->executors, parts->oracle, RealClock());
  return std::unique_ptr<LocalEvaluator>(new LocalEvaluator(std::move(parts)));
}

}  // namespace warpsmith::evaluate
