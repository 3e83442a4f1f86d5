#include "cli/search_calls.h"

#include <algorithm>
#include <cmath>

namespace warpsmith::cli {
namespace {

constexpr double kFirstFailures = 0.5;
constexpr double kRepairFailures = 0.5;

int32_t Clamp(double count) { return static_cast<int32_t>(std::min(std::round(count), 1e7)); }

// Strategies sequential and best_of_n: turns or attempts, each of an idea, a kernel and its repairs.
void CountPairs(const search::SearchValues& values, double repairs_a_kernel, v1::EstimateRequest& request) {
  const double turns =
      double(values.rounds) * static_cast<double>(std::max<int64_t>(1, search::CallsARound(values) / 2));
  request.set_propose_calls(Clamp(turns));
  request.set_implement_calls(Clamp(turns));
  request.set_repair_calls(Clamp(turns * repairs_a_kernel));
  request.set_ideas_per_call(1);
}

void CountBranching(const search::SearchValues& values, double repairs_a_kernel, v1::EstimateRequest& request) {
  // The first round has the module alone to start from and asks once for all of its ideas; each island once.
  const double kernels = double(values.rounds) * values.parents * values.ideas * values.implementations;
  const int first = values.strategy == "evolve" ? std::min(values.parents, values.islands) : 1;
  request.set_propose_calls(Clamp(first + double(values.rounds - 1) * values.parents));
  request.set_implement_calls(Clamp(kernels));
  request.set_repair_calls(Clamp(kernels * repairs_a_kernel));
  request.set_ideas_per_call(values.ideas);
}

}  // namespace

SearchCalls CallsOf(const search::SearchValues& values) {
  double expected_repairs = 0;
  double failing = kFirstFailures;
  for (int i = 0; i < values.repairs; ++i, failing *= kRepairFailures) expected_repairs += failing;
  SearchCalls calls;
  const bool pairs = values.strategy == "sequential" || values.strategy == "best_of_n";
  const auto count = pairs ? CountPairs : CountBranching;
  count(values, expected_repairs, calls.expected);
  count(values, values.repairs, calls.most);
  return calls;
}

}  // namespace warpsmith::cli
