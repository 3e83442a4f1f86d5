// Runs library steps on arrays, on a stream and in a graph, checks them, and keeps count.
// Threading: one thread, with the context current. Units: milliseconds.
#ifndef WARPSMITH_TESTS_GPU_LIBRARY_STEP_RUNNER_H_
#define WARPSMITH_TESTS_GPU_LIBRARY_STEP_RUNNER_H_

#include <functional>
#include <map>
#include <string>

#include "gpu_worker/library/library_runner.h"
#include "tests/gpu/library/gpu_array.h"
#include "tests/gpu/library/reference.h"

namespace warpsmith::library {

using Arrays = std::map<std::string, const GpuArray*>;  // by operand name

// Operands become views of buffers 0, 1, ... in the map's order.
v1::LibraryStep MakeStep(const std::string& function, const std::string& compute, const Arrays& arrays);

class StepRunner {
 public:
  explicit StepRunner(const Gpu& gpu);

  // One line: "ok NAME …" or "FAILED NAME …".
  void Report(bool passed, const std::string& name, const std::string& figures);
  // Runs `step` once on a stream and once in a graph; `target` must become `expected` both times.
  // `required` false: cuDNN may have no algorithm for it.
  void Check(const std::string& name, const v1::LibraryStep& step, const Arrays& arrays, const std::string& target,
             const Values& expected, double tolerance, bool required = true);
  // The step must be refused with this text.
  void CheckRefused(const std::string& name, const v1::LibraryStep& step, const Arrays& arrays,
                    const std::string& text);
  // The median of 20 runs in a graph, caches flushed before each.
  void Time(const std::string& name, const v1::LibraryStep& step, const Arrays& arrays, double operations,
            double h200_ms);

  int failures() const { return failures_; }
  int checks() const { return checks_; }

 private:
  absl::Status Prepare(const v1::LibraryStep& step, const Arrays& arrays, int* index);
  absl::Status RunOnStream(int index);
  absl::StatusOr<CUgraphExec> Capture(int index);

  const Gpu& gpu_;
  std::unique_ptr<LibraryRunner> runner_;
  int checks_ = 0;
  int failures_ = 0;
};

}  // namespace warpsmith::library

#endif  // WARPSMITH_TESTS_GPU_LIBRARY_STEP_RUNNER_H_
