// What the plots share. A plot is an SVG as wide as the page: its horizontal positions are percentages, its vertical
// ones pixels, so that text keeps its size on every screen and no script is needed. Labels of the vertical axis stand
// in an SVG of their own beside it. Threading: pure. Units: fractions run from 0 (left) to 1; heights are pixels from
// the top.
#ifndef WARPSMITH_CLI_REPORT_PLOT_PARTS_H_
#define WARPSMITH_CLI_REPORT_PLOT_PARTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "cli/report/html.h"
#include "cli/report/log_axis.h"

namespace warpsmith::cli::report {

inline constexpr int kAxisWidth = 88;

std::string Percent(double fraction);  // "12.34%"
std::string Pixels(double pixels);     // "107.5"
// "0.5×", "20", "3k", "1.5M": short, for ticks.
std::string TickText(double value, std::string_view unit);
// "67 TFLOP/s", "4.8 TB/s".
std::string ScaledText(double value, std::string_view unit);

struct PlotArea {
  double top = 26;
  double height = 260;  // of the area between the axes
  double below = 24;    // for what stands under it

  double total() const { return top + height + below; }
  // Of a position on the vertical axis, 0 at the bottom.
  double Y(double position) const { return top + height * (1 - position); }
};

// SVG elements. `attributes` is markup of ours, such as class="grid".
void AddLine(Html* svg, double x1, double y1, double x2, double y2, std::string_view attributes);
void AddText(Html* svg, double x, double y, std::string_view text, std::string_view attributes);
void AddCircle(Html* svg, double x, double y, std::string_view attributes);

// Lines across and their labels for a logarithmic vertical axis. `unit` follows each tick.
void AddVerticalAxis(const LogAxis& axis, const PlotArea& area, std::string_view unit, Html* labels, Html* svg);
// Likewise for the horizontal one.
void AddHorizontalAxis(const LogAxis& axis, const PlotArea& area, std::string_view unit, Html* svg);

// Labels that would lie on one another are moved apart: heights of texts, of which the order stays.
std::vector<double> Spread(std::vector<double> heights, double least_distance);

// The figure around both. `what` is told to those who cannot see it.
Html Figure(std::string_view kind, const PlotArea& area, std::string_view what, const Html& labels, const Html& svg,
            const Html& caption);

}  // namespace warpsmith::cli::report

#endif  // WARPSMITH_CLI_REPORT_PLOT_PARTS_H_
