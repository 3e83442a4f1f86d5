#include "cli/report/search_page.h"

#include <fmt/format.h>

#include <set>

#include "cli/report/figures.h"
#include "cli/report/html_table.h"
#include "cli/report/page.h"
#include "cli/report/sections.h"
#include "cli/report/trajectory_plot.h"
#include "cli/text.h"

namespace warpsmith::cli::report {
namespace {

Html Header(const SearchFigures& figures) {
  Html out;
  out.Raw("<header>\n<p class=\"kicker\">warpsmith · search");
  if (figures.search.emulated()) out.Raw(" ").Add(EmulatedBadge());
  out.Raw("</p>\n").Open("h1").Open("bdi").Text(figures.search.name()).Close("bdi").Close("h1").Raw("\n");
  out.Element("p", Verdict(figures), {{"class", "verdict"}}).Raw("\n");
  out.Add(Tiles(figures)).Add(MetaLine(figures));
  return out.Raw("</header>\n");
}

Html ProblemSource(const SearchFigures& figures, const ReportLimits& limits) {
  const std::string& source = figures.search.problem().source();
  if (source.empty()) return {};
  return Fold("the problem: " + Line(figures.search.name()) + ".py", SourceBox(source, limits));
}

}  // namespace

std::string SearchPage(const v1::SearchReport& report, const ReportLimits& limits) {
  const SearchFigures figures(report);
  struct Part {
    const char* id;
    const char* title;
    Html content;
  };
  TrajectoryOptions plot;
  plot.dots = figures.candidates <= limits.plot_candidates;
  Html rounds = TrajectoryPlot(figures, plot);
  if (!plot.dots) {
    rounds.Add(Paragraph(fmt::format("{} candidates are too many to be drawn one by one; the tree has them.",
                                     Thousands(figures.candidates)),
                         "note"));
  }
  rounds.Add(RoundsTable(figures)).Add(Funnel(figures));
  size_t bytes_left = limits.sources_bytes;
  std::set<std::string> anchored;
  Html sources = Sources(figures, limits, &bytes_left, &anchored);
  Html ideas = CategoriesTable(figures);
  ideas.Add(IdeasTables(figures, limits));
  Html lineage = LineageTable(figures);
  Html judged = BaselinesTable(figures);
  judged.Add(TrialsTable(figures)).Add(ProblemSource(figures, limits));
  const Part parts[] = {
      {"rounds", "Rounds", rounds},
      {"lineage", "The way to the best", lineage},
      {"sources", "Sources", sources},
      {"baselines", "Baselines and judgement", judged},
      {"profile", "Profile", figures.candidates > 0 ? Profiles(figures) : Html()},
      {"ideas", "Ideas", ideas},
      {"tree", "Tree", CandidateTree(figures, limits, anchored)},
      {"failures", "Failures", FailuresTable(figures, limits)},
      {"cost", "Cost and time", Costs(figures)},
  };
  Html body = Header(figures);
  body.Raw("<nav>");
  for (const Part& part : parts) {
    if (!part.content.empty()) body.Element("a", part.title, {{"href", std::string("#") + part.id}}).Raw(" ");
  }
  body.Raw("</nav>\n<main>\n");
  for (const Part& part : parts) body.Add(Section(part.id, part.title, part.content));
  body.Raw("</main>\n");
  return Page(Line(figures.search.name()) + ": warpsmith search " + ShortId(figures.search.id()), body);
}

}  // namespace warpsmith::cli::report
