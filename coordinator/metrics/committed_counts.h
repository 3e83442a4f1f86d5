// What the statements of one transaction changed, to be counted once it has committed: a transaction that is rolled
// back or run again counts nothing or once. A statement says it by the rows that it returns.
// Threading: one thread. Units: seconds.
#ifndef WARPSMITH_COORDINATOR_METRICS_COMMITTED_COUNTS_H_
#define WARPSMITH_COORDINATOR_METRICS_COMMITTED_COUNTS_H_

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coordinator/store/database.h"

namespace warpsmith::metrics {

struct Improvement {
  double ratio = 0;  // to PyTorch; 0: not known
  bool emulated = false;
};

struct CommittedCounts {
  std::map<std::string, int> claims;                           // by kind
  std::vector<std::pair<std::string, double>> waits;           // kind and seconds, of first starts
  std::map<std::string, int> rescues;                          // by reason
  std::map<std::pair<std::string, std::string>, int> results;  // by kind and outcome, but for recorded verdicts
  std::map<std::string, int> candidates;                       // by outcome, but for recorded verdicts
  std::vector<Improvement> improvements;

  // Of a statement that is none of those counted: nothing.
  void Add(std::string_view statement, const store::ResultSet& rows);
};

// The statements whose rows are counted, and the columns that they must return.
const std::map<std::string, std::vector<std::string>, std::less<>>& CountedStatements();

}  // namespace warpsmith::metrics

#endif  // WARPSMITH_COORDINATOR_METRICS_COMMITTED_COUNTS_H_
