// fast_p (common/fast_p.h) for every p, as a curve.
// Threading: pure.
#ifndef WARPSMITH_CLI_REPORT_FAST_P_PLOT_H_
#define WARPSMITH_CLI_REPORT_FAST_P_PLOT_H_

#include <string>
#include <vector>

#include "cli/report/html.h"

namespace warpsmith::cli::report {

struct FastPCurve {
  std::string label;
  std::vector<double> ratios;  // as common/fast_p.h takes them
};

// Empty where no curve has a ratio.
Html FastPPlot(const std::vector<FastPCurve>& curves, int problems, bool emulated);

}  // namespace warpsmith::cli::report

#endif  // WARPSMITH_CLI_REPORT_FAST_P_PLOT_H_
