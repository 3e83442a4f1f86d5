#include "cli/report/batch_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/names.h"
#include "cli/report/batch_figures.h"
#include "cli/report/fast_p_plot.h"
#include "cli/report/html_table.h"
#include "cli/report/page.h"
#include "cli/report/sections.h"
#include "cli/report/trajectory_plot.h"
#include "cli/text.h"
#include "common/fast_p.h"

namespace warpsmith::cli::report {
namespace {

int64_t TokensOf(const v1::Usage& usage) {
  return usage.input_tokens() + usage.output_tokens() + usage.abandoned_tokens();
}

std::string GpuSeconds(const v1::Usage& usage) {
  return usage.gpu_seconds() > 0 ? fmt::format("{:.1f}", usage.gpu_seconds()) : "–";
}

std::string StateText(const v1::BatchProblem& problem) {
  if (problem.state() == v1::SEARCH_STATE_FAILED) return "failed";
  if (!Ended(problem.state())) return problem.paused() ? "paused" : SearchStateName(problem.state());
  v1::Search search;
  search.set_finish_reason(problem.finish_reason());
  return problem.finish_reason().empty() ? SearchStateName(problem.state()) : FinishText(search);
}

// Shades around 1, where a kernel is as fast as PyTorch.
const char* HeatClass(double ratio) {
  if (!(ratio > 0)) return "h-none";
  constexpr std::pair<double, const char*> kShades[] = {{0.5, "h0"}, {0.9, "h1"}, {1.1, "h2"},
                                                        {1.5, "h3"}, {2, "h4"},   {4, "h5"}};
  for (const auto& [below, name] : kShades) {
    if (ratio < below) return name;
  }
  return "h6";
}

std::string SectionId(size_t problem) { return fmt::format("p{}", problem + 1); }

Html ProblemLink(const BatchFigures& figures, size_t i) {
  Html link;
  if (!figures.problems[i].search) return link.Text(figures.problems[i].name);
  return link.Element("a", figures.problems[i].name, {{"href", "#" + SectionId(i)}});
}

Html BatchHeader(const BatchFigures& figures) {
  const v1::Batch& batch = figures.batch;
  const v1::BatchTotals& totals = batch.totals();
  Html out;
  out.Raw("<header>\n<p class=\"kicker\">warpsmith · batch");
  if (totals.emulated()) out.Raw(" ").Add(EmulatedBadge());
  out.Raw("</p>\n").Open("h1").Open("bdi").Text(batch.name()).Close("bdi").Close("h1").Raw("\n");
  out.Element("p", BatchVerdict(figures), {{"class", "verdict"}}).Raw("\n<dl class=\"tiles\">");
  out.Add(Tile("problems", Thousands(totals.problems()), fmt::format("{} ended", Thousands(totals.ended()))));
  out.Add(Tile("with a correct kernel", Thousands(totals.solved()),
               totals.failed() > 0 ? fmt::format("{} {} failed", Thousands(totals.failed()),
                                                 totals.failed() == 1 ? "search" : "searches")
                                   : ""));
  const bool any = totals.problems() > 0;
  for (const auto& [name, value] : {std::pair("fast_1", totals.fast_1()), std::pair("fast_1.5", totals.fast_1_5()),
                                    std::pair("fast_2", totals.fast_2())}) {
    out.Add(Tile(name, any ? fmt::format("{:.3f}", value) : "–", "of all problems"));
  }
  out.Add(Tile("geometric mean", RatioText(totals.geometric_mean_ratio()),
               fmt::format("over the {} with a kernel", figures.compared)));
  out.Add(Tile("spent on models", fmt::format("${:.2f}", totals.usage().usd()),
               fmt::format("{} tokens", FormatCount(TokensOf(totals.usage())))));
  out.Raw("</dl>\n<p class=\"meta\">batch ").Element("code", batch.id());
  const auto add = [&](const std::string& text) { out.Raw(" · ").Text(text); };
  add(Line(batch.state()));
  if (!batch.owner().empty()) add("of " + Line(batch.owner()));
  add("submitted " + FormatInstant(batch.submitted_at_us()) + " UTC");
  if (batch.finished_at_us() > batch.submitted_at_us()) {
    add("took " + FormatSeconds(static_cast<double>(batch.finished_at_us() - batch.submitted_at_us()) / 1e6));
  }
  if (figures.report.written_at_us() > 0) {
    add(fmt::format("written {} UTC by warpsmith {}", FormatInstant(figures.report.written_at_us()),
                    Line(figures.report.version())));
  }
  return out.Raw("</p>\n</header>\n");
}

Html FastPSection(const BatchFigures& figures) {
  std::vector<FastPCurve> curves = {{"against PyTorch eager", figures.ratios}};
  if (figures.with_compile > 0) curves.push_back({"against torch.compile", figures.compile_ratios});
  const int problems = figures.batch.totals().problems();
  Html out = FastPPlot(curves, problems, figures.batch.totals().emulated());
  if (out.empty()) return Paragraph("No problem has a correct kernel yet.", "dim");
  HtmlTable table("fast_p at four values of p");
  table.Column("baseline").Column("fast_0", HtmlTable::kNumber).Column("fast_1", HtmlTable::kNumber);
  table.Column("fast_1.5", HtmlTable::kNumber).Column("fast_2", HtmlTable::kNumber);
  for (const FastPCurve& curve : curves) {
    table.Cell(curve.label);
    for (const double p : {0.0, 1.0, 1.5, 2.0}) table.Cell(fmt::format("{:.3f}", FastP(curve.ratios, problems, p)));
    table.EndRow();
  }
  out.Add(table.Finish());
  if (figures.with_compile > 0 && figures.with_compile < problems) {
    out.Add(
        Paragraph(fmt::format("torch.compile was timed on {} of {} problems; the others count as not faster than it.",
                              figures.with_compile, problems),
                  "note"));
  }
  return out;
}

Html HeatMap(const BatchFigures& figures) {
  if (figures.rounds == 0) return {};
  HtmlTable table("Best kernel so far after each round, to PyTorch eager", "heat");
  table.Column("problem");
  for (int round = 1; round <= figures.rounds; ++round) table.Column(std::to_string(round), HtmlTable::kNumber);
  for (size_t i = 0; i < figures.problems.size(); ++i) {
    const ProblemFigures& problem = figures.problems[i];
    table.Cell(ProblemLink(figures, i), "name");
    for (int round = 1; round <= figures.rounds; ++round) {
      const auto found = problem.best_by_round.find(round);
      Html cell;
      if (found == problem.best_by_round.end()) {
        table.Cell(cell, "h-off");
      } else {
        table.Cell(cell.Text(RatioText(found->second)), HeatClass(found->second));
      }
    }
    table.EndRow();
  }
  Html out = table.Finish();
  return out.Add(Paragraph(
      "Best so far when the round closed. “–”: the round ran and there is no correct kernel; empty: no such round.",
      "dim"));
}

Html ProblemsTable(const BatchFigures& figures) {
  HtmlTable table("Every problem", "sortable");
  table.Column("problem").Column("best", HtmlTable::kNumber).Column("to eager", HtmlTable::kNumber);
  table.Column("to compile", HtmlTable::kNumber).Column("best idea").Column("rounds", HtmlTable::kNumber);
  table.Column("state").Column("cost", HtmlTable::kNumber).Column("GPU s", HtmlTable::kNumber);
  for (size_t i = 0; i < figures.problems.size(); ++i) {
    const v1::BatchProblem& problem = *figures.problems[i].problem;
    table.Cell(ProblemLink(figures, i), "name").Cell(MsText(problem.best_ms()));
    table.Cell(problem.best_ms() > 0 ? RatioText(problem.ratio_to_eager()) : "–");
    table.Cell(RatioText(figures.problems[i].ratio_to_compile));
    Html idea;
    if (problem.best_ms() > 0 && !figures.problems[i].best_idea.empty()) {
      idea.Open("bdi").Text(Cut(figures.problems[i].best_idea, 160)).Close("bdi");
    } else {
      idea.Text("–");
    }
    table.Cell(idea, "wide").Cell(fmt::format("{}/{}", problem.round(), problem.rounds()));
    Html state;
    state.Text(problem.state() == v1::SEARCH_STATE_FAILED && !problem.error().empty()
                   ? "failed: " + Cut(Line(problem.error()), 200)
                   : StateText(problem));
    table.Cell(state, "some");
    table.Cell(fmt::format("${:.2f}", problem.usage().usd())).Cell(GpuSeconds(problem.usage())).EndRow();
  }
  return table.empty() ? Html() : table.Finish();
}

Html ProblemFold(const BatchFigures& figures, size_t i, const ReportLimits& limits, size_t* bytes_left) {
  const ProblemFigures& problem = figures.problems[i];
  Html head;
  head.Raw("<b>").Text(problem.name).Raw("</b> ");
  if (problem.problem->best_ms() > 0) {
    head.Element("span", MsText(problem.problem->best_ms()) + ", " + RatioText(problem.problem->ratio_to_eager()),
                 {{"class", "r"}});
  } else {
    head.Element("span", StateText(*problem.problem), {{"class", "dim"}});
  }
  const SearchFigures& search = *problem.search;
  Html content;
  content.Open("div", {{"id", SectionId(i)}}).Close("div").Add(Paragraph(Verdict(search)));
  TrajectoryOptions plot;
  plot.height = 150;
  plot.dots = figures.candidates <= limits.plot_candidates;
  ReportLimits less = limits;
  less.failure_classes = 6;
  content.Add(TrajectoryPlot(search, plot)).Add(RoundsTable(search)).Add(LineageTable(search));
  if (!search.failures.empty()) content.Add(FailuresTable(search, less));
  content.Add(Sources(search, limits, bytes_left));
  content.Add(Paragraph("The whole tree: warpsmith report " + ShortId(search.search.id()), "dim"));
  return Fold(head, content, false, "problem");
}

Html BatchCosts(const BatchFigures& figures) {
  const v1::Usage& usage = figures.batch.totals().usage();
  const v1::BatchLimits& limits = figures.batch.limits();
  Html out;
  out.Raw("<dl class=\"tiles\">");
  out.Add(Tile("dollars", fmt::format("${:.2f}", usage.usd()),
               limits.max_usd() > 0 ? fmt::format("of at most ${:.2f}", limits.max_usd()) : ""));
  out.Add(Tile("tokens in", Thousands(usage.input_tokens()))).Add(Tile("tokens out", Thousands(usage.output_tokens())));
  out.Add(Tile("model calls", Thousands(usage.model_calls())));
  out.Add(Tile(figures.batch.totals().emulated() ? "device seconds (emulated)" : "GPU seconds", GpuSeconds(usage)));
  out.Add(Tile("candidates", Thousands(figures.candidates)));
  const int solved = figures.batch.totals().solved();
  out.Add(Tile("dollars a problem with a kernel", solved > 0 ? fmt::format("${:.2f}", usage.usd() / solved) : "–"));
  out.Add(Tile("device seconds a problem with a kernel",
               solved > 0 && usage.gpu_seconds() > 0 ? fmt::format("{:.1f}", usage.gpu_seconds() / solved) : "–"));
  out.Raw("</dl>\n");
  return out.Add(Paragraph("Earlier searches of problems that were tried again are part of it.", "dim"));
}

}  // namespace

std::string BatchPage(const v1::BatchReport& report, const ReportLimits& limits) {
  const BatchFigures figures(report);
  size_t bytes_left = limits.sources_bytes;
  Html folds;
  int not_read = 0;
  for (size_t i = 0; i < figures.problems.size(); ++i) {
    if (figures.problems[i].search) {
      folds.Add(ProblemFold(figures, i, limits, &bytes_left));
    } else {
      ++not_read;
    }
  }
  if (not_read > 0)
    folds.Add(
        Paragraph(fmt::format("{} problems have no section: their searches could not be read.", not_read), "note"));
  if (figures.candidates > limits.plot_candidates) {
    folds.Add(Paragraph(
        fmt::format("{} candidates are too many for one page: plots show rounds only.", Thousands(figures.candidates)),
        "note"));
  }
  struct Part {
    const char* id;
    const char* title;
    Html content;
  };
  const Part parts[] = {{"fastp", "fast_p", FastPSection(figures)},
                        {"map", "Problems and rounds", HeatMap(figures)},
                        {"problems", "Problems", ProblemsTable(figures)},
                        {"each", "Problem by problem", folds},
                        {"cost", "Cost", BatchCosts(figures)}};
  Html body = BatchHeader(figures);
  body.Raw("<nav>");
  for (const Part& part : parts) {
    if (!part.content.empty()) body.Element("a", part.title, {{"href", std::string("#") + part.id}}).Raw(" ");
  }
  body.Raw("</nav>\n<main>\n");
  for (const Part& part : parts) body.Add(Section(part.id, part.title, part.content));
  body.Raw("</main>\n");
  return Page(Line(figures.batch.name()) + ": warpsmith batch " + ShortId(figures.batch.id()), body);
}

}  // namespace warpsmith::cli::report
