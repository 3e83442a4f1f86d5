#include <fmt/format.h>

#include <algorithm>

#include "cli/names.h"
#include "cli/report/html_table.h"
#include "cli/report/plot_parts.h"
#include "cli/report/sections.h"
#include "cli/text.h"

namespace warpsmith::cli::report {
namespace {

std::string OrDash(const std::string& text) { return text.empty() || text == "-" ? "–" : text; }

Html Bar(double share) {
  Html out;
  out.Raw("<svg class=\"bar\" width=\"100%\" height=\"10\" aria-hidden=\"true\"><rect height=\"10\" rx=\"2\" width=\"")
      .Raw(Percent(std::clamp(share, 0.0, 1.0)))
      .Raw("\"/></svg>");
  return out;
}

}  // namespace

Html Section(std::string_view id, std::string_view title, const Html& content) {
  Html out;
  if (content.empty()) return out;
  out.Open("section", {{"id", id}}).Element("h2", title).Raw("\n").Add(content).Close("section").Raw("\n");
  return out;
}

Html Paragraph(std::string_view text, std::string_view classes) {
  Html out;
  if (text.empty()) return out;
  return out.Element("p", text, {{"class", classes}}).Raw("\n");
}

Html Fold(const Html& summary, const Html& content, bool open, std::string_view classes) {
  Html out;
  out.Raw(open ? "<details open" : "<details");
  if (!classes.empty()) out.Raw(" class=\"").Text(classes).Raw("\"");
  return out.Raw("><summary>").Add(summary).Raw("</summary>\n").Add(content).Raw("</details>\n");
}

Html Fold(std::string_view summary, const Html& content, bool open) {
  Html head;
  head.Text(summary);
  return Fold(head, content, open);
}

Html Tile(std::string_view name, std::string_view value, std::string_view remark) {
  Html out;
  out.Raw("<div>").Element("dt", name).Raw("<dd>").Element("b", value);
  if (!remark.empty()) out.Raw(" ").Element("small", remark);
  return out.Raw("</dd></div>");
}

Html EmulatedBadge() {
  Html out;
  out.Element("span", "emulated", {{"class", "badge emulated"}, {"title", "timed on a CPU; says nothing of a GPU"}});
  return out;
}

Html Tiles(const SearchFigures& figures) {
  const v1::Search& search = figures.search;
  Html out;
  out.Raw("<dl class=\"tiles\">");
  out.Add(Tile("best kernel", MsText(search.best_ms()), figures.precision.empty() ? "" : "class " + figures.precision));
  out.Add(Tile("to PyTorch eager", RatioText(search.best_ratio_to_eager()),
               figures.eager_ms > 0 ? MsText(figures.eager_ms) : ""));
  if (figures.best != nullptr) {
    const v1::Evaluation& evaluation = figures.best->evaluation();
    if (evaluation.ratio_to_best_baseline() > 0) {
      out.Add(Tile("to the fastest baseline of its class", RatioText(evaluation.ratio_to_best_baseline()),
                   BaselineLabel(evaluation.best_baseline())));
    }
    const v1::Confirmation& confirmed = evaluation.confirmation();
    if (confirmed.ratio_to_reference() > 0) {
      out.Add(
          Tile("confirmed", RatioText(confirmed.ratio_to_reference()),
               fmt::format("{} to {}", RatioText(confirmed.reference_low()), RatioText(confirmed.reference_high()))));
    }
    if (evaluation.roofline().share() > 0 && !search.emulated()) {
      out.Add(Tile("of the roofline", FormatPercent(evaluation.roofline().share()),
                   Line(evaluation.roofline().bound()) + " bound"));
    }
  }
  out.Add(Tile("rounds", search.rounds_size() == 0 ? "–" : std::to_string(search.rounds_size()),
               search.settings().rounds() > 0 ? fmt::format("of {}", search.settings().rounds()) : ""));
  out.Add(Tile(
      "ideas",
      Thousands(search.rounds_size() == 0 && figures.ideas.empty() ? 0 : static_cast<int64_t>(figures.ideas.size()))));
  out.Add(Tile("candidates", Thousands(figures.candidates)));
  out.Add(Tile("spent on models", fmt::format("${:.2f}", search.usage().usd()),
               fmt::format("{} calls", Thousands(search.usage().model_calls()))));
  return out.Raw("</dl>\n");
}

Html MetaLine(const SearchFigures& figures) {
  const v1::Search& search = figures.search;
  Html out;
  out.Raw("<p class=\"meta\">").Raw("search ").Element("code", search.id());
  const auto add = [&](const std::string& text) { out.Raw(" · ").Text(text); };
  std::string state = SearchStateName(search.state());
  if (search.state() == v1::SEARCH_STATE_DONE && !search.finish_reason().empty()) state += ": " + FinishText(search);
  add(state);
  if (!figures.device.empty()) add(Line(figures.device));
  add("submitted " + FormatInstant(search.submitted_at_us()) + " UTC" +
      (search.submitted_by().empty() ? "" : " by " + Line(search.submitted_by())));
  if (search.finished_at_us() > search.submitted_at_us()) {
    add("took " + FormatSeconds(static_cast<double>(search.finished_at_us() - search.submitted_at_us()) / 1e6));
  }
  if (!search.settings().strategy().empty()) add("strategy " + Line(search.settings().strategy()));
  if (!search.settings().preset().empty()) add("preset " + Line(search.settings().preset()));
  if (!search.problem().signature().operator_family().empty()) {
    add("family " + Line(search.problem().signature().operator_family()));
  }
  if (figures.report.written_at_us() > 0) {
    add(fmt::format("written {} UTC by warpsmith {}", FormatInstant(figures.report.written_at_us()),
                    Line(figures.report.version())));
  }
  return out.Raw("</p>\n");
}

Html RoundsTable(const SearchFigures& figures) {
  HtmlTable table("Speedup per round");
  table.Column("round", HtmlTable::kNumber)
      .Column("best so far", HtmlTable::kNumber)
      .Column("to eager", HtmlTable::kNumber);
  table.Column("gain", HtmlTable::kNumber).Column("round's best", HtmlTable::kNumber);
  for (const char* title : {"ideas", "generated", "compiled", "correct", "faster"}) {
    table.Column(title, HtmlTable::kNumber);
  }
  table.Column("round's best idea");
  double before = 0;
  for (const v1::RoundSummary& round : figures.search.rounds()) {
    const double gain = before > 0 && round.best_ratio_to_eager() > 0 ? round.best_ratio_to_eager() / before : 0;
    table.Cell(std::to_string(round.round()))
        .Cell(MsText(round.best_ms()))
        .Cell(RatioText(round.best_ratio_to_eager()));
    table.Cell(gain > 0 ? RatioText(gain) : "–").Cell(MsText(round.round_best_ms()));
    for (const int count : {round.ideas(), round.generated(), round.compiled(), round.correct(), round.faster()}) {
      table.Cell(Thousands(count));
    }
    Html idea;
    if (round.round_best_ms() > 0) {
      idea.Open("bdi").Text(round.best_idea()).Close("bdi");
    } else {
      idea.Text(round.generated() > 0      ? "no valid kernel"
                : round.closed_at_us() > 0 ? "nothing new was tried"
                                           : "under way");
    }
    table.Cell(idea, "wide");
    table.EndRow(gain > 1 ? "gain" : "");
    if (round.best_ratio_to_eager() > 0) before = round.best_ratio_to_eager();
  }
  return table.empty() ? Html() : table.Finish();
}

Html BaselinesTable(const SearchFigures& figures) {
  HtmlTable table("What the best kernel is measured against");
  table.Column("measured against").Column("its time", HtmlTable::kNumber).Column("spread", HtmlTable::kNumber);
  table.Column("class").Column("best kernel to it", HtmlTable::kNumber).Column("PyTorch").Column("device");
  for (const BaselineFigures& figure : figures.baselines) {
    const v1::Baseline& baseline = *figure.baseline;
    const bool timed = baseline.median_ms() > 0;
    table.Cell(figure.label).Cell(MsText(baseline.median_ms()));
    table.Cell(timed ? fmt::format("{:.1f} %", 100 * baseline.spread()) : "–");
    table.Cell(timed && baseline.precision_class() != v1::PRECISION_CLASS_UNSPECIFIED
                   ? PrecisionClassName(baseline.precision_class())
                   : "–");
    table.Cell(RatioText(figure.ratio)).Cell(OrDash(Line(baseline.pytorch_version())));
    table.Cell(!timed ? "not timed: " + OrDash(Line(baseline.skipped_reason()))
                      : OrDash(Line(baseline.device_name())) + (baseline.emulated() ? " (emulated)" : ""));
    table.EndRow();
  }
  return table.empty() ? Html() : table.Finish();
}

Html Funnel(const SearchFigures& figures) {
  Html out;
  const auto of = [&](Fate fate) { return figures.fates[static_cast<int>(fate)]; };
  const int asked = figures.candidates - of(Fate::kNothingLeft);
  if (asked == 0) return out;
  const int generated = asked - of(Fate::kNoFile);
  const int correct = of(Fate::kValid) + of(Fate::kScreened);
  const int compiled = correct + of(Fate::kSuspicious) + of(Fate::kWrong);
  HtmlTable table("From candidates to faster kernels", "funnel");
  table.Column("candidates").Column("", HtmlTable::kNumber).Column("of those asked for");
  const auto row = [&](const char* name, int count) {
    table.Cell(name).Cell(Thousands(count)).Cell(Bar(static_cast<double>(count) / asked)).EndRow();
  };
  row("asked for", asked);
  row("with a file in the reply", generated);
  row("compiled", compiled);
  row("correct", correct);
  row("faster than their parent", figures.faster_than_parent);
  return table.Finish();
}

}  // namespace warpsmith::cli::report
