// Hands searches in as an operator would.
// Threading: a function; blocks until all are accepted.
#ifndef WARPSMITH_BENCHMARKS_COORDINATOR_SUBMIT_H_
#define WARPSMITH_BENCHMARKS_COORDINATOR_SUBMIT_H_

#include <string>

#include "common/status.h"

namespace warpsmith::bench {

// Different problems, no other submitter's, each searched in as many rounds as make about 135 candidates.
absl::Status SubmitSearches(const std::string& address, int searches, const std::string& submitter);

}  // namespace warpsmith::bench

#endif  // WARPSMITH_BENCHMARKS_COORDINATOR_SUBMIT_H_
