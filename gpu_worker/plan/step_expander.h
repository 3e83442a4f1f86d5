// Expands steps one after another into an ExecutionPlan's. PlanExpander's inner part: use Expand of plan_expander.h.
// Threading: one expander, one thread.
#ifndef WARPSMITH_GPU_WORKER_PLAN_STEP_EXPANDER_H_
#define WARPSMITH_GPU_WORKER_PLAN_STEP_EXPANDER_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "gpu_worker/plan/argument_binder.h"
#include "gpu_worker/plan/launch_check.h"
#include "gpu_worker/plan/plan_expander.h"
#include "gpu_worker/plan/tensor_table.h"

namespace warpsmith::plan {

class StepExpander {
 public:
  // `kernels` maps a plan's names to interfaces; null: none is compiled yet, and what needs one is left out. `indexes`
  // maps them to ExecutionPlan.kernel_symbols. All must outlive the expander.
  StepExpander(const TensorTable& table, const std::map<std::string, const KernelInterface*>* kernels,
               const std::map<std::string, uint32_t>& indexes, const DeviceLimits& limits, const ExpandOptions& options,
               Variables variables)
      : table_(table),
        kernels_(kernels),
        indexes_(indexes),
        limits_(limits),
        options_(options),
        variables_(std::move(variables)) {}

  // Counts leaf steps, stopping at the limit, without making any.
  absl::Status Count(const std::vector<Step>& steps, const std::string& path);
  absl::Status Expand(const std::vector<Step>& steps, const std::string& path, Phase phase,
                      google::protobuf::RepeatedPtrField<v1::ExecutionStep>* out);

  // Tensors that stood as a kernel's argument or as another step's target.
  const std::set<std::string>& written() const { return written_; }

 private:
  using Steps = google::protobuf::RepeatedPtrField<v1::ExecutionStep>;
  absl::StatusOr<int64_t> Evaluate(const Expression& expression, Division division = Division::kTruncating);
  absl::Status ExpandStep(const Step& step, const std::string& path, Phase phase, Steps* out);
  absl::Status ExpandKernel(const KernelStep& step, Phase phase, Steps* out);
  absl::Status ExpandMemset(const MemsetStep& step, Phase phase, Steps* out);
  absl::Status ExpandCopy(const CopyStep& step, Phase phase, Steps* out);
  absl::Status ExpandLibrary(const LibraryStep& step, Phase phase, Steps* out);
  // Errors begin with the argument's path. `parameter` may be null: not known.
  absl::Status BindArgument(const Argument& argument, size_t index, const KernelParameter* parameter, Phase phase,
                            v1::KernelArgument* out);
  absl::StatusOr<std::string> EncodeLiteral(const Literal& literal);
  absl::StatusOr<const KernelInterface*> FindKernel(const std::string& name);
  absl::StatusOr<LaunchSizes> EvaluateSizes(const KernelStep& step);
  absl::StatusOr<int64_t> RepeatCount(const RepeatStep& step);

  const TensorTable& table_;
  const std::map<std::string, const KernelInterface*>* kernels_;
  const std::map<std::string, uint32_t>& indexes_;
  const DeviceLimits& limits_;
  const ExpandOptions& options_;
  Variables variables_;
  int64_t launches_ = 0;
  int64_t arguments_ = 0;
  int64_t evaluations_ = 0;
  std::set<std::string> written_;
};

}  // namespace warpsmith::plan

#endif  // WARPSMITH_GPU_WORKER_PLAN_STEP_EXPANDER_H_
