#include "coordinator/search/parent_draw.h"

#include <algorithm>

#include "common/hash.h"
#include "coordinator/search/numbers.h"

namespace warpsmith::search {

size_t DrawPlace(const std::vector<double>& weights, const std::string& name) {
  return DrawByWeight(weights, Sha256Prefix(name));
}

std::string UnusedSeed(const SnapshotIndex& index, const std::vector<std::string>& chosen) {
  for (const BankSeed& seed : index.snapshot().bank_seeds) {
    const std::string& id = seed.candidate_id;
    if (id.empty() || index.Exhausted(id) || index.Children(id) > 0 || index.HasTask(TaskKind::kPropose, id) ||
        index.FindCandidate(id) != nullptr || std::find(chosen.begin(), chosen.end(), id) != chosen.end()) {
      continue;
    }
    return id;
  }
  return "";
}

}  // namespace warpsmith::search
