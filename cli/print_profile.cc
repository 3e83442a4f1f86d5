#include "cli/print_profile.h"

#include <fmt/format.h>

#include <cmath>

#include "cli/text.h"

namespace warpsmith::cli {
namespace {

constexpr int kIndent = 16;

std::string WrappedField(const char* name, const std::string& value) {
  return fmt::format("  {:<13} {}\n", name, Wrap(value, kPageWidth - kIndent, std::string(kIndent, ' ')));
}

// Three digits that count.
std::string Number(double value) {
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size >= 99.95) return fmt::format("{:.0f}", value);
  return size >= 9.995 ? fmt::format("{:.1f}", value) : fmt::format("{:.3g}", value);
}

std::string RooflineText(const v1::ProfileRoofline& roof) {
  if (!(roof.bytes_per_second() > 0)) return "";
  const auto of = [](double value, double peak, double unit, const char* name) {
    return peak > 0 ? fmt::format("{} of {} {}", Number(value / unit), Number(peak / unit), name)
                    : fmt::format("{} {}", Number(value / unit), name);
  };
  std::string text = of(roof.bytes_per_second(), roof.peak_bytes_per_second(), 1e12, "TB/s");
  if (roof.flops_per_second() > 0) {
    text += fmt::format(", {} ({}), {} operations a byte",
                        of(roof.flops_per_second(), roof.peak_flops_per_second(), 1e12, "TFLOP/s"),
                        Line(roof.arithmetic()), Number(roof.arithmetic_intensity()));
  }
  if (roof.share() > 0) text += fmt::format(": {} of the roof", FormatPercent(roof.share()));
  return WrappedField("roofline", text);
}

std::string FiguresText(const v1::Profile& profile) {
  Table table;
  table.AddColumn("  counter");
  table.AddColumn("value", Table::kRight);
  table.AddColumn("unit");
  for (const v1::ProfileFigure& figure : profile.figures()) {
    table.AddRow({"  " + Line(figure.name()), Number(figure.value()), Line(figure.unit())});
  }
  return table.empty() ? "" : table.ToString();
}

std::string Shared(const v1::ProfileStep& step) {
  const int64_t bytes = int64_t{step.static_shared_bytes()} + step.dynamic_shared_bytes();
  return bytes == 0 ? "-" : std::to_string(bytes);
}

// "50 % shared_memory": how many of an SM's warps there may be, and what allows no more.
std::string Occupancy(const v1::ProfileStep& step) {
  if (!(step.occupancy() > 0)) return "-";
  return fmt::format("{:.0f} % {}", 100 * step.occupancy(), Line(step.occupancy_limiter()));
}

std::string StepsText(const v1::Profile& profile) {
  Table table;
  table.AddColumn("  step");
  for (const char* title : {"times", "ms", "share", "regs", "shared", "local"}) table.AddColumn(title, Table::kRight);
  table.AddColumn("occupancy");
  table.AddColumn("bound by");
  for (const v1::ProfileStep& step : profile.steps()) {
    const bool kernel = step.registers() > 0;
    table.AddRow({"  " + Fit(Line(step.kernel()), 20), std::to_string(step.launches()), FormatMs(step.time_ms()),
                  fmt::format("{:.0f} %", 100 * step.share()), kernel ? std::to_string(step.registers()) : "-",
                  Shared(step), kernel ? std::to_string(step.local_bytes()) : "-", Occupancy(step),
                  Line(step.bound_by())});
  }
  return table.empty() ? "" : table.ToString();
}

}  // namespace

std::string RenderProfile(const v1::Profile& profile) {
  std::string out;
  if (!profile.summary().empty()) out += WrappedField("profile", profile.summary());
  if (!profile.unavailable_reason().empty()) out += WrappedField("no counters", profile.unavailable_reason());
  out += RooflineText(profile.roofline());
  out += FiguresText(profile);
  out += StepsText(profile);
  if (profile.passes() > 0) {
    out += WrappedField("profiled",
                        fmt::format("in {} runs of the plan, {}{}", profile.passes(), FormatSeconds(profile.seconds()),
                                    profile.chip().empty() ? "" : ", chip " + Line(profile.chip())));
  }
  return out;
}

}  // namespace warpsmith::cli
