// A kernel with a known result and a known time: what tells after a crash whether a GPU can be trusted again.
// It runs in a process of its own (the program warpsmith-canary), since a GPU that is not well may take the process
// that asks along.
// Threading: one thread at a time. Units: milliseconds, bytes a second.
// Errors of Check: DataLoss (a wrong result), OutOfRange (right, but more than a fifth slower than at first),
// DeadlineExceeded (did not come back and was killed), Aborted (could not be killed), else whatever went wrong.
#ifndef WARPSMITH_GPU_WORKER_DEVICE_CUDA_CANARY_H_
#define WARPSMITH_GPU_WORKER_DEVICE_CUDA_CANARY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "common/clock.h"
#include "common/status.h"

namespace warpsmith::cuda {

struct CanaryFigures {
  double kernel_ms = 0;              // a fixed amount of arithmetic
  double copy_bytes_per_second = 0;  // reads and writes together; 0: no memory was free for it
  int64_t copy_bytes = 0;            // of one buffer
  double seconds = 0;                // the process, from start to answer
};

// One line of JSON from the program and back. A refusal is {"error": text, "code": "data_loss" or "failed"}.
std::string CanaryToJson(const absl::StatusOr<CanaryFigures>& result);
absl::StatusOr<CanaryFigures> CanaryFromJson(const std::string& line);

class Canary {
 public:
  virtual ~Canary() = default;
  virtual absl::Status Check() = 0;
};

struct ProcessCanaryOptions {
  std::string program;                             // warpsmith-canary
  std::map<std::string, std::string> environment;  // cuda::ChildEnvironment of the GPU
  Duration deadline = std::chrono::seconds(20);
  double slower_allowed = 0.2;
};

class ProcessCanary final : public Canary {
 public:
  explicit ProcessCanary(ProcessCanaryOptions options) : options_(std::move(options)) {}
  // Finds the program and the environment for a GPU.
  static absl::StatusOr<ProcessCanaryOptions> OptionsFor(const std::string& gpu_uuid);

  // The first that passes sets the time that later ones are held to.
  absl::Status Check() override;

  const std::optional<CanaryFigures>& first() const { return first_; }
  const std::optional<CanaryFigures>& last() const { return last_; }

 private:
  absl::StatusOr<CanaryFigures> RunOnce() const;

  const ProcessCanaryOptions options_;
  std::optional<CanaryFigures> first_;
  std::optional<CanaryFigures> last_;
};

class FakeCanary final : public Canary {
 public:
  absl::Status Check() override {
    ++checks;
    return result;
  }
  absl::Status result;
  int checks = 0;
};

}  // namespace warpsmith::cuda

#endif  // WARPSMITH_GPU_WORKER_DEVICE_CUDA_CANARY_H_
