#include <fmt/format.h>

#include <algorithm>

#include "cli/names.h"
#include "cli/report/html_table.h"
#include "cli/report/sections.h"
#include "cli/text.h"

namespace warpsmith::cli::report {
namespace {

std::string Usd(double usd) {
  return usd > 0 && usd < 0.01 ? fmt::format("${:.4f}", usd) : fmt::format("${:.2f}", usd);
}

Html CallsTable(const v1::SearchReport& report) {
  HtmlTable table("Calls to models", "sortable");
  table.Column("for").Column("model");
  for (const char* title : {"calls", "failed", "tokens in", "tokens out", "dollars", "mean time"}) {
    table.Column(title, HtmlTable::kNumber);
  }
  for (const v1::CallTotals& calls : report.calls()) {
    table.Cell(Line(calls.kind()))
        .Cell(Line(calls.model()))
        .Cell(Thousands(calls.calls()))
        .Cell(Thousands(calls.failed()));
    table.Cell(Thousands(calls.input_tokens())).Cell(Thousands(calls.output_tokens())).Cell(Usd(calls.usd()));
    table.Cell(calls.calls() > 0 && calls.seconds() > 0 ? fmt::format("{:.1f} s", calls.seconds() / calls.calls())
                                                        : "–");
    table.EndRow();
  }
  return table.empty() ? Html() : table.Finish();
}

Html RoundTimes(const SearchFigures& figures) {
  HtmlTable table("Time by round");
  table.Column("round", HtmlTable::kNumber).Column("closed (UTC)").Column("took", HtmlTable::kNumber);
  int64_t before = 0;  // of the first round nothing tells when it began
  for (const v1::RoundSummary& round : figures.search.rounds()) {
    const bool closed = round.closed_at_us() > 0;
    table.Cell(std::to_string(round.round())).Cell(closed ? FormatInstant(round.closed_at_us()) : "open");
    table.Cell(closed && before > 0 ? FormatSeconds(static_cast<double>(round.closed_at_us() - before) / 1e6) : "–");
    table.EndRow();
    before = round.closed_at_us();
  }
  return table.empty() ? Html() : table.Finish();
}

}  // namespace

Html FailuresTable(const SearchFigures& figures, const ReportLimits& limits) {
  HtmlTable table("By class, most frequent first");
  table.Column("candidates", HtmlTable::kNumber).Column("what happened").Column("the first error").Column("of");
  int more = 0, more_candidates = 0;
  for (const FailureFigures& failure : figures.failures) {
    if (table.rows() >= static_cast<int>(limits.failure_classes)) {
      ++more;
      more_candidates += failure.count;
      continue;
    }
    Html message;
    if (failure.message.empty()) {
      message.Raw("–");
    } else {
      message.Raw("<pre dir=\"auto\">").Block(CutCounted(failure.message, limits.failure_message)).Raw("</pre>");
    }
    Html id, outcome;
    outcome.Text(failure.outcome);
    id.Element("code", ShortId(failure.first->id()));
    table.Cell(Thousands(failure.count)).Cell(outcome, "some").Cell(message, "wide").Cell(id).EndRow();
  }
  if (table.empty()) return figures.candidates > 0 ? Paragraph("No candidate failed.", "dim") : Html();
  Html out = table.Finish();
  if (more > 0) {
    out.Add(Paragraph(
        fmt::format("{} more classes with {} candidates are not shown.", more, Thousands(more_candidates)), "note"));
  }
  return out;
}

Html Costs(const SearchFigures& figures) {
  const v1::Search& search = figures.search;
  const v1::Usage& usage = search.usage();
  Html out;
  out.Raw("<dl class=\"tiles\">");
  std::string dollars;
  if (search.settings().max_usd() > 0) dollars = fmt::format("of at most {}", Usd(search.settings().max_usd()));
  out.Add(Tile("dollars", Usd(usage.usd()), dollars));
  out.Add(Tile("tokens in", Thousands(usage.input_tokens()))).Add(Tile("tokens out", Thousands(usage.output_tokens())));
  out.Add(Tile("model calls", Thousands(usage.model_calls())));
  out.Add(Tile(search.emulated() ? "device seconds (emulated)" : "GPU seconds",
               usage.gpu_seconds() > 0 ? fmt::format("{:.1f}", usage.gpu_seconds()) : "–"));
  const bool took = search.finished_at_us() > search.submitted_at_us();
  out.Add(
      Tile("from submission to end",
           took ? FormatSeconds(static_cast<double>(search.finished_at_us() - search.submitted_at_us()) / 1e6) : "–"));
  out.Raw("</dl>\n");
  std::string remark;
  if (usage.abandoned_usd() > 0 || usage.abandoned_tokens() > 0) {
    remark += fmt::format(
        "{} of it is for calls that were given up without a word of what they cost, charged at what was "
        "reserved for them ({} tokens beside). ",
        Usd(usage.abandoned_usd()), Thousands(usage.abandoned_tokens()));
  }
  if (usage.reserved_usd() > 0 || usage.reserved_tokens() > 0) {
    remark += fmt::format("{} and {} tokens are set aside for calls in flight.", Usd(usage.reserved_usd()),
                          Thousands(usage.reserved_tokens()));
  }
  out.Add(Paragraph(remark, "note"));
  return out.Add(CallsTable(figures.report)).Add(RoundTimes(figures));
}

}  // namespace warpsmith::cli::report
