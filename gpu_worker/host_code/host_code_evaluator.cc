#include "gpu_worker/host_code/host_code_evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "common/hash.h"
#include "gpu_worker/reference/memory_budget.h"
#include "gpu_worker/reference/python_locator.h"
#include "gpu_worker/reference/python_oracle.h"

namespace warpsmith::host_code {
namespace {

constexpr int kMostThreads = 8;
constexpr uint64_t kMostHostMemory = uint64_t{32} << 30;
constexpr int64_t kLeastGpuReserve = int64_t{8} << 30;

int64_t SecretSeed() { return static_cast<int64_t>(Sha256Prefix(RandomHex(16)) >> 24); }

}  // namespace

HostCodeEvaluator::HostCodeEvaluator(HostCodeOptions options, std::unique_ptr<reference::Oracle> oracle)
    : options_(std::move(options)), oracle_(std::move(oracle)) {}

HostCodeEvaluator::~HostCodeEvaluator() = default;

absl::StatusOr<std::unique_ptr<HostCodeEvaluator>> HostCodeEvaluator::Create(HostCodeOptions options) {
  const bool gpu = options.device != "cpu";
  WARPSMITH_ASSIGN_OR_RETURN(const std::filesystem::path launcher, FindProgram("warpsmith-host-code"));
  WARPSMITH_ASSIGN_OR_RETURN(const reference::PythonInstallation python, reference::FindPython(gpu));
  WARPSMITH_ASSIGN_OR_RETURN(const std::vector<std::string> folders, PythonFolders(python.path));
  if (options.threads <= 0) {
    options.threads = std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMostThreads);
  }
  if (options.memory_bytes == 0)
    options.memory_bytes = std::min(reference::AvailableMemoryBytes() / 2, kMostHostMemory);
  HostCodeProcessOptions& process = options.bench.process;
  process.launcher = launcher.string();
  process.python = python.path;
  process.paths = MachinePaths(gpu, folders);
  process.device = options.device;
  process.environment = options.environment;
  if (const auto libraries = options.environment.find("LD_LIBRARY_PATH"); libraries != options.environment.end()) {
    AddFolders(libraries->second, process.paths);
  }
  process.threads = options.threads;
  process.memory_bytes = options.memory_bytes;

  reference::PythonOracleOptions oracle;
  oracle.python = python.path;
  oracle.device = options.device;
  oracle.environment = options.environment;
  // Two processes with PyTorch's own caches, each with a module, inputs' copies and outputs of its own.
  if (gpu) oracle.reserve_bytes = std::max(kLeastGpuReserve, options.gpu_memory_bytes * 2 / 5);
  return std::unique_ptr<HostCodeEvaluator>(
      new HostCodeEvaluator(std::move(options), std::make_unique<reference::PythonOracle>(std::move(oracle))));
}

absl::StatusOr<v1::Problem> HostCodeEvaluator::TakeIn(const std::string& name, const std::string& source,
                                                      const v1::IntakeSettings& settings) {
  WARPSMITH_ASSIGN_OR_RETURN(const v1::IntakeResult intake, oracle_->Intake(name, source, settings));
  if (!intake.error().empty()) return InvalidArgument(intake.error());
  v1::Problem problem;
  problem.set_id(Sha256Hex(settings.SerializeAsString() + source));
  problem.set_name(name);
  problem.set_source(source);
  *problem.mutable_signature() = intake.signature();
  *problem.mutable_baselines() = intake.baselines();
  return problem;
}

absl::StatusOr<HostCodeVerdict> HostCodeEvaluator::Evaluate(const v1::Problem& problem,
                                                            const v1::IntakeSettings& settings,
                                                            const HostCodeCandidate& candidate) {
  absl::StatusOr<HostCodeVerdict> verdict = RunCandidate(problem, settings, candidate);
  // The oracle or the reference's process may be gone: the next candidate gets new ones.
  if (!verdict.ok()) bench_.reset();
  return verdict;
}

absl::StatusOr<HostCodeVerdict> HostCodeEvaluator::RunCandidate(const v1::Problem& problem,
                                                                const v1::IntakeSettings& settings,
                                                                const HostCodeCandidate& candidate) {
  if (bench_of_ != problem.id()) bench_.reset();
  std::unique_ptr<HostCodeProcess> reference;
  std::optional<TemporaryDirectory> buffers;
  HostCodeProcessOptions process = options_.bench.process;
  if (bench_ == nullptr) {
    WARPSMITH_ASSIGN_OR_RETURN(buffers,
                               TemporaryDirectory::Create("warpsmith-host-code-", options_.bench.shared_memory));
    process.buffer_folder = options_.device == "cpu" ? buffers->path().string() : "";
    options_.bench.process.buffer_folder = process.buffer_folder;
    process.reference = true;
    WARPSMITH_ASSIGN_OR_RETURN(reference, HostCodeProcess::Launch(process));
    process.reference = false;
  }
  // Both import PyTorch side by side; the candidate's has nothing of it yet.
  WARPSMITH_ASSIGN_OR_RETURN(std::unique_ptr<HostCodeProcess> own, HostCodeProcess::Launch(process));
  if (bench_ == nullptr) {
    // Its import must not disturb what is timed.
    WARPSMITH_RETURN_IF_ERROR(own->Greet());
    WARPSMITH_ASSIGN_OR_RETURN(
        bench_, Bench::Create(problem, settings, *oracle_, options_.bench, std::move(reference), *std::move(buffers)));
    bench_of_ = problem.id();
  }
  HostCodeRun run(options_.run, problem.signature(), settings.eval_mode(), *oracle_, *bench_, std::move(own),
                  SecretSeed());
  WARPSMITH_ASSIGN_OR_RETURN(HostCodeVerdict verdict, run.Run(candidate));
  v1::Evaluation& evaluation = verdict.evaluation;
  if (evaluation.has_timing()) {
    evaluation.mutable_timing()->set_device_name(options_.device_name);
    evaluation.mutable_timing()->set_emulated(options_.device == "cpu");
  }
  return verdict;
}

}  // namespace warpsmith::host_code
