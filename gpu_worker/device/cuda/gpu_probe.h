// What the GPUs of this machine are and how they do, asked in a process of its own with a deadline: a driver that hangs
// must not take along whoever asks. The program is warpsmith-canary; it answers in JSON.
// Threading: safe from any thread. Errors: what stands in the way of using GPUs here; no GPU is an empty list.
#ifndef WARPSMITH_GPU_WORKER_DEVICE_CUDA_GPU_PROBE_H_
#define WARPSMITH_GPU_WORKER_DEVICE_CUDA_GPU_PROBE_H_

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/json.h"
#include "common/status.h"
#include "gpu_worker/device/cuda/canary.h"
#include "gpu_worker/device/cuda/device_monitor.h"
#include "gpu_worker/device/cuda/device_query.h"

namespace warpsmith::cuda {

struct GpuReport {
  GpuDevice device;
  std::optional<DeviceState> state;  // unset: NVML is not there
};

Json GpuReportToJson(const GpuReport& report);
absl::StatusOr<GpuReport> GpuReportFromJson(const Json& json);

// This process's own look, for the program: {"gpus": [...]} or {"error": text}, on one line.
std::string GpuListToJson(const absl::StatusOr<std::vector<GpuReport>>& reports);
absl::StatusOr<std::vector<GpuReport>> GpuListFromJson(const std::string& line);
absl::StatusOr<std::vector<GpuReport>> LookAtGpus();

class GpuProbe {
 public:
  virtual ~GpuProbe() = default;
  virtual absl::StatusOr<std::vector<GpuReport>> List() = 0;
  // One canary; see Canary::Check for the errors.
  virtual absl::StatusOr<CanaryFigures> Check(const std::string& gpu_uuid) = 0;
};

class ProcessGpuProbe final : public GpuProbe {
 public:
  explicit ProcessGpuProbe(Duration deadline = std::chrono::seconds(30)) : deadline_(deadline) {}
  absl::StatusOr<std::vector<GpuReport>> List() override;
  absl::StatusOr<CanaryFigures> Check(const std::string& gpu_uuid) override;

 private:
  const Duration deadline_;
};

// Says what a test tells it to. Safe from any thread, as the supervisor asks from several.
class FakeGpuProbe final : public GpuProbe {
 public:
  absl::StatusOr<std::vector<GpuReport>> List() override { return gpus; }
  absl::StatusOr<CanaryFigures> Check(const std::string& gpu_uuid) override {
    const std::lock_guard lock(mutex_);
    ++checks_[gpu_uuid];
    if (const auto bad = failures_.find(gpu_uuid); bad != failures_.end()) return bad->second;
    return CanaryFigures{1, 1e12, int64_t{64} << 20, 0.1};
  }
  // From now on; OK ends it.
  void Fail(const std::string& gpu_uuid, const absl::Status& status) {
    const std::lock_guard lock(mutex_);
    failures_.erase(gpu_uuid);
    if (!status.ok()) failures_[gpu_uuid] = status;
  }
  int Checks(const std::string& gpu_uuid) {
    const std::lock_guard lock(mutex_);
    return checks_[gpu_uuid];
  }
  std::vector<GpuReport> gpus;

 private:
  std::mutex mutex_;
  std::map<std::string, absl::Status> failures_;  // by UUID
  std::map<std::string, int> checks_;
};

}  // namespace warpsmith::cuda

#endif  // WARPSMITH_GPU_WORKER_DEVICE_CUDA_GPU_PROBE_H_
