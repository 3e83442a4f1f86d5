// fast_p: of all problems, the share with a correct kernel that is more than p times as fast as a baseline; and the
// ratio to a baseline that it is counted from. Threading: pure. Units: milliseconds; ratios are the baseline's time
// over the kernel's, 0 is "not known". Source of the method: KernelBench's definition (its score.py).
#ifndef WARPSMITH_COMMON_FAST_P_H_
#define WARPSMITH_COMMON_FAST_P_H_

#include <vector>

namespace warpsmith {

// `ratios`: one of each problem that has a correct kernel, 0 where there is no time to compare it with: such a one
// counts as correct, which is p = 0, and as no faster. `problems`: all of them, those without a kernel too; 0 gives 0.
double FastP(const std::vector<double>& ratios, int problems, double p);

// Of a kernel to a baseline other than eager: by way of eager, beside which the kernel was timed, so that all ratios
// are of one measurement of the kernel; over the kernel's own time where that is not known.
double RatioToBaseline(double baseline_ms, double eager_ms, double kernel_ms, double ratio_to_eager);

}  // namespace warpsmith

#endif  // WARPSMITH_COMMON_FAST_P_H_
