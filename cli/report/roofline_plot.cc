#include "cli/report/roofline_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cli/report/plot_parts.h"
#include "cli/text.h"

namespace warpsmith::cli::report {
namespace {

struct RoofPoint {
  const v1::Candidate* candidate;
  const v1::IdeaNode* node;
  double intensity;
  double operations;  // a second
};

struct Roof {
  double bytes;       // a second
  double operations;  // a second
  std::string arithmetic;

  double At(double intensity) const { return std::min(operations, bytes * intensity); }
};

std::vector<RoofPoint> PointsOf(const SearchFigures& figures) {
  std::vector<RoofPoint> points;
  for (const v1::IdeaNode& node : figures.report.ideas()) {
    for (const v1::Candidate& candidate : node.candidates()) {
      const v1::ProfileRoofline& roofline = candidate.evaluation().profile().roofline();
      if (!(roofline.arithmetic_intensity() > 0) || !(roofline.flops_per_second() > 0)) continue;
      points.push_back({&candidate, &node, roofline.arithmetic_intensity(), roofline.flops_per_second()});
    }
  }
  return points;
}

// One of each arithmetic: the highest that was told.
std::vector<Roof> RoofsOf(const std::vector<RoofPoint>& points) {
  std::map<std::string, Roof> roofs;
  for (const RoofPoint& point : points) {
    const v1::ProfileRoofline& told = point.candidate->evaluation().profile().roofline();
    if (!(told.peak_bytes_per_second() > 0) || !(told.peak_flops_per_second() > 0)) continue;
    Roof& roof = roofs[told.arithmetic()];
    roof.arithmetic = told.arithmetic();
    roof.bytes = std::max(roof.bytes, told.peak_bytes_per_second());
    roof.operations = std::max(roof.operations, told.peak_flops_per_second());
  }
  std::vector<Roof> out;
  out.reserve(roofs.size());
  for (auto& [name, roof] : roofs) out.push_back(roof);
  return out;
}

// The roof is the one oblique line of the page: drawn in an SVG that is stretched with its lines' widths kept.
void DrawRoof(const Roof& roof, const LogAxis& across, const LogAxis& up, const PlotArea& area, Html* svg) {
  const double knee = std::clamp(roof.operations / roof.bytes, across.low(), across.high());
  svg->Raw(fmt::format(
      "<svg x=\"0\" y=\"0\" width=\"100%\" height=\"{0}\" viewBox=\"0 0 1000 {0}\" "
      "preserveAspectRatio=\"none\"><polyline class=\"roof\" vector-effect=\"non-scaling-stroke\" points=\"",
      Pixels(area.total())));
  for (const double at : {across.low(), knee, across.high()}) {
    svg->Raw(fmt::format("{:.1f},{} ", 1000 * across.Position(at), Pixels(area.Y(up.Position(roof.At(at))))));
  }
  svg->Raw("\"/></svg>");
}

}  // namespace

Html RooflinePlot(const SearchFigures& figures) {
  const std::vector<RoofPoint> points = PointsOf(figures);
  if (points.empty()) return {};
  const std::vector<Roof> roofs = RoofsOf(points);
  LogAxis across, up;
  for (const RoofPoint& point : points) {
    across.Include(point.intensity);
    up.Include(point.operations);
  }
  for (const Roof& roof : roofs) {
    across.Include(roof.operations / roof.bytes);
    up.Include(roof.operations);
  }
  for (const Roof& roof : roofs) up.Include(roof.At(across.low()));
  across.Finish(20);
  up.Finish(10);

  PlotArea area;
  area.top = 30;
  area.height = 240;
  area.below = 42;
  Html labels, svg;
  labels.Raw(fmt::format("<text x=\"{}\" y=\"10\" class=\"end\">FLOP/s</text>", kAxisWidth - 6));
  AddVerticalAxis(up, area, "", &labels, &svg);
  AddHorizontalAxis(across, area, "", &svg);
  AddText(&svg, 0.5, area.total() - 6, "operations a byte of device memory", "class=\"mid\"");
  std::vector<double> heights;
  for (const Roof& roof : roofs) {
    DrawRoof(roof, across, up, area, &svg);
    heights.push_back(area.Y(up.Position(roof.operations)) - 5);
  }
  heights = Spread(heights, 13);
  for (size_t i = 0; i < roofs.size(); ++i) {
    AddText(&svg, 1, heights[i],
            fmt::format("{} peak {}, {}", Cut(Line(roofs[i].arithmetic), 24), ScaledText(roofs[i].operations, "FLOP/s"),
                        ScaledText(roofs[i].bytes, "B/s")),
            "class=\"end reflabel\"");
  }
  std::string what = "Profiled kernels under the roofline.";
  for (const RoofPoint& point : points) {
    const bool lead = figures.lineage.count(point.candidate->id()) > 0;
    const double share = point.candidate->evaluation().profile().roofline().share();
    const std::string place = fmt::format("{} · {} operations a byte, {}{}", ShortId(point.candidate->id()),
                                          TickText(point.intensity, ""), ScaledText(point.operations, "FLOP/s"),
                                          share > 0 ? fmt::format(", {} of the roof", FormatPercent(share)) : "");
    if (what.size() < 1000) what += " " + place + ".";
    svg.Raw("<g><title>")
        .Text(fmt::format("round {}: {}", point.node->round(), Cut(Line(point.node->idea().title()), 90)))
        .Raw("</title>");
    svg.Raw(fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"4\" class=\"valid{}\" data-tip=\"",
                        Percent(across.Position(point.intensity)), Pixels(area.Y(up.Position(point.operations))),
                        lead ? " lead" : ""))
        .Text(place)
        .Raw("\"/></g>");
  }
  Html caption;
  caption.Text(fmt::format("{} profiled {}; attained over one run on cold caches, by hardware counters.", points.size(),
                           points.size() == 1 ? "kernel" : "kernels"));
  return Figure("roofline", area, what, labels, svg, caption);
}

}  // namespace warpsmith::cli::report
