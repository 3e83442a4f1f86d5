#include "cli/report/plot_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace warpsmith::cli::report {
namespace {

std::pair<double, const char*> Scaled(double value) {
  constexpr std::pair<double, const char*> kScales[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  for (const auto& [scale, letter] : kScales) {
    if (value >= scale * 0.9999) return {value / scale, letter};
  }
  return {value, ""};
}

}  // namespace

std::string Percent(double fraction) { return fmt::format("{:.2f}%", 100 * fraction); }
std::string Pixels(double pixels) { return fmt::format("{:.1f}", pixels); }

std::string TickText(double value, std::string_view unit) {
  const auto [number, letter] = Scaled(value);
  return fmt::format("{:.4g}{}{}", number, letter, unit);
}

std::string ScaledText(double value, std::string_view unit) {
  const auto [number, letter] = Scaled(value);
  return fmt::format("{:.3g} {}{}", number, letter, unit);
}

void AddLine(Html* svg, double x1, double y1, double x2, double y2, std::string_view attributes) {
  svg->Raw(fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" {}/>", Percent(x1), Pixels(y1), Percent(x2),
                       Pixels(y2), attributes));
}

void AddText(Html* svg, double x, double y, std::string_view text, std::string_view attributes) {
  svg->Raw(fmt::format("<text x=\"{}\" y=\"{}\" {}>", Percent(x), Pixels(y), attributes)).Text(text).Raw("</text>");
}

void AddCircle(Html* svg, double x, double y, std::string_view attributes) {
  svg->Raw(fmt::format("<circle cx=\"{}\" cy=\"{}\" {}/>", Percent(x), Pixels(y), attributes));
}

void AddVerticalAxis(const LogAxis& axis, const PlotArea& area, std::string_view unit, Html* labels, Html* svg) {
  for (const double tick : axis.Ticks()) {
    const double y = area.Y(axis.Position(tick));
    AddLine(svg, 0, y, 1, y, "class=\"grid\"");
    labels->Raw(fmt::format("<text x=\"{}\" y=\"{}\" class=\"end\">", kAxisWidth - 6, Pixels(y + 4)))
        .Text(TickText(tick, unit))
        .Raw("</text>");
  }
}

void AddHorizontalAxis(const LogAxis& axis, const PlotArea& area, std::string_view unit, Html* svg) {
  const double bottom = area.top + area.height;
  AddLine(svg, 0, bottom, 1, bottom, "class=\"axis\"");
  for (const double tick : axis.Ticks(5)) {
    const double x = axis.Position(tick);
    AddLine(svg, x, area.top, x, bottom, "class=\"grid\"");
    AddText(svg, x, bottom + 16, TickText(tick, unit), x > 0.94 ? "class=\"end\"" : x < 0.06 ? "" : "class=\"mid\"");
  }
}

std::vector<double> Spread(std::vector<double> heights, double least_distance) {
  std::vector<size_t> order(heights.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return heights[a] > heights[b]; });
  for (size_t i = 1; i < order.size(); ++i) {  // from the lowest up: nothing is pushed out of the bottom
    heights[order[i]] = std::min(heights[order[i]], heights[order[i - 1]] - least_distance);
  }
  return heights;
}

Html Figure(std::string_view kind, const PlotArea& area, std::string_view what, const Html& labels, const Html& svg,
            const Html& caption) {
  const std::string height = Pixels(area.total());
  const std::string width = std::to_string(kAxisWidth);
  Html out;
  out.Open("figure", {{"class", std::string("plot ") + std::string(kind)}}).Open("div", {{"class", "chart"}});
  out.Open("svg", {{"class", "labels"}, {"width", width}, {"height", height}, {"aria-hidden", "true"}});
  out.Add(labels).Close("svg");
  out.Open("svg", {{"class", "area"}, {"width", "100%"}, {"height", height}, {"role", "img"}, {"aria-label", what}});
  out.Add(svg).Close("svg").Close("div");
  return out.Open("figcaption").Add(caption).Close("figcaption").Close("figure");
}

}  // namespace warpsmith::cli::report
