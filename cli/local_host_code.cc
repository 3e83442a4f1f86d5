#include "cli/local_host_code.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "gpu_worker/device/cuda/child_environment.h"
#include "gpu_worker/device/cuda/gpu_lock.h"
#include "gpu_worker/evaluate/device_choice.h"
#include "gpu_worker/host_code/host_code_evaluator.h"

namespace warpsmith::cli {
namespace {

constexpr std::chrono::minutes kLockDeadline(10);
constexpr double kGpuBatchSeconds = 0.01;  // far beyond what a GPU could do between an answer and the oracle's glance
constexpr int kGpuSlots = 64;

std::string HostCodeDevice(const std::string& name) {
  if (name == "cpu") return "emulated";  // as other commands call a machine without a GPU
  const bool number =
      !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
  return number ? "cuda:" + name : name;
}

class LocalHostCodeSession final : public HostCodeSession {
 public:
  LocalHostCodeSession(HostCodeSettings settings, std::unique_ptr<host_code::HostCodeEvaluator> evaluator,
                       std::optional<cuda::GpuLock> lock)
      : settings_(std::move(settings)), lock_(std::move(lock)), evaluator_(std::move(evaluator)) {}

  absl::StatusOr<v1::Problem> TakeIn(const std::string& name, const std::string& source) override {
    return evaluator_->TakeIn(name, source, settings_.intake);
  }

  absl::StatusOr<HostCodeRow> Evaluate(const v1::Problem& problem, const std::string& source) override {
    host_code::HostCodeCandidate candidate;
    candidate.source = source;
    candidate.accepted = settings_.accepted;
    candidate.frozen_weights = settings_.frozen_weights;
    WARPSMITH_ASSIGN_OR_RETURN(host_code::HostCodeVerdict verdict,
                               evaluator_->Evaluate(problem, settings_.intake, candidate));
    HostCodeRow row;
    row.evaluation = std::move(verdict.evaluation);
    row.weights = std::move(verdict.weights);
    row.calls = verdict.calls;
    row.batches = verdict.batches;
    row.request_ms = verdict.request_ms;
    row.reference_spread = verdict.reference_spread;
    return row;
  }

 private:
  const HostCodeSettings settings_;
  std::optional<cuda::GpuLock> lock_;  // outlives the processes on the GPU
  const std::unique_ptr<host_code::HostCodeEvaluator> evaluator_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<HostCodeSession>> OpenHostCodeSession(const HostCodeSettings& settings) {
  cuda::ProcessGpuProbe probe;
  WARPSMITH_ASSIGN_OR_RETURN(const std::optional<cuda::GpuReport> gpu,
                             evaluate::ChooseDevice(HostCodeDevice(settings.device), probe));
  host_code::HostCodeOptions options;
  options.bench.run_limit_seconds = settings.run_limit_seconds;
  std::optional<cuda::GpuLock> lock;
  if (gpu) {
    WARPSMITH_ASSIGN_OR_RETURN(lock, cuda::GpuLock::Acquire(gpu->device.uuid, kLockDeadline));
    options.device = "cuda:0";  // the only one that its processes see
    options.device_name = gpu->device.name;
    options.environment = cuda::ChildEnvironment(gpu->device.uuid);
    // Queues as everybody has them: a candidate may use several streams.
    options.environment.erase("CUDA_DEVICE_MAX_CONNECTIONS");
    options.environment.erase("CUDA_DEVICE_MAX_COPY_CONNECTIONS");
    options.gpu_memory_bytes = static_cast<int64_t>(gpu->device.memory_bytes);
    options.bench.batch_seconds = kGpuBatchSeconds;
    options.bench.most_slots = kGpuSlots;
    options.bench.slot_memory_bytes = options.gpu_memory_bytes / 8;
  }
  WARPSMITH_ASSIGN_OR_RETURN(std::unique_ptr<host_code::HostCodeEvaluator> evaluator,
                             host_code::HostCodeEvaluator::Create(std::move(options)));
  return std::unique_ptr<HostCodeSession>(
      std::make_unique<LocalHostCodeSession>(settings, std::move(evaluator), std::move(lock)));
}

}  // namespace warpsmith::cli
