// A profiler that gives what it was told to, and remembers what it was asked.
// Threading: one thread.
#ifndef WARPSMITH_GPU_WORKER_PROFILE_FAKE_PROFILER_H_
#define WARPSMITH_GPU_WORKER_PROFILE_FAKE_PROFILER_H_

#include <utility>
#include <vector>

#include "gpu_worker/profile/profiler.h"

namespace warpsmith::profile {

class FakeProfiler final : public Profiler {
 public:
  explicit FakeProfiler(absl::StatusOr<v1::Profile> answer) : answer_(std::move(answer)) {}

  absl::StatusOr<v1::Profile> Run(const executor::ExecutorSpec& spec, const ProfileRequest& request) override {
    specs.push_back(spec);
    requests.push_back(request);
    return answer_;
  }

  std::vector<executor::ExecutorSpec> specs;
  std::vector<ProfileRequest> requests;

 private:
  absl::StatusOr<v1::Profile> answer_;
};

}  // namespace warpsmith::profile

#endif  // WARPSMITH_GPU_WORKER_PROFILE_FAKE_PROFILER_H_
