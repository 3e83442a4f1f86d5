// Training data out of recorded searches: rows of JSON, one search at a time, as its candidates come in
// (ExportService.ListCandidates: children before parents, those of one idea together).
// Rules: no row of a candidate that is flagged suspicious or host_code, was screened out, is a copy, or is the
// machine's failure; none of a degenerate or held-out problem; none with what looks like a key; folders of machines are
// taken out. A pair's kernels share parent and idea and were both judged in full: correct and at least `pair_ratio`
// faster, or correct against wrong. Threading: one thread. Memory: one idea's candidates, and a number a candidate of
// the search. Source of the method: returns of turns as Kevin (arXiv 2507.11948) discounts them, over the best child of
// a tree.
#ifndef WARPSMITH_CLI_TRANSFER_TRAINING_ROWS_H_
#define WARPSMITH_CLI_TRANSFER_TRAINING_ROWS_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cli/transfer/split.h"
#include "cli/transfer/training_prompt.h"
#include "common/json.h"
#include "common/status.h"
#include "warpsmith/v1/export.pb.h"

namespace warpsmith::transfer {

enum class RowFormat { kSft, kPreference, kRl, kArchive };

struct RowRules {
  RowFormat format = RowFormat::kSft;
  SplitRules split;
  double pair_ratio = 1.2;
  double discount = 0.4;
  double min_ratio = 0;  // sft: only kernels so many times as fast as eager; 0: all correct ones
};

// What was left out, by reason.
using LeftOut = std::map<std::string, int64_t>;

class TrainingRows {
 public:
  using Sink = std::function<absl::Status(const Json& row)>;
  TrainingRows(RowRules rules, const TrainingPrompts& prompts, Sink sink)
      : rules_(std::move(rules)), prompts_(prompts), sink_(std::move(sink)) {}

  absl::Status Take(const v1::ExportRow& row);
  // After the last one.
  absl::Status Finish() { return EndIdea(); }

  int64_t rows() const { return rows_; }
  const LeftOut& left_out() const { return left_out_; }

 private:
  absl::Status TakeCandidate(const v1::ExportedCandidate& candidate);
  absl::Status EndIdea();
  absl::Status AddSft(const v1::ExportedCandidate& candidate);
  absl::Status AddRl(const v1::ExportedCandidate& candidate);
  absl::Status AddArchive(const v1::ExportedCandidate& candidate);
  absl::Status AddPair(const v1::ExportedCandidate& chosen, const v1::ExportedCandidate& rejected);
  absl::Status Emit(Json row);
  // Why no row is made of it; empty: one is.
  std::string Excluded(const v1::ExportedCandidate& candidate) const;
  Json Meta(const v1::ExportedCandidate& candidate) const;

  const RowRules rules_;
  const TrainingPrompts& prompts_;
  const Sink sink_;
  v1::ExportedSearch search_;
  std::string split_;
  std::string search_excluded_;               // why all of the search is left out
  std::vector<v1::ExportedCandidate> idea_;   // candidates of the idea at hand
  std::map<std::string, double> best_child_;  // of candidates seen so far: the best return among its children
  int64_t rows_ = 0;
  LeftOut left_out_;
};

}  // namespace warpsmith::transfer

#endif  // WARPSMITH_CLI_TRANSFER_TRAINING_ROWS_H_
