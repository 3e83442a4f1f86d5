// Which arm (model, effort, prompt variant) to ask next, by what each has brought and what it costs: an upper
// confidence bound on the sum of improvements in log space, so that one large gain outweighs many small ones, over a
// record that fades. Calls in flight count, so that many choices in a row spread. The record goes by arms' names: an
// arm that is gone keeps its place in it, one that is new starts unseen, and the order does not matter. Threading: one
// thread at a time. Units: log speedup over PyTorch; US dollars. Nothing here is ever NaN: an arm without a success has
// log_sum = -infinity, which every formula takes as "nothing yet". Source: AsymmetricUCB of ShinkaEvolve (arXiv
// 2509.19349), with the cost term of its bandit selection.
#ifndef WARPSMITH_COORDINATOR_SEARCH_MODEL_BANDIT_H_
#define WARPSMITH_COORDINATOR_SEARCH_MODEL_BANDIT_H_

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace warpsmith::search {

struct BanditSettings {
  double exploration = 1;    // c
  double epsilon = 0.2;      // probability of another arm than the best
  double decay = 0.95;       // f, at each result; 1: nothing fades
  double cost_share = 0.5;   // k, of the score; 0: cost does not count
  double cost_power = 1;     // of the cost ratio
  double cost_bonus = 0.1;   // of the range of mean costs, taken off for arms whose cost is little known
  double least_cost = 1e-7;  // dollars; below it costs do not differ
};

struct ArmRecord {
  double log_sum = -std::numeric_limits<double>::infinity();  // S: log of the sum of exp(improvement) - 1
  double weight = 0;                                          // D: results, faded
  int64_t submitted = 0;
  int64_t finished = 0;
  double cost = 0;  // of `costed` calls
  int64_t costed = 0;
  bool operator==(const ArmRecord&) const = default;
};

// Everything a bandit knows; copied out and in at will.
struct BanditState {
  std::map<std::string, ArmRecord> arms;
  double log_best = -std::numeric_limits<double>::infinity();  // the largest log improvement seen, faded
  bool operator==(const BanditState&) const = default;
};

class ModelBandit {
 public:
  explicit ModelBandit(const BanditSettings& settings = {}, BanditState state = {})
      : settings_(settings), state_(std::move(state)) {}

  void Submit(const std::string& arm, int64_t calls = 1);
  // `score` and `reference` (the parent, or 0 for PyTorch, whichever is faster) are log speedups; a score that is no
  // number is a failure.
  void Succeed(const std::string& arm, double score, double reference);
  void Fail(const std::string& arm);
  void AddCost(const std::string& arm, double usd, int64_t calls = 1);

  // For each of `available`, which may hold arms never heard of. Scores of unseen arms are infinite.
  std::vector<double> Scores(const std::vector<std::string>& available) const;
  // Sums to 1: all on unseen arms where there are any, else 1 - epsilon on the best.
  std::vector<double> Probabilities(const std::vector<std::string>& available) const;
  // The place in `available`, the same for the same state, seed and set of arms in any order; `available` is not empty.
  size_t Choose(const std::vector<std::string>& available, uint64_t seed) const;

  const BanditState& state() const { return state_; }

 private:
  void Record(const std::string& arm, double log_improvement);
  double LogMean(const ArmRecord& arm) const;

  BanditSettings settings_;
  BanditState state_;
};

// numbers.h's draw among names (their weights in the same order), whatever order they come in.
size_t DrawName(const std::vector<std::string>& names, const std::vector<double>& weights, uint64_t seed);

}  // namespace warpsmith::search

#endif  // WARPSMITH_COORDINATOR_SEARCH_MODEL_BANDIT_H_
