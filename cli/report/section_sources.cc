#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cli/report/html_table.h"
#include "cli/report/line_diff.h"
#include "cli/report/sections.h"
#include "cli/text.h"
#include "common/protocol_names.h"

namespace warpsmith::cli::report {
namespace {

constexpr size_t kContextLines = 3;

const v1::Candidate* KernelOf(const SearchFigures& figures, const std::string& id) {
  for (const v1::Candidate& kernel : figures.report.kernels()) {
    if (kernel.id() == id) return &kernel;
  }
  return nullptr;
}

std::string Joined(const google::protobuf::RepeatedPtrField<std::string>& list) {
  std::string out;
  for (const std::string& item : list) out += (out.empty() ? "" : ", ") + Line(item);
  return out;
}

Html IdeaWords(const v1::Idea& idea) {
  Html out;
  const auto say = [&](const char* name, const std::string& text) {
    if (text.empty()) return;
    out.Raw("<p dir=\"auto\">")
        .Element("span", name, {{"class", "dim"}})
        .Raw(" ")
        .Text(CutCounted(text, 2000))
        .Raw("</p>\n");
  };
  say("why", idea.hypothesis());
  say("bottleneck", idea.bottleneck());
  say("evidence", idea.evidence());
  if (!idea.plan().empty()) {
    out.Raw("<ol>");
    for (const std::string& step : idea.plan()) out.Element("li", CutCounted(step, 1000), {{"dir", "auto"}});
    out.Raw("</ol>\n");
  }
  return out;
}

Html KernelFacts(const v1::Candidate& kernel) {
  const v1::Evaluation& evaluation = kernel.evaluation();
  std::string text = fmt::format("candidate {}, round {}", ShortId(kernel.id()), kernel.round());
  if (kernel.repair_attempt() > 0)
    text += fmt::format(", repair {} of {}", kernel.repair_attempt(), ShortId(kernel.repair_of()));
  if (!kernel.model().empty()) text += ", written by " + Line(kernel.model());
  if (evaluation.timing().median_ms() > 0) {
    text += fmt::format("; {} (spread {:.1f} %, {} samples, stage {})", MsText(evaluation.timing().median_ms()),
                        100 * evaluation.timing().spread(), evaluation.timing().samples(),
                        Line(evaluation.timing().stage()));
  }
  if (!evaluation.flags().empty()) text += "; flags: " + Joined(evaluation.flags());
  for (const v1::KernelResources& resources : evaluation.compile().kernels()) {
    if (text.size() > 1500) break;
    text += fmt::format("; {}: {} registers, {} B static shared", Line(resources.name()), resources.registers(),
                        resources.static_shared_bytes());
  }
  return Paragraph(text, "dim");
}

}  // namespace

Html SourceBox(std::string_view source, const ReportLimits& limits) {
  Html out;
  const std::string_view shown = source.substr(0, limits.source_bytes);
  out.Raw("<pre class=\"source\" tabindex=\"0\"><code>").Block(shown).Raw("</code></pre>\n");
  if (shown.size() < source.size()) {
    out.Add(Paragraph(fmt::format("{} of {} bytes are shown.", Thousands(static_cast<int64_t>(shown.size())),
                                  Thousands(static_cast<int64_t>(source.size()))),
                      "note"));
  }
  return out;
}

Html DiffBox(std::string_view before, std::string_view after, const ReportLimits& limits) {
  const std::vector<DiffLine> lines = DiffLines(before, after);
  std::vector<bool> shown(lines.size());
  int added = 0, removed = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].kind == DiffLine::kSame) continue;
    ++(lines[i].kind == DiffLine::kAdded ? added : removed);
    const size_t begin = i < kContextLines ? 0 : i - kContextLines;
    for (size_t k = begin; k < std::min(lines.size(), i + kContextLines + 1); ++k) shown[k] = true;
  }
  Html out;
  out.Add(Paragraph(
      fmt::format("{} {} added, {} removed", Thousands(added), added == 1 ? "line" : "lines", Thousands(removed)),
      "dim"));
  if (added + removed == 0) return out;
  out.Raw("<pre class=\"source diff\" tabindex=\"0\"><code>");
  size_t bytes = 0, same = 0, i = 0;
  const auto skipped = [&] {
    if (same > 0)
      out.Raw(fmt::format("<span class=\"skip\">⋯ {} unchanged {}</span>\n", same, same == 1 ? "line" : "lines"));
    same = 0;
  };
  for (; i < lines.size() && bytes < limits.source_bytes; ++i) {
    if (!shown[i]) {
      ++same;
      continue;
    }
    skipped();
    bytes += lines[i].text.size() + 1;
    switch (lines[i].kind) {
      case DiffLine::kSame:
        out.Raw(" ").Block(lines[i].text).Raw("\n");
        break;
      case DiffLine::kAdded:
        out.Raw("<ins>+").Block(lines[i].text).Raw("</ins>\n");
        break;
      case DiffLine::kRemoved:
        out.Raw("<del>-").Block(lines[i].text).Raw("</del>\n");
        break;
    }
  }
  skipped();
  out.Raw("</code></pre>\n");
  if (i < lines.size())
    out.Add(Paragraph(fmt::format("{} more lines are not shown.", Thousands(static_cast<int64_t>(lines.size() - i))),
                      "note"));
  return out;
}

Html LineageTable(const SearchFigures& figures) {
  HtmlTable table("From PyTorch to the best kernel");
  table.Column("round", HtmlTable::kNumber).Column("idea").Column("category").Column("time", HtmlTable::kNumber);
  table.Column("to eager", HtmlTable::kNumber).Column("to the step before", HtmlTable::kNumber);
  double before = figures.eager_ms;
  if (figures.report.best_lineage().empty()) return {};
  if (before > 0) {
    table.Cell("–").Cell("PyTorch, eager").Cell("–").Cell(MsText(before)).Cell(RatioText(1)).Cell("–").EndRow();
  }
  for (const std::string& id : figures.report.best_lineage()) {
    const v1::Candidate* candidate = KernelOf(figures, id);
    const auto found = figures.by_id.find(id);
    const bool here = found != figures.by_id.end();
    if (candidate == nullptr && here) candidate = found->second;
    if (candidate == nullptr) continue;
    const v1::Idea& idea = here ? figures.idea_of.at(id)->idea() : candidate->idea();
    const double ms = HasTime(FateOf(*candidate)) ? candidate->evaluation().timing().median_ms() : 0;
    Html title;
    title.Open("bdi").Text(idea.title().empty() ? "(no title)" : idea.title()).Close("bdi");
    if (!here) title.Raw(" ").Element("span", "from another search", {{"class", "dim"}});
    table.Cell(here ? std::to_string(candidate->round()) : "–").Cell(title, "wide");
    table.Cell(idea.category().empty() ? "–" : Line(idea.category())).Cell(MsText(ms));
    // Another search's kernel may solve another problem.
    table.Cell(here ? RatioText(candidate->evaluation().ratio_to_eager()) : "–");
    table.Cell(here && before > 0 && ms > 0 ? RatioText(before / ms) : "–").EndRow();
    before = here ? ms : 0;
  }
  return table.Finish();
}

Html Sources(const SearchFigures& figures, const ReportLimits& limits, size_t* bytes_left,
             std::set<std::string>* anchored) {
  Html out;
  bool best = true;
  int left_out = 0;
  for (int i = figures.report.kernels_size() - 1; i >= 0; --i) {
    const v1::Candidate& kernel = figures.report.kernels(i);
    if (kernel.source().empty()) continue;
    const size_t bytes = std::min(kernel.source().size(), limits.source_bytes);
    if (*bytes_left < bytes) {
      ++left_out;
      continue;
    }
    *bytes_left -= bytes;
    Html head;
    head.Raw("<b>").Text(best ? "the best" : fmt::format("round {}", kernel.round())).Raw("</b> <bdi>");
    head.Text(kernel.idea().title().empty() ? "(no title)" : kernel.idea().title()).Raw("</bdi> ");
    head.Element("span", ShortVerdict(kernel), {{"class", "r"}});
    Html content = KernelFacts(kernel);
    content.Add(IdeaWords(kernel.idea()));
    const v1::Candidate* parent = kernel.parent_id().empty() ? nullptr : KernelOf(figures, kernel.parent_id());
    if (parent != nullptr && !parent->source().empty()) {
      Html summary;
      summary.Text("what changed from its parent " + ShortId(parent->id()));
      content.Add(Fold(summary, DiffBox(parent->source(), kernel.source(), limits), best));
    }
    Html source;
    if (anchored != nullptr && !kernel.id().empty() && anchored->insert(kernel.id()).second) {
      source.Open("div", {{"id", kernel.id()}}).Close("div");
    }
    source.Add(SourceBox(kernel.source(), limits));
    content.Add(Fold("the whole source", source, best && parent == nullptr));
    out.Add(Fold(head, content, best, "kernel"));
    best = false;
  }
  if (left_out > 0) {
    out.Add(Paragraph(fmt::format("{} more sources are not shown: a page takes {} MiB of them.", left_out,
                                  limits.sources_bytes >> 20),
                      "note"));
  }
  return out;
}

Html TrialsTable(const SearchFigures& figures) {
  if (figures.best == nullptr || figures.best->evaluation().trials().empty()) return {};
  struct Sum {
    int passed = 0;
    int all = 0;
    double rms = 0, tile = 0, maximum = 0;
    bool timed = false;
  };
  std::map<std::string, Sum> sums;
  for (const v1::TrialVerdict& trial : figures.best->evaluation().trials()) {
    Sum& sum = sums[Line(trial.distribution())];
    ++sum.all;
    sum.passed += trial.passed();
    sum.rms = std::max(sum.rms, trial.relative_rms_error());
    sum.tile = std::max(sum.tile, trial.worst_tile_error());
    sum.maximum = std::max(sum.maximum, trial.max_error());
    sum.timed = sum.timed || trial.after_timed_launch();
  }
  HtmlTable table("How the best kernel was judged");
  table.Column("inputs").Column("passed", HtmlTable::kNumber).Column("RMS error", HtmlTable::kNumber);
  table.Column("worst tile", HtmlTable::kNumber)
      .Column("largest", HtmlTable::kNumber)
      .Column("also after timed launches");
  for (const auto& [name, sum] : sums) {
    table.Cell(name.empty() ? "–" : name).Cell(fmt::format("{} of {}", sum.passed, sum.all));
    for (const double error : {sum.rms, sum.tile, sum.maximum}) table.Cell(fmt::format("{:.2e}", error));
    table.Cell(sum.timed ? "yes" : "no").EndRow();
  }
  return table.Finish();
}

}  // namespace warpsmith::cli::report
