// Which problems training data is made of, and for what: by problem, never by row, and the same in every export.
// Threading: pure. Errors: none.
#ifndef WARPSMITH_CLI_TRANSFER_SPLIT_H_
#define WARPSMITH_CLI_TRANSFER_SPLIT_H_

#include <string>
#include <vector>

#include "warpsmith/v1/problem.pb.h"

namespace warpsmith::transfer {

struct SplitRules {
  std::vector<std::string> held_out;  // names, ids or SHA-256 of problems that are never exported
  double validation_share = 0.1;      // of problems
};

bool HeldOut(const SplitRules& rules, const v1::Problem& problem);

// "train" or "validation", by the SHA-256 of the problem's source.
std::string SplitOf(const SplitRules& rules, const v1::Problem& problem);

}  // namespace warpsmith::transfer

#endif  // WARPSMITH_CLI_TRANSFER_SPLIT_H_
