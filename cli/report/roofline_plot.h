// Profiled kernels under the roof of their device: operations a byte of device memory across, operations a second up,
// both logarithmic. And what counters said of each kernel, as tables.
// Threading: pure.
#ifndef WARPSMITH_CLI_REPORT_ROOFLINE_PLOT_H_
#define WARPSMITH_CLI_REPORT_ROOFLINE_PLOT_H_

#include "cli/report/figures.h"
#include "cli/report/html.h"

namespace warpsmith::cli::report {

// Empty where no profile has both figures.
Html RooflinePlot(const SearchFigures& figures);

}  // namespace warpsmith::cli::report

#endif  // WARPSMITH_CLI_REPORT_ROOFLINE_PLOT_H_
