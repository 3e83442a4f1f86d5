// The plot of a search: the best kernel so far as a step line, every correct candidate as a dot in its round, what
// failed counted below by class. Logarithmic, in times of PyTorch eager's speed. Threading: pure.
#ifndef WARPSMITH_CLI_REPORT_TRAJECTORY_PLOT_H_
#define WARPSMITH_CLI_REPORT_TRAJECTORY_PLOT_H_

#include "cli/report/figures.h"
#include "cli/report/html.h"

namespace warpsmith::cli::report {

struct TrajectoryOptions {
  double height = 260;
  bool dots = true;       // else only the step line and what failed
  bool reference = true;  // lines of the baselines and the roofline
};

// Empty where there is nothing to draw.
Html TrajectoryPlot(const SearchFigures& figures, const TrajectoryOptions& options = {});

}  // namespace warpsmith::cli::report

#endif  // WARPSMITH_CLI_REPORT_TRAJECTORY_PLOT_H_
