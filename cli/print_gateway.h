// What `gateway check` and `estimate` print.
// Threading: pure.
#ifndef WARPSMITH_CLI_PRINT_GATEWAY_H_
#define WARPSMITH_CLI_PRINT_GATEWAY_H_

#include <string>
#include <vector>

#include "warpsmith/v1/gateway.pb.h"

namespace warpsmith::cli {

std::string ChecksText(const std::vector<v1::ModelCheck>& checks);

// Of one search: what is expected, and what it costs at most.
struct SearchEstimate {
  std::string name;
  v1::EstimateRequest expected_calls;
  v1::EstimateRequest most_calls;
  v1::EstimateReply expected;
  v1::EstimateReply most;
  double max_usd = 0;  // the search's own limits; 0: none
  int64_t max_tokens = 0;
};

double MostUsd(const SearchEstimate& estimate);
std::string EstimateText(const std::vector<SearchEstimate>& estimates);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_PRINT_GATEWAY_H_
