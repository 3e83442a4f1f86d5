#include "cli/report/fast_p_plot.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/report/figures.h"
#include "cli/report/plot_parts.h"
#include "common/fast_p.h"

namespace warpsmith::cli::report {
namespace {

// A step down at each ratio: fast_p counts what is above p.
void DrawCurve(std::vector<double> ratios, int problems, const LogAxis& across, const PlotArea& area,
               std::string_view attributes, Html* svg) {
  std::erase_if(ratios, [](double ratio) { return !(ratio > 0); });
  std::sort(ratios.begin(), ratios.end());
  double x = 0;
  for (size_t i = 0; i <= ratios.size(); ++i) {
    const double fraction = static_cast<double>(ratios.size() - i) / problems;
    const double next = i == ratios.size() ? 1 : across.Position(ratios[i]);
    if (next > x) AddLine(svg, x, area.Y(fraction), next, area.Y(fraction), attributes);
    if (i < ratios.size()) AddLine(svg, next, area.Y(fraction), next, area.Y(fraction - 1.0 / problems), attributes);
    x = next;
  }
}

}  // namespace

Html FastPPlot(const std::vector<FastPCurve>& curves, int problems, bool emulated) {
  LogAxis across;
  for (const FastPCurve& curve : curves) {
    for (const double ratio : curve.ratios) across.Include(ratio);
  }
  if (across.empty() || problems <= 0) return {};
  across.Include(0.5);
  across.Include(2.5);
  across.Finish();
  PlotArea area;
  area.height = 220;
  area.below = 42;
  Html labels, svg;
  labels.Raw(fmt::format("<text x=\"{}\" y=\"10\" class=\"end\">fast_p</text>", kAxisWidth - 6));
  for (const double tick : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    AddLine(&svg, 0, area.Y(tick), 1, area.Y(tick), tick == 0 ? "class=\"axis\"" : "class=\"grid\"");
    labels.Raw(fmt::format("<text x=\"{}\" y=\"{}\" class=\"end\">{:.2f}</text>", kAxisWidth - 6,
                           Pixels(area.Y(tick) + 4), tick));
  }
  AddHorizontalAxis(across, area, "×", &svg);
  AddText(&svg, 0.5, area.total() - 6, "p: times the baseline's speed", "class=\"mid\"");
  Html caption;
  std::string what = "fast_p.";
  for (size_t i = 0; i < curves.size(); ++i) {
    const std::string name = i == 0 ? "best" : "best second";
    DrawCurve(curves[i].ratios, problems, across, area, fmt::format("class=\"{}\"", name), &svg);
    caption.Open("span", {{"class", "key"}});
    caption.Raw(
        fmt::format("<svg width=\"22\" height=\"10\" aria-hidden=\"true\"><line x1=\"0\" y1=\"5\" x2=\"22\" y2=\"5\" "
                    "class=\"{}\"/></svg>",
                    name));
    caption.Text(curves[i].label).Close("span");
    for (const double p : {1.0, 1.5, 2.0}) {
      const double fraction = FastP(curves[i].ratios, problems, p);
      what += fmt::format(" {}, p {}: {:.3f}.", curves[i].label, p, fraction);
      if (i > 0) continue;
      AddCircle(&svg, across.Position(p), area.Y(fraction),
                fmt::format("r=\"4.5\" class=\"bestdot\" data-tip=\"fast_{} = {:.3f}\"", p, fraction));
      AddText(&svg, across.Position(p), area.Y(fraction) - 9, fmt::format("{:.2f}", fraction),
              "class=\"mid bestlabel\"");
    }
  }
  caption.Element("span",
                  fmt::format("of all {} problems; one without a correct kernel counts as not faster{}", problems,
                              emulated ? "; emulated device" : ""),
                  {{"class", "key"}});
  return Figure("fastp", area, what, labels, svg, caption);
}

}  // namespace warpsmith::cli::report
