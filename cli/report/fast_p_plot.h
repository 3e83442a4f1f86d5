// fast_p as KernelBench defines it: the fraction of all problems with a correct kernel whose ratio to the baseline is
// above p, for every p.
// Threading: pure.
#ifndef WARPSMITH_CLI_REPORT_FAST_P_PLOT_H_
#define WARPSMITH_CLI_REPORT_FAST_P_PLOT_H_

#include <string>
#include <vector>

#include "cli/report/html.h"

namespace warpsmith::cli::report {

// `ratios`: of the problems with a correct kernel. `problems`: all of them, which is what fractions are of.
double FastP(const std::vector<double>& ratios, int problems, double p);

struct FastPCurve {
  std::string label;
  std::vector<double> ratios;
};

// Empty where no curve has a ratio.
Html FastPPlot(const std::vector<FastPCurve>& curves, int problems, bool emulated);

}  // namespace warpsmith::cli::report

#endif  // WARPSMITH_CLI_REPORT_FAST_P_PLOT_H_
