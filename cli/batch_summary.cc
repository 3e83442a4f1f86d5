#include "cli/batch_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/names.h"
#include "cli/text.h"
#include "common/json.h"

namespace warpsmith::cli {
namespace {

// By name, in the order in which a candidate meets them; the device has it in those that count as busy.
struct StageField {
  const char* name;
  double (v1::StageSeconds::*get)() const;
  void (v1::StageSeconds::*set)(double);
  bool busy;
};
constexpr StageField kStages[] = {
    {"parse", &v1::StageSeconds::parse, &v1::StageSeconds::set_parse, false},
    {"compile", &v1::StageSeconds::compile, &v1::StageSeconds::set_compile, false},
    {"queue", &v1::StageSeconds::queue, &v1::StageSeconds::set_queue, false},
    {"load", &v1::StageSeconds::load, &v1::StageSeconds::set_load, false},
    {"prepare", &v1::StageSeconds::prepare, &v1::StageSeconds::set_prepare, false},
    {"start", &v1::StageSeconds::start, &v1::StageSeconds::set_start, false},
    {"quiet", &v1::StageSeconds::quiet, &v1::StageSeconds::set_quiet, false},
    {"clocks", &v1::StageSeconds::clocks, &v1::StageSeconds::set_clocks, false},
    {"inputs", &v1::StageSeconds::inputs, &v1::StageSeconds::set_inputs, true},
    {"run", &v1::StageSeconds::run, &v1::StageSeconds::set_run, true},
    {"judge", &v1::StageSeconds::judge, &v1::StageSeconds::set_judge, true},
    {"measure", &v1::StageSeconds::measure, &v1::StageSeconds::set_measure, true},
    {"reference", &v1::StageSeconds::reference, &v1::StageSeconds::set_reference, true},
    {"profile", &v1::StageSeconds::profile, &v1::StageSeconds::set_profile, false},
};

}  // namespace

BatchRow BatchSummary::Add(const BatchEntry& entry, const v1::Evaluation& evaluation) {
  BatchRow row;
  row.name = entry.name;
  row.outcome = OutcomeName(evaluation.outcome());
  row.detail = evaluation.reason();
  if (row.detail.empty() && evaluation.outcome() != v1::OUTCOME_OK) row.detail = evaluation.message();
  row.median_ms = evaluation.timing().median_ms();
  row.ratio_to_eager = evaluation.ratio_to_eager();
  row.seconds = evaluation.evaluate_seconds();
  const std::vector<std::string>& expected = entry.expected;
  row.unexpected = !expected.empty() && std::find(expected.begin(), expected.end(), row.outcome) == expected.end();
  ++done_;
  ++outcomes_[row.outcome];
  unexpected_ += row.unexpected ? 1 : 0;
  infra_errors_ += evaluation.outcome() == v1::OUTCOME_INFRA_ERROR ? 1 : 0;
  for (const StageField& stage : kStages) {
    (seconds_.*stage.set)((seconds_.*stage.get)() + (evaluation.stage_seconds().*stage.get)());
  }
  return row;
}

BatchRow BatchSummary::AddError(const BatchEntry& entry, const std::string& error) {
  ++done_;
  ++infra_errors_;
  ++outcomes_["not evaluated"];
  BatchRow row;
  row.name = entry.name;
  row.outcome = "not evaluated";
  row.detail = error;
  row.unexpected = !entry.expected.empty();
  unexpected_ += row.unexpected ? 1 : 0;
  return row;
}

double BatchSummary::BusySeconds() const {
  double busy = 0;
  for (const StageField& stage : kStages) busy += stage.busy ? (seconds_.*stage.get)() : 0;
  return busy;
}

std::string BatchSummary::Text(double wall) const {
  if (done_ == 0) return "nothing was evaluated\n";
  std::string outcomes;
  for (const auto& [name, count] : outcomes_)
    outcomes += fmt::format("{}{} {}", outcomes.empty() ? "" : ", ", count, name);
  std::string out = fmt::format("{} kernels: {}\n", done_, outcomes);
  if (unexpected_ > 0) out += fmt::format("{} ended otherwise than expected\n", unexpected_);
  if (wall > 0) {
    out += fmt::format("{} in all, {:.3f} s a kernel, {:.0f} kernels an hour; validating or timing {:.0f} % of it\n",
                       FormatSeconds(wall), wall / done_, done_ / wall * 3600, BusySeconds() / wall * 100);
  }
  Table table;
  table.AddColumn("  stage");
  table.AddColumn("s a kernel", Table::kRight);
  table.AddColumn("s in all", Table::kRight);
  for (const StageField& stage : kStages) {
    double seconds = (seconds_.*stage.get)();
    if (seconds <= 0) continue;
    table.AddRow(
        {std::string("  ") + stage.name, fmt::format("{:.4f}", seconds / done_), fmt::format("{:.2f}", seconds)});
  }
  if (!table.empty()) {
    out += table.ToString();
    out += "  parse, compile and queue overlap with other kernels' time on the device\n";
  }
  return out;
}

std::string BatchSummary::ToJson(double wall) const {
  Json stages = Json::object();
  for (const StageField& stage : kStages) stages[stage.name] = (seconds_.*stage.get)();
  Json json = {{"kernels", done_},
               {"outcomes", outcomes_},
               {"unexpected", unexpected_},
               {"seconds", wall},
               {"seconds_each", done_ > 0 ? wall / done_ : 0},
               {"kernels_an_hour", wall > 0 ? done_ / wall * 3600 : 0},
               {"busy_share", wall > 0 ? BusySeconds() / wall : 0},
               {"stage_seconds", std::move(stages)}};
  return json.dump();
}

std::string BatchTable(const std::vector<BatchRow>& rows) {
  Table table;
  table.AddColumn("kernel");
  table.AddColumn("verdict");
  table.AddColumn("ms", Table::kRight);
  table.AddColumn("of eager", Table::kRight);
  table.AddColumn("s", Table::kRight);
  table.AddColumn("why");
  for (const BatchRow& row : rows) {
    table.AddRow({row.name, row.outcome + (row.unexpected ? " !" : ""), FormatMs(row.median_ms),
                  FormatPercent(row.ratio_to_eager), fmt::format("{:.2f}", row.seconds), Line(row.detail)});
  }
  return table.ToString();
}

}  // namespace warpsmith::cli
