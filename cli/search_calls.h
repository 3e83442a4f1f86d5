// How many model calls a search makes, from its settings alone.
// Threading: pure.
#ifndef WARPSMITH_CLI_SEARCH_CALLS_H_
#define WARPSMITH_CLI_SEARCH_CALLS_H_

#include "coordinator/search/settings.h"
#include "warpsmith/v1/gateway.pb.h"

namespace warpsmith::cli {

// Expected: half of all kernels fail at first, and half of what fails is repaired at each attempt. At most: every
// kernel fails, and every repair. Fields of the counts only.
struct SearchCalls {
  v1::EstimateRequest expected;
  v1::EstimateRequest most;
};

SearchCalls CallsOf(const search::SearchValues& values);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_SEARCH_CALLS_H_
