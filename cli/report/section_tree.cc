#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "cli/report/html_table.h"
#include "cli/report/sections.h"
#include "cli/text.h"
#include "common/protocol_names.h"

namespace warpsmith::cli::report {
namespace {

class TreeDrawing {
 public:
  TreeDrawing(const SearchFigures& figures, const ReportLimits& limits, const std::set<std::string>& anchored)
      : figures_(figures), limits_(limits), anchored_(anchored) {}

  Html Draw() {
    std::map<int, std::vector<const IdeaFigures*>> rounds;
    for (const IdeaFigures& idea : figures_.ideas) rounds[idea.node->round()].push_back(&idea);
    Html out;
    for (const auto& [round, ideas] : rounds) {
      Html content;
      for (const IdeaFigures* idea : ideas) content.Add(Idea(*idea));
      out.Add(Fold(RoundLine(round, ideas), content, false, "round"));
    }
    if (left_out_ > 0) {
      out.Add(Paragraph(
          fmt::format("{} more implementations are not shown: a page takes {}. warpsmith tree {} lists all.",
                      Thousands(left_out_), Thousands(limits_.tree_candidates), ShortId(figures_.search.id())),
          "note"));
    }
    return out;
  }

 private:
  static Html RoundLine(int round, const std::vector<const IdeaFigures*>& ideas) {
    const IdeaFigures* best = nullptr;
    int kernels = 0, correct = 0;
    for (const IdeaFigures* idea : ideas) {
      kernels += idea->node->candidates_size();
      for (const v1::Candidate& candidate : idea->node->candidates()) correct += HasTime(FateOf(candidate));
      if (idea->ratio > 0 && (best == nullptr || idea->ratio > best->ratio)) best = idea;
    }
    Html out;
    out.Raw("<b>").Text(fmt::format("round {}", round)).Raw("</b> ");
    out.Element("span",
                fmt::format("{} {}, {} {}, {} correct", Thousands(static_cast<int64_t>(ideas.size())),
                            ideas.size() == 1 ? "idea" : "ideas", Thousands(kernels),
                            kernels == 1 ? "kernel" : "kernels", Thousands(correct)),
                {{"class", "dim"}});
    if (best != nullptr) {
      out.Raw(" ").Element("span", MsText(best->ms) + ", " + RatioText(best->ratio), {{"class", "r"}});
    }
    return out;
  }

  Html Idea(const IdeaFigures& idea) {
    Html head;
    head.Raw(idea.on_lineage ? "<span class=\"star\" title=\"on the way to the best\">★</span> " : "");
    head.Open("bdi").Text(idea.node->idea().title().empty() ? "(no title)" : idea.node->idea().title()).Close("bdi");
    if (!idea.node->idea().category().empty()) {
      head.Raw(" ").Element("span", idea.node->idea().category(), {{"class", "cat"}});
    }
    head.Raw(" ").Element("span", idea.outcome, {{"class", "dim"}});
    if (idea.ms > 0) {
      head.Raw(" ").Element("span", MsText(idea.ms) + (idea.ratio > 0 ? ", " + RatioText(idea.ratio) : ""),
                            {{"class", "r"}});
    }
    Html content;
    std::string from =
        idea.node->parent_id().empty() ? "on the module itself" : "on " + ShortId(idea.node->parent_id());
    if (!idea.node->idea().origin().empty()) from += ", proposed by " + Line(idea.node->idea().origin());
    content.Add(Paragraph(from, "dim"));
    if (!idea.node->idea().hypothesis().empty()) {
      content.Open("p", {{"dir", "auto"}}).Text(Cut(idea.node->idea().hypothesis(), 1000)).Close("p");
    }
    content.Raw("<ul class=\"kernels\">\n");
    for (const v1::Candidate& candidate : idea.node->candidates()) {
      if (shown_ >= limits_.tree_candidates) {
        ++left_out_;
        continue;
      }
      ++shown_;
      content.Add(Kernel(candidate));
    }
    content.Raw("</ul>\n");
    return Fold(head, content, false, "idea");
  }

  Html Kernel(const v1::Candidate& candidate) const {
    const Fate fate = FateOf(candidate);
    const v1::Evaluation& evaluation = candidate.evaluation();
    Html out;
    const bool elsewhere = anchored_.count(candidate.id()) > 0;
    out.Open("li", {{"class", FateClass(fate)}, {"id", elsewhere ? "" : candidate.id()}});
    out.Raw("<i class=\"mark\"></i>");
    if (elsewhere) {
      out.Open("a", {{"href", "#" + candidate.id()}}).Element("code", ShortId(candidate.id())).Close("a");
    } else {
      out.Element("code", ShortId(candidate.id()));
    }
    std::string which = fmt::format("#{}", candidate.index());
    if (candidate.repair_attempt() > 0) which += fmt::format(" repair {}", candidate.repair_attempt());
    out.Raw(" ").Element("span", which, {{"class", "dim"}});
    if (HasTime(fate)) {
      out.Raw(" <b>").Text(MsText(evaluation.timing().median_ms())).Raw("</b> ");
      out.Raw("<b>").Text(RatioText(evaluation.ratio_to_eager())).Raw("</b>");
      if (fate == Fate::kScreened) out.Raw(" screened out");
      if (evaluation.reached() != v1::PRECISION_CLASS_UNSPECIFIED) {
        out.Raw(" ").Element("span", PrecisionClassName(evaluation.reached()), {{"class", "dim"}});
      }
    } else {
      out.Raw(" ").Element("span", OutcomeText(candidate), {{"class", "bad"}});
    }
    if (figures_.lineage.count(candidate.id()) > 0) out.Raw(" <span class=\"star\">★</span>");
    std::string more;
    if (!candidate.model().empty()) more += "by " + Line(candidate.model());
    if (!candidate.duplicate_of().empty())
      more += (more.empty() ? "" : ", ") + ("same as " + ShortId(candidate.duplicate_of()));
    if (!candidate.twin_of().empty())
      more += (more.empty() ? "" : ", ") + ("compiles to the code of " + ShortId(candidate.twin_of()));
    for (const std::string& flag : evaluation.flags()) more += (more.empty() ? "" : ", ") + Line(flag);
    if (!more.empty()) out.Raw(" ").Element("span", more, {{"class", "dim"}});
    if (!HasTime(fate) && !evaluation.message().empty()) {
      out.Open("div", {{"class", "why"}, {"dir", "auto"}})
          .Text(CutCounted(evaluation.message(), limits_.list_message))
          .Close("div");
    }
    return out.Close("li").Raw("\n");
  }

  const SearchFigures& figures_;
  const ReportLimits& limits_;
  const std::set<std::string>& anchored_;
  int shown_ = 0;
  int left_out_ = 0;
};

}  // namespace

Html CandidateTree(const SearchFigures& figures, const ReportLimits& limits, const std::set<std::string>& anchored) {
  Html tree = TreeDrawing(figures, limits, anchored).Draw();
  if (tree.empty()) return tree;
  Html out;
  out.Raw(
      "<p class=\"tools\"><button type=\"button\" data-fold=\"ideas\">open all ideas</button> "
      "<button type=\"button\" data-fold=\"none\">close all</button></p>\n<div class=\"tree\">\n");
  return out.Add(tree).Raw("</div>\n");
}

}  // namespace warpsmith::cli::report
