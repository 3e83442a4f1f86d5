// The lines that people read while a search runs.
// Threading: pure functions over a transaction. Units: milliseconds; per cent of PyTorch is its time over ours.
#ifndef WARPSMITH_COORDINATOR_ENGINE_NARRATOR_H_
#define WARPSMITH_COORDINATOR_ENGINE_NARRATOR_H_

#include <string>
#include <vector>

#include "coordinator/store/database.h"
#include "coordinator/store/records.h"

namespace warpsmith::engine {

// All rounds; "best so far" runs over the rounds up to each.
absl::StatusOr<std::vector<v1::RoundSummary>> SummarizeRounds(store::Transaction& transaction,
                                                              const std::string& search_id);

// "round 2: 5 of 8 compiled, 4 correct, best 0.812 ms (123 % of PyTorch), idea …"
std::string ProgressLine(const v1::RoundSummary& round);
// "round 2 closed: 8 kernels from 4 ideas, 5 compiled, 4 correct, 2 faster; best so far 0.812 ms (123 % of PyTorch)"
std::string ClosingLine(const v1::RoundSummary& round);

// "0.812 ms (123 % of PyTorch)"
std::string TimeText(double ms, double ratio_to_eager);

}  // namespace warpsmith::engine

#endif  // WARPSMITH_COORDINATOR_ENGINE_NARRATOR_H_
