#include "cli/print_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "cli/names.h"
#include "cli/print_evaluation.h"
#include "cli/text.h"

namespace warpsmith::cli {
namespace {

std::string PercentTitle(const v1::Search& search) {
  return search.emulated() ? "of PyTorch (emulated)" : "of PyTorch";
}

// PyTorch's own time on the same device; 0: not known.
double EagerMs(const v1::Search& search) {
  for (const v1::Baseline& baseline : search.problem().baselines()) {
    if (baseline.name() == "eager" && baseline.median_ms() > 0) return baseline.median_ms();
  }
  return search.best_ms() * search.best_ratio_to_eager();
}

std::string RoundsText(const v1::Search& search) {
  Table table;
  for (const char* title : {"round", "ideas", "generated", "compiled", "correct", "faster", "best ms"}) {
    table.AddColumn(title, Table::kRight);
  }
  table.AddColumn(PercentTitle(search), Table::kRight);
  for (const v1::RoundSummary& round : search.rounds()) {
    table.AddRow({std::to_string(round.round()), std::to_string(round.ideas()), std::to_string(round.generated()),
                  std::to_string(round.compiled()), std::to_string(round.correct()), std::to_string(round.faster()),
                  FormatMs(round.best_ms()), FormatPercent(round.best_ratio_to_eager())});
  }
  return table.empty() ? "" : table.ToString();
}

std::string IdeasText(const v1::Search& search) {
  std::string out;
  for (const v1::RoundSummary& round : search.rounds()) {
    const std::string head = fmt::format("  round {}  ", round.round());
    const std::string indent(static_cast<size_t>(DisplayWidth(head)) + 2, ' ');
    std::string front = head;
    // Parents of one round may be given the same idea.
    std::vector<std::pair<std::string, int>> titles;
    for (const std::string& title : round.idea_titles()) {
      auto same = std::find_if(titles.begin(), titles.end(), [&](const auto& entry) { return entry.first == title; });
      if (same == titles.end()) {
        titles.emplace_back(title, 1);
      } else {
        ++same->second;
      }
    }
    for (const auto& [title, count] : titles) {
      const std::string times = count > 1 ? fmt::format(" ({} times)", count) : "";
      out += front + "- " + Wrap(title + times, kPageWidth - DisplayWidth(indent), indent) + "\n";
      front = std::string(static_cast<size_t>(DisplayWidth(head)), ' ');
    }
  }
  return out.empty() ? "" : "Ideas tried\n" + out + "\n";
}

std::string TrajectoryText(const v1::Search& search) {
  Table table;
  table.AddColumn("round", Table::kRight);
  table.AddColumn("ms", Table::kRight);
  table.AddColumn(PercentTitle(search), Table::kRight);
  table.AddColumn("idea");
  const double eager = EagerMs(search);
  if (eager > 0) table.AddRow({"-", FormatMs(eager), FormatPercent(1), "PyTorch, eager"});
  bool any = false;
  for (const v1::RoundSummary& round : search.rounds()) {
    const double ms = round.round_best_ms();
    table.AddRow({std::to_string(round.round()), FormatMs(ms), ms > 0 ? FormatPercent(eager / ms) : "-",
                  ms > 0                  ? round.best_idea()
                  : round.generated() > 0 ? "no valid kernel"
                                          : "nothing new was tried"});
    any = true;
  }
  return any ? "Trajectory: each round's best\n" + table.ToString() + "\n" : "";
}

std::string CandidateLine(const v1::Candidate& candidate, bool on_best_path) {
  std::string verdict;
  if (candidate.state() == "done") {
    const v1::Evaluation& evaluation = candidate.evaluation();
    verdict = OutcomeName(evaluation.outcome());
    if (evaluation.outcome() == v1::OUTCOME_OK) {
      verdict += fmt::format(" {} ms {}", FormatMs(evaluation.timing().median_ms()),
                             FormatPercent(evaluation.ratio_to_eager()));
    } else if (!evaluation.reason().empty()) {
      verdict += " (" + Line(evaluation.reason()) + ")";
    }
  } else if (candidate.state() == "rejected") {
    verdict = "rejected (" + Line(candidate.reject_reason()) + ")";
  } else {
    verdict = Line(candidate.state());
  }
  return fmt::format("{} {}#{}{} {}", on_best_path ? "*" : "·", ShortId(candidate.id()), candidate.index(),
                     candidate.repair_attempt() > 0 ? fmt::format(" repair {}", candidate.repair_attempt()) : "",
                     verdict);
}

// Candidate → ideas proposed for it → their candidates.
class TreePrinter {
 public:
  explicit TreePrinter(const v1::Tree& tree) : tree_(tree) {}

  std::string Print() {
    PrintIdeas("", "", 0);
    // Ideas on kernels of the bank or of a parent that is not in this tree.
    for (int i = 0; i < tree_.ideas_size(); ++i) {
      if (!printed_.count(i)) {
        out_ += fmt::format("on {}\n", ShortId(tree_.ideas(i).parent_id()));
        PrintIdeas(tree_.ideas(i).parent_id(), "", 0);
      }
    }
    return out_;
  }

 private:
  void Add(const std::string& line) { out_ += Fit(line, kPageWidth) + "\n"; }

  void PrintIdeas(const std::string& parent, const std::string& indent, int depth) {
    constexpr int kMaxDepth = 24;  // deeper lineages would leave no room on a page
    std::vector<int> ideas;
    for (int i = 0; i < tree_.ideas_size(); ++i) {
      if (tree_.ideas(i).parent_id() == parent && !printed_.count(i)) ideas.push_back(i);
    }
    for (size_t n = 0; n < ideas.size(); ++n) {
      const v1::IdeaNode& node = tree_.ideas(ideas[n]);
      printed_.insert(ideas[n]);
      const bool last = n + 1 == ideas.size();
      Add(fmt::format("{}{} r{} {} [{}]", indent, last ? "└" : "├", node.round(), Line(node.idea().title()),
                      Line(node.idea().category())));
      const std::string below = indent + (last ? "  " : "│ ");
      for (const v1::Candidate& candidate : node.candidates()) {
        const auto& best = tree_.best_lineage();
        Add(below + CandidateLine(candidate, std::find(best.begin(), best.end(), candidate.id()) != best.end()));
        if (depth < kMaxDepth) PrintIdeas(candidate.id(), below + "  ", depth + 1);
      }
    }
  }

  const v1::Tree& tree_;
  std::set<int> printed_;
  std::string out_;
};

}  // namespace

std::string HeadlineText(const v1::Search& search) {
  std::string out =
      fmt::format("{}: search {}, {}", Line(search.name()), ShortId(search.id()), SearchStateName(search.state()));
  if (search.state() == v1::SEARCH_STATE_DONE && !search.finish_reason().empty()) out += ": " + FinishText(search);
  if (search.state() == v1::SEARCH_STATE_FAILED) out += ": " + Line(search.error());
  if (search.best_ms() > 0) {
    out += fmt::format("; best {} ms, {} {}", FormatMs(search.best_ms()), FormatPercent(search.best_ratio_to_eager()),
                       PercentTitle(search));
  } else if (Ended(search.state())) {
    out += "; no valid kernel";
  }
  return out;
}

std::string SearchesText(const v1::ListSearchesReply& reply) {
  Table table;
  table.AddColumn("search");
  table.AddColumn("state");
  table.AddColumn("submitted (UTC)");
  table.AddColumn("round", Table::kRight);
  table.AddColumn("best ms", Table::kRight);
  table.AddColumn("of PyTorch", Table::kRight);
  table.AddColumn("problem");
  for (const v1::Search& search : reply.searches()) {
    const int round = search.rounds_size() == 0 ? 0 : search.rounds(search.rounds_size() - 1).round();
    table.AddRow({ShortId(search.id()), SearchStateName(search.state()), FormatInstant(search.submitted_at_us()),
                  std::to_string(round), FormatMs(search.best_ms()),
                  FormatPercent(search.best_ratio_to_eager()) + (search.emulated() ? " emulated" : ""), search.name()});
  }
  return table.empty() ? "no searches\n" : table.ToString();
}

std::string ReportText(const v1::Search& search, const std::string& winner_file) {
  std::string out = Wrap(HeadlineText(search), kPageWidth, "  ") + "\n";
  std::string details = search.emulated() ? "device: emulated (times are not a GPU's)" : "";
  if (search.finished_at_us() > search.submitted_at_us()) {
    details +=
        fmt::format("{}took {}", details.empty() ? "" : "; ",
                    FormatSeconds(static_cast<double>(search.finished_at_us() - search.submitted_at_us()) / 1e6));
  }
  const v1::Usage& usage = search.usage();
  details +=
      fmt::format("{}{} model calls, {} tokens in, {} out, ${:.2f}", details.empty() ? "" : "; ", usage.model_calls(),
                  FormatCount(usage.input_tokens()), FormatCount(usage.output_tokens()), usage.usd());
  out += Wrap(details, kPageWidth, "  ") + "\n\n";
  const std::string rounds = RoundsText(search);
  if (!rounds.empty()) out += rounds + "\n";
  out += IdeasText(search);
  out += TrajectoryText(search);
  if (!winner_file.empty()) {
    // A path is to be copied: it is not wrapped.
    out += "winner: " + Line(winner_file) + "\n";
  } else if (Ended(search.state()) && search.best_candidate_id().empty()) {
    out += fmt::format("No valid kernel was found. Why: warpsmith explain {}\n", ShortId(search.id()));
  }
  return out;
}

std::string TreeText(const v1::Tree& tree) {
  std::string out = Wrap(HeadlineText(tree.search()), kPageWidth, "  ") + "\n";
  out += "* leads to the best; r: round; #: which implementation\n";
  return out + TreePrinter(tree).Print();
}

std::string ExplanationText(const v1::Explanation& e) {
  std::string out = Wrap(HeadlineText(e.search()), kPageWidth, "  ") + "\n\n";
  for (const std::string& finding : e.findings()) out += "- " + Wrap(finding, kPageWidth - 2, "  ") + "\n";
  if (e.findings_size() > 0) out += '\n';
  Table funnel;
  for (const char* title : {"ideas", "generated", "rejected", "compiled", "correct", "faster than parent"}) {
    funnel.AddColumn(title, Table::kRight);
  }
  funnel.AddRow({std::to_string(e.ideas()), std::to_string(e.generated()), std::to_string(e.rejected()),
                 std::to_string(e.compiled()), std::to_string(e.correct()), std::to_string(e.faster_than_parent())});
  out += funnel.ToString();
  Table failures;
  failures.AddColumn("count", Table::kRight);
  failures.AddColumn("failure");
  failures.AddColumn("candidate");
  failures.AddColumn("example");
  for (const v1::FailureClass& failure : e.failures()) {
    failures.AddRow({std::to_string(failure.count()),
                     failure.outcome() + (failure.reason().empty() ? "" : " (" + failure.reason() + ")"),
                     ShortId(failure.candidate_id()), failure.example()});
  }
  if (!failures.empty()) out += "\n" + failures.ToString();
  out += '\n';
  if (e.noise() > 0) out += fmt::format("spread of timings: {:.1f} %\n", e.noise() * 100);
  if (e.last_gain() > 0) out += fmt::format("last round's gain: {:.3f}×\n", e.last_gain());
  if (e.roofline_share() > 0) out += fmt::format("of the roofline: {}\n", FormatPercent(e.roofline_share()));
  if (e.tasks_waiting() > 0) {
    out +=
        fmt::format("{} tasks wait, the oldest for {}\n", e.tasks_waiting(), FormatSeconds(e.oldest_waiting_seconds()));
  }
  return out;
}

std::string IdeaText(const v1::Idea& idea) {
  std::string out = "idea: " + Wrap(idea.title(), kPageWidth - 6, "  ") + "\n";
  const auto field = [&](const char* name, const std::string& value) {
    if (!value.empty()) out += fmt::format("  {:<13} {}\n", name, Wrap(value, kPageWidth - 16, std::string(16, ' ')));
  };
  field("id", ShortId(idea.id()));
  field("category", idea.category());
  field("bottleneck", idea.bottleneck());
  field("evidence", idea.evidence());
  field("hypothesis", idea.hypothesis());
  for (const std::string& step : idea.plan()) field("step", step);
  if (idea.expected_speedup() > 0) field("expected", fmt::format("{:.2f}×", idea.expected_speedup()));
  field("risk", idea.risk());
  field("from", idea.origin());
  return out;
}

std::string CandidateText(const v1::Candidate& candidate) {
  std::string out = fmt::format("candidate {} of search {}: round {}, implementation {}", ShortId(candidate.id()),
                                ShortId(candidate.search_id()), candidate.round(), candidate.index());
  if (candidate.repair_attempt() > 0) {
    out += fmt::format(", repair {} of {}", candidate.repair_attempt(), ShortId(candidate.repair_of()));
  }
  if (!candidate.parent_id().empty()) out += ", from " + ShortId(candidate.parent_id());
  if (!candidate.model().empty()) out += ", by " + Line(candidate.model());
  out = Wrap(out, kPageWidth, "  ") + "\n";
  if (candidate.state() == "done") {
    out += EvaluationText(candidate.evaluation());
  } else if (candidate.state() == "rejected") {
    out += "rejected: " + Line(candidate.reject_reason()) + "\n";
  } else {
    out += "state: " + Line(candidate.state()) + "\n";
  }
  return out;
}

}  // namespace warpsmith::cli
