#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/report/html_table.h"
#include "cli/report/sections.h"
#include "cli/text.h"

namespace warpsmith::cli::report {
namespace {

HtmlTable IdeasHeader() {
  HtmlTable table("Every idea", "ideas sortable");
  table.Column("round", HtmlTable::kNumber).Column("idea").Column("category").Column("outcome");
  table.Column("best", HtmlTable::kNumber)
      .Column("to eager", HtmlTable::kNumber)
      .Column("to parent", HtmlTable::kNumber);
  return table;
}

void AddIdea(const IdeaFigures& figures, HtmlTable* table) {
  const v1::Idea& idea = figures.node->idea();
  Html title;
  title.Raw(figures.on_lineage ? "<span class=\"star\" title=\"on the way to the best\">★</span> " : "");
  title.Open("b").Open("bdi").Text(idea.title().empty() ? "(no title)" : idea.title()).Close("bdi").Close("b");
  if (!idea.hypothesis().empty()) {
    title.Open("div", {{"class", "why"}, {"dir", "auto"}}).Text(Cut(idea.hypothesis(), 600)).Close("div");
  }
  table->Cell(std::to_string(figures.node->round())).Cell(title, "wide");
  table->Cell(idea.category().empty() ? "–" : Line(idea.category())).Cell(figures.outcome);
  table->Cell(MsText(figures.ms)).Cell(RatioText(figures.ratio)).Cell(RatioText(figures.ratio_to_parent));
  table->EndRow(figures.on_lineage ? "lead" : "");
}

}  // namespace

Html CategoriesTable(const SearchFigures& figures) {
  struct Yield {
    int ideas = 0;
    int correct = 0;
    int faster = 0;
    double best = 0;
  };
  std::map<std::string, Yield> yields;
  for (const IdeaFigures& idea : figures.ideas) {
    Yield& yield = yields[Line(idea.node->idea().category())];
    ++yield.ideas;
    yield.correct += idea.best != nullptr;
    yield.faster += idea.ratio_to_parent > 1;
    yield.best = std::max(yield.best, idea.ratio_to_parent);
  }
  HtmlTable table("What each category of ideas brought", "sortable");
  table.Column("category").Column("ideas", HtmlTable::kNumber).Column("with a correct kernel", HtmlTable::kNumber);
  table.Column("faster than its parent", HtmlTable::kNumber).Column("largest gain", HtmlTable::kNumber);
  for (const auto& [category, yield] : yields) {
    table.Cell(category.empty() ? "–" : category).Cell(Thousands(yield.ideas)).Cell(Thousands(yield.correct));
    table.Cell(Thousands(yield.faster)).Cell(RatioText(yield.best)).EndRow();
  }
  return table.empty() ? Html() : table.Finish();
}

Html IdeasTables(const SearchFigures& figures, const ReportLimits& limits) {
  Html out;
  if (figures.ideas.empty()) return out;
  if (static_cast<int>(figures.ideas.size()) <= limits.idea_rows) {
    HtmlTable table = IdeasHeader();
    for (const IdeaFigures& idea : figures.ideas) AddIdea(idea, &table);
    return table.Finish();
  }
  std::map<int, HtmlTable> rounds;
  for (const IdeaFigures& idea : figures.ideas) {
    AddIdea(idea, &rounds.try_emplace(idea.node->round(), IdeasHeader()).first->second);
  }
  for (const auto& [round, table] : rounds) {
    out.Add(Fold(fmt::format("round {}: {} ideas", round, Thousands(table.rows())), table.Finish()));
  }
  return out;
}

}  // namespace warpsmith::cli::report
