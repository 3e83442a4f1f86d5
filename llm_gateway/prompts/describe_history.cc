#include "llm_gateway/prompts/describe_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "common/protocol_names.h"
#include "llm_gateway/prompts/describe_failure.h"
#include "llm_gateway/prompts/fenced.h"
#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

constexpr int kFullTurns = 2;
constexpr size_t kMaxTurnSource = 100u << 10;
constexpr const char* kCategories[] = {"memory_access", "async_latency",         "precision",
                                       "compute",       "parallelism_occupancy", "control_flow"};

std::string Cell(const std::string& text, size_t most) {
  std::string line = OneLine(text, most);
  std::replace(line.begin(), line.end(), '|', '/');
  return line.empty() ? "-" : line;
}

// A reply without a candidate has a reason but no outcome.
std::string OutcomeOrReason(const v1::Evaluation& evaluation) {
  if (evaluation.outcome() == v1::OUTCOME_UNSPECIFIED && !evaluation.reason().empty()) {
    return OneLine(evaluation.reason(), 40);
  }
  return OutcomeName(evaluation.outcome());
}

std::string TurnOutcome(const v1::Evaluation& evaluation) {
  if (evaluation.outcome() != v1::OUTCOME_UNSPECIFIED) return DescribeOutcome(evaluation);
  std::string text = OutcomeOrReason(evaluation);
  if (!evaluation.message().empty()) text += ": " + OneLine(evaluation.message(), 600);
  return text;
}

std::string Change(const v1::TriedIdea& tried) {
  if (tried.ratio_to_parent() <= 0) return "-";
  std::string text = fmt::format("{:+.0f} %", (tried.ratio_to_parent() - 1) * 100);
  if (tried.best_ms() > 0) text += fmt::format(" ({:.4g} ms)", tried.best_ms());
  return text;
}

const char* KernelOf(const v1::TriedIdea& tried, const std::string& parent_id) {
  if (tried.earlier_search()) return "earlier search";
  return tried.parent_candidate_id() == parent_id ? "this" : "another";
}

std::string TriedLine(const v1::TriedIdea& tried, const std::string& parent_id) {
  return fmt::format("{} | {} | {} | {} | {} | {}\n", Cell(tried.idea().title(), 200),
                     Cell(tried.idea().category(), 40), KernelOf(tried, parent_id), Cell(tried.outcome(), 40),
                     Change(tried), Cell(tried.why(), 200));
}

// Indexes of those that get a whole line, ascending: what helped first, then the latest. Earlier searches have at most
// half of the room, so that they do not drive out what this search has seen.
std::vector<int> WholeLines(const TriedIdeas& tried, const std::string& parent_id, const HistoryLimits& limits) {
  std::vector<int> order(static_cast<size_t>(tried.size()));
  for (int i = 0; i < tried.size(); ++i) order[static_cast<size_t>(i)] = tried.size() - 1 - i;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return (tried[a].ratio_to_parent() > 1.02) > (tried[b].ratio_to_parent() > 1.02);
  });
  std::vector<int> whole;
  size_t bytes = 0, earlier_bytes = 0;
  int earlier = 0;
  for (int index : order) {
    const size_t size = TriedLine(tried[index], parent_id).size();
    if (tried[index].earlier_search()) {
      if (earlier >= limits.lines / 2 || earlier_bytes + size > limits.line_bytes / 2) continue;
      ++earlier;
      earlier_bytes += size;
    }
    bytes += size;
    if (static_cast<int>(whole.size()) >= limits.lines || bytes > limits.line_bytes) break;
    whole.push_back(index);
  }
  std::sort(whole.begin(), whole.end());
  return whole;
}

// "Turns 1 to 40, by outcome: ok 12 (the fastest 1.25 ms), timeout 28.\n"
std::string FoldedTurns(const google::protobuf::RepeatedPtrField<v1::EarlierTurn>& turns, int count) {
  std::map<std::string, int> outcomes;
  double fastest_ms = 0;
  for (int i = 0; i < count; ++i) {
    const v1::Evaluation& evaluation = turns[i].evaluation();
    ++outcomes[OutcomeOrReason(evaluation)];
    const double ms = evaluation.timing().median_ms();
    if (evaluation.outcome() == v1::OUTCOME_OK && ms > 0 && (fastest_ms == 0 || ms < fastest_ms)) fastest_ms = ms;
  }
  std::string list;
  for (const auto& [outcome, number] : outcomes) {
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", outcome, number);
    if (outcome == OutcomeName(v1::OUTCOME_OK) && fastest_ms > 0) {
      list += fmt::format(" (the fastest {:.4g} ms)", fastest_ms);
    }
  }
  return fmt::format("Turns 1 to {}, by outcome: {}.\n", count, list);
}

}  // namespace

std::string DescribeTried(const TriedIdeas& tried, const std::string& parent_id, int left_out,
                          const HistoryLimits& limits) {
  if (tried.empty() && left_out == 0) return "None.";
  const std::vector<int> whole = WholeLines(tried, parent_id, limits);
  std::string text = "title | category | kernel | outcome | change | why\n";
  for (int index : whole) text += TriedLine(tried[index], parent_id);

  // The others, the latest first within a group: of those the titles are likeliest to have room.
  std::map<std::string, std::vector<std::string>> groups;
  int folded = 0;
  for (int i = tried.size() - 1; i >= 0; --i) {
    if (std::binary_search(whole.begin(), whole.end(), i)) continue;
    groups[Cell(tried[i].idea().category(), 40) + ", " + Cell(tried[i].outcome(), 40)].push_back(
        Cell(tried[i].idea().title(), 80));
    ++folded;
  }
  if (folded > 0) text += fmt::format("Further {} ideas, folded to their titles:\n", folded);
  // An equal share of the room for each group, so that no group is silenced by another's length.
  const size_t share = groups.empty() ? 0 : limits.title_bytes / groups.size();
  for (const auto& [group, titles] : groups) {
    std::string line;
    size_t shown = 0;
    while (shown < titles.size() && line.size() + titles[shown].size() + 2 <= share) {
      line += (shown == 0 ? "" : "; ") + titles[shown];
      ++shown;
    }
    if (shown < titles.size()) {
      line +=
          fmt::format("{}and {} older ones whose titles are left out", shown == 0 ? "" : "; ", titles.size() - shown);
    }
    text += fmt::format("- {} ({}): {}\n", group, titles.size(), line);
  }
  if (left_out > 0)
    text += fmt::format("Besides these, {} older ideas of earlier searches that are not listed.\n", left_out);
  text.pop_back();
  return text;
}

std::string CountCategories(const TriedIdeas& tried) {
  std::string text;
  for (const char* category : kCategories) {
    auto count =
        std::count_if(tried.begin(), tried.end(), [&](const auto& one) { return one.idea().category() == category; });
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", category, count);
  }
  return text;
}

std::string DescribeKept(const std::vector<v1::Idea>& ideas) {
  if (ideas.empty()) return "nothing";
  std::string text;
  for (const v1::Idea& idea : ideas) {
    text +=
        fmt::format("{}- {} ({})", text.empty() ? "" : "\n", OneLine(idea.title(), 200), OneLine(idea.category(), 40));
  }
  return text;
}

std::string DescribeTooClose(const std::vector<SimilarPair>& pairs) {
  if (pairs.empty()) return "none; fewer came than were asked for";
  std::string text;
  for (const SimilarPair& pair : pairs) {
    text += fmt::format("{}- \"{}\" is too close to \"{}\"", text.empty() ? "" : "\n", OneLine(pair.title, 200),
                        OneLine(pair.earlier_title, 200));
    if (pair.in_same_answer) {
      text += ", which stands in the same answer";
    } else if (pair.earlier_outcome == "proposed") {
      text += ", which another has just proposed";
    } else {
      text += ", tried already: " + OneLine(pair.earlier_outcome, 40);
      if (pair.earlier_ratio > 0) text += fmt::format(", {:+.0f} %", (pair.earlier_ratio - 1) * 100);
    }
  }
  return text;
}

std::string DescribeEarlierTurns(const google::protobuf::RepeatedPtrField<v1::EarlierTurn>& turns, int lines) {
  if (turns.empty()) return "";
  std::string text = "# Your earlier turns on this problem, oldest first\n\n";
  const int first = std::max(0, turns.size() - lines);
  if (first > 0) text += FoldedTurns(turns, first);
  int without_source = 0;
  for (int i = first; i < turns.size(); ++i) {
    const v1::EarlierTurn& turn = turns[i];
    const std::string title = turn.idea_title().empty() ? "" : " (" + OneLine(turn.idea_title(), 200) + ")";
    text += fmt::format("Turn {}{}: {}.\n", i + 1, title, TurnOutcome(turn.evaluation()));
    if (i >= turns.size() - kFullTurns && !turn.source().empty()) {
      text += "\n" + Fenced("cuda", ShortenedSource(turn.source(), kMaxTurnSource)) + "\n\n";
    } else {
      ++without_source;
    }
  }
  if (without_source == turns.size() - first) text += "\n";
  if (turns.size() > kFullTurns) {
    text += fmt::format("(The sources of the first {} turns are left out.)\n\n", turns.size() - kFullTurns);
  }
  return text;
}

}  // namespace warpsmith::gateway
