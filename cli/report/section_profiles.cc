#include <fmt/format.h>

#include <cmath>

#include "cli/report/html_table.h"
#include "cli/report/roofline_plot.h"
#include "cli/report/sections.h"
#include "cli/text.h"

namespace warpsmith::cli::report {
namespace {

// Three digits that count.
std::string Figure3(double value) {
  const double size = std::abs(value);
  if (size >= 99.95) return fmt::format("{:.0f}", value);
  return size >= 9.995 ? fmt::format("{:.1f}", value) : fmt::format("{:.3g}", value);
}

Html StepsTable(const v1::Profile& profile) {
  HtmlTable table("Steps of the plan");
  table.Column("step");
  for (const char* title : {"launches", "time", "share", "registers", "shared B", "occupancy"}) {
    table.Column(title, HtmlTable::kNumber);
  }
  table.Column("limited by").Column("bound by");
  for (const v1::ProfileStep& step : profile.steps()) {
    const bool kernel = step.registers() > 0;
    const int64_t shared = int64_t{step.static_shared_bytes()} + step.dynamic_shared_bytes();
    table.Cell(Line(step.kernel())).Cell(Thousands(step.launches())).Cell(MsText(step.time_ms()));
    table.Cell(fmt::format("{:.0f} %", 100 * step.share())).Cell(kernel ? std::to_string(step.registers()) : "–");
    table.Cell(kernel ? Thousands(shared) : "–");
    table.Cell(step.occupancy() > 0 ? fmt::format("{:.0f} %", 100 * step.occupancy()) : "–");
    table.Cell(step.occupancy_limiter().empty() ? "–" : Line(step.occupancy_limiter()));
    table.Cell(step.bound_by().empty() ? "–" : Line(step.bound_by())).EndRow();
  }
  return table.empty() ? Html() : table.Finish();
}

Html CountersTable(const v1::Profile& profile) {
  HtmlTable table("Counters of one run");
  table.Column("counter").Column("value", HtmlTable::kNumber).Column("unit");
  for (const v1::ProfileFigure& figure : profile.figures()) {
    table.Cell(Line(figure.name())).Cell(Figure3(figure.value())).Cell(Line(figure.unit())).EndRow();
  }
  return table.empty() ? Html() : table.Finish();
}

Html OneProfile(const v1::Candidate& kernel, bool open) {
  const v1::Profile& profile = kernel.evaluation().profile();
  Html head;
  head.Raw("<b>")
      .Text(fmt::format("round {}", kernel.round()))
      .Raw("</b> <bdi>")
      .Text(kernel.idea().title())
      .Raw("</bdi> ");
  if (!profile.bound_by().empty()) head.Element("span", profile.bound_by(), {{"class", "cat"}});
  Html content = Paragraph(profile.summary());
  if (!profile.unavailable_reason().empty()) {
    content.Add(Paragraph("No counters: " + profile.unavailable_reason(), "note"));
  }
  content.Add(CountersTable(profile)).Add(StepsTable(profile));
  if (profile.passes() > 0) {
    content.Add(Paragraph(
        fmt::format("Profiled in {} runs of the plan, {}{}.", profile.passes(), FormatSeconds(profile.seconds()),
                    profile.chip().empty() ? "" : ", chip " + Line(profile.chip())),
        "dim"));
  }
  return Fold(head, content, open, "kernel");
}

Html AlgorithmRoofline(const SearchFigures& figures) {
  if (figures.best == nullptr || figures.search.emulated()) return {};
  const v1::Roofline& roofline = figures.best->evaluation().roofline();
  if (!(roofline.share() > 0)) return {};
  std::string text = fmt::format(
      "At the device's peaks the algorithm as written takes {} for its bytes and {} for its operations; the best "
      "kernel "
      "reaches {} of the larger bound ({}).",
      MsText(roofline.memory_floor_ms()), MsText(roofline.compute_floor_ms()), FormatPercent(roofline.share()),
      Line(roofline.bound()));
  return Paragraph(text);
}

}  // namespace

Html Profiles(const SearchFigures& figures) {
  Html out = AlgorithmRoofline(figures);
  out.Add(RooflinePlot(figures));
  bool any = false;
  for (int i = figures.report.kernels_size() - 1; i >= 0; --i) {
    const v1::Candidate& kernel = figures.report.kernels(i);
    if (!kernel.evaluation().has_profile()) continue;
    out.Add(OneProfile(kernel, !any));
    any = true;
  }
  if (!any) {
    out.Add(Paragraph(figures.search.emulated() ? "No profile: the emulated device has no counters."
                                                : "No kernel of the winning line was profiled.",
                      "dim"));
  }
  return out;
}

}  // namespace warpsmith::cli::report
