// What strategies share in choosing parents: seeded draws, and kernels of the bank that were not tried yet.
// Threading: pure. A draw goes by a name (search's seed, round, slot), so that the same search and round draw the same,
// whatever happened in between.
#ifndef WARPSMITH_COORDINATOR_SEARCH_PARENT_DRAW_H_
#define WARPSMITH_COORDINATOR_SEARCH_PARENT_DRAW_H_

#include <string>
#include <vector>

#include "coordinator/search/snapshot_index.h"

namespace warpsmith::search {

// A place in `weights`, none negative and one at least positive.
size_t DrawPlace(const std::vector<double>& weights, const std::string& name);

// The first kernel of the bank that was no parent yet and is not in `chosen`; empty: there is none.
std::string UnusedSeed(const SnapshotIndex& index, const std::vector<std::string>& chosen);

}  // namespace warpsmith::search

#endif  // WARPSMITH_COORDINATOR_SEARCH_PARENT_DRAW_H_
