#include "gpu_worker/executor/cuda/job.h"

namespace warpsmith::executor {
namespace {

class UnavailableJob final : public ChildJob {
 public:
  absl::StatusOr<std::string> Prepare(wire::Spec) override {
    return FailedPrecondition("this warpsmith was built without CUDA's headers; build it where they are installed");
  }
  wire::Report Run(const wire::Request&) override { return {}; }
};

}  // namespace

// NOLINTNEXTLINE(performance-unnecessary-value-param): the one for real GPUs keeps its options
std::unique_ptr<ChildJob> MakeCudaJob(CudaJobOptions) { return std::make_unique<UnavailableJob>(); }

}  // namespace warpsmith::executor
