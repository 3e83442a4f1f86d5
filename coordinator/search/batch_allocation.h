// Whose round is next in a batch: a pure function of what its problems have so far, so that it can be tested and
// simulated.
// Each problem gets one round first, in order. After that a free place goes to the problem with the largest expected
// gain of one more round, which is TVM's gradient of the best time with two corrections: it is divided by the best
// time, since otherwise the longest-running problems take everything, and problems without a valid kernel, which have
// no gradient, get a share of the rounds, up to a number each. A problem stops at the roofline, or when it gains no
// more. Threading: pure. Units: normalised times, which are a kernel's time over PyTorch's on the same device (1: as
// fast). Source: TVM MetaSchedule's gradient-based task scheduler (alpha, window).
#ifndef WARPSMITH_COORDINATOR_SEARCH_BATCH_ALLOCATION_H_
#define WARPSMITH_COORDINATOR_SEARCH_BATCH_ALLOCATION_H_

#include <string>
#include <vector>

#include "coordinator/search/strategy.h"

namespace warpsmith::search {

struct AllocationRules {
  double alpha = 0.2;  // weight of the gain of the last rounds; the rest is that of how little was tried
  int window = 3;      // rounds over which that gain is taken
  double reserve_share = 0.15;
  int reserve_rounds = 3;          // at most, of a problem without a kernel, after its first
  int rounds_without_gain = 3;     // where a problem's settings do not say
  double least_gain = 1.01;        // over them
  double factor_of_minimum = 1.1;  // a time within it of the algorithm's least is at the roofline
};

enum class ProblemState {
  kNew,      // waits for its intake and first round
  kActive,   // in a round that it was granted
  kWaiting,  // between two rounds
  kEnded,
};

struct ProblemView {
  std::string id;
  ProblemState state = ProblemState::kNew;
  int rounds_granted = 0;
  int reserve_rounds = 0;  // of these after the first, those begun without a kernel
  std::vector<double>
      best;  // normalised time of the best kernel after each closed round; 0: none yet. Of kWaiting only
  double roofline_share = 0;               // of the best kernel, as measured; 0: not known
  double floor_share = 0;                  // the algorithm's least time over the best kernel's; 0: not known
  double stop_at_share = 0.95;             // of the roofline; 0: never
  int stop_after_rounds_without_gain = 0;  // 0: the rules say
};

struct BatchView {
  std::vector<ProblemView> problems;  // in the batch's order
  int places = 0;                     // problems that may begin a round now
  bool spent = false;                 // money, tokens or GPU hours of the batch are used up
  bool limited = false;               // it has a limit of these
};

struct StoppedProblem {
  std::string id;
  std::string reason;  // roofline, no_gain, no_kernel, budget
  bool operator==(const StoppedProblem&) const = default;
};

struct Allocation {
  std::vector<std::string> begin;  // a first round of those that are new, the next one of those that wait
  std::vector<StoppedProblem> stop;
};

// The expected gain of one more round, as a share of the best time. Of a problem with a closed round.
double ExpectedGain(const ProblemView& problem, const AllocationRules& rules);

Allocation Allocate(const BatchView& batch, const AllocationRules& rules = {});

// Of a strategy's actions, those that a search may take that is granted rounds up to `rounds`: it opens no later one.
std::vector<Action> WithinRounds(std::vector<Action> actions, int rounds);

}  // namespace warpsmith::search

#endif  // WARPSMITH_COORDINATOR_SEARCH_BATCH_ALLOCATION_H_
