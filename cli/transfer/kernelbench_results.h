// Results as KernelBench keeps them: eval_results.json of a run, and fast_p by its definition.
// Threading: one thread. Units: milliseconds. fast_p counts every problem of the selection, solved or not: the fraction
// with a correct kernel for which the baseline's time over the kernel's is larger than p. A problem without that
// baseline counts as not faster, and is told of.
// Source of the method: KernelBench's score.py and eval_from_generations.py, for their formats.
#ifndef WARPSMITH_CLI_TRANSFER_KERNELBENCH_RESULTS_H_
#define WARPSMITH_CLI_TRANSFER_KERNELBENCH_RESULTS_H_

#include <map>
#include <string>
#include <vector>

#include "common/json.h"
#include "warpsmith/v1/export.pb.h"

namespace warpsmith::transfer {

// A folder a level, as KernelBench has a run a level; "" where there is none.
std::string LevelFolder(const v1::ExportedProblem& problem);
// level_1_problem_23_sample_0_kernel.py; NAME_kernel.py where the problem is none of KernelBench's.
std::string KernelFileName(const v1::ExportedProblem& problem);

// The list of samples of a problem: one. `written`: why there is no file for it; empty: there is.
Json EvaluationResult(const v1::ExportedProblem& problem, const std::string& unwritten);

// Key of eval_results.json: the problem's number, else its name.
std::string ResultKey(const v1::ExportedProblem& problem);

class FastP {
 public:
  void Add(const v1::ExportedProblem& problem);
  int problems() const { return problems_; }
  // {"problems", "correct", "eager": {"0": ..., "1": ...}, "compile": {...}, "without_compile_baseline", ...}
  Json ToJson() const;
  std::string ToText() const;

 private:
  struct Against {
    std::vector<double> ratios;  // of correct kernels, as common/fast_p.h takes them
    int without = 0;             // correct kernels that have none
  };

  int problems_ = 0;
  int correct_ = 0;
  int degenerate_ = 0;
  bool emulated_ = false;
  std::map<std::string, Against> against_ = {{"eager", {}}, {"compile", {}}};
};

}  // namespace warpsmith::transfer

#endif  // WARPSMITH_CLI_TRANSFER_KERNELBENCH_RESULTS_H_
