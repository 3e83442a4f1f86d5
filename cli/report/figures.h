// What a search's report says in numbers and words, worked out once from the data: the fate of every candidate, what an
// idea brought, ratios to every baseline, failures by class.
// Threading: plain values and pure functions; figures point into the report that they are of. Units: milliseconds;
// ratios are the other's time over the candidate's, above 1 the candidate is faster. 0 is "not known", never a value.
#ifndef WARPSMITH_CLI_REPORT_FIGURES_H_
#define WARPSMITH_CLI_REPORT_FIGURES_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "warpsmith/v1/report.pb.h"

namespace warpsmith::cli::report {

// In the order in which they are drawn from top to bottom. Nothing left: there was nothing more to write, which is no
// failure.
enum class Fate { kValid, kScreened, kSuspicious, kWrong, kNotCompiled, kNoFile, kNothingLeft, kMachine, kPending };
inline constexpr int kFates = 9;

Fate FateOf(const v1::Candidate& candidate);
bool HasTime(Fate fate);
// For style sheets ("valid"), and for people ("not correct").
std::string_view FateClass(Fate fate);
std::string_view FateLabel(Fate fate);

// "ok", "compile_error (source)", "rejected (no_code)", "evaluating".
std::string OutcomeText(const v1::Candidate& candidate);

struct IdeaFigures {
  const v1::IdeaNode* node = nullptr;
  const v1::Candidate* best = nullptr;  // fastest valid one, or screened where none is valid; null: none
  double ms = 0;
  double ratio = 0;            // to eager
  double ratio_to_parent = 0;  // to the module for the first ideas
  bool on_lineage = false;
  std::string outcome;  // "2 of 3 correct", "3 × compile_error"
};

struct BaselineFigures {
  const v1::Baseline* baseline = nullptr;
  std::string label;
  double ratio = 0;  // of the best kernel; 0: none, or not comparable
};

struct FailureFigures {
  std::string outcome;  // as OutcomeText
  int count = 0;
  const v1::Candidate* first = nullptr;
  std::string message;  // the first one there is
};

struct SearchFigures {
  explicit SearchFigures(const v1::SearchReport& report);
  SearchFigures(const SearchFigures&) = delete;
  SearchFigures& operator=(const SearchFigures&) = delete;

  const v1::SearchReport& report;
  const v1::Search& search;
  double eager_ms = 0;
  std::string device;                   // its name; empty: not known
  std::string precision;                // class that the best kernel reached
  const v1::Candidate* best = nullptr;  // whole, where it was read; else as in the tree; null: no kernel
  std::vector<IdeaFigures> ideas;       // as in the report
  std::vector<BaselineFigures> baselines;
  std::vector<FailureFigures> failures;                // most frequent first
  std::map<std::string, const v1::Candidate*> by_id;   // the tree's
  std::map<std::string, const v1::IdeaNode*> idea_of;  // by candidate
  std::set<std::string> lineage;
  int candidates = 0;
  int fates[kFates] = {};
  int faster_than_parent = 0;

  const BaselineFigures* Find(std::string_view baseline) const;
};

std::string BaselineLabel(const std::string& name);

// "2.31×"; "–" for 0.
std::string RatioText(double ratio);
// "0.512 ms"; "–" for 0.
std::string MsText(double ms);
// What the search came to, in a sentence or two.
std::string Verdict(const SearchFigures& figures);
// The same for tables and titles: "0.512 ms, 2.31×", or the outcome.
std::string ShortVerdict(const v1::Candidate& candidate);

}  // namespace warpsmith::cli::report

#endif  // WARPSMITH_CLI_REPORT_FIGURES_H_
