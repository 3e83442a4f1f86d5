#include "coordinator/search/parent_draw.h"

#include <algorithm>

#include "common/hash.h"

namespace warpsmith::search {

size_t DrawPlace(const std::vector<double>& weights, const std::string& name) {
  std::vector<double> sums;
  sums.reserve(weights.size());
  double total = 0;
  for (double weight : weights) sums.push_back(total += weight);
  const double point = static_cast<double>(Sha256Prefix(name) >> 11) * 0x1.0p-53 * total;
  const auto place = static_cast<size_t>(std::upper_bound(sums.begin(), sums.end(), point) - sums.begin());
  return std::min(place, weights.size() - 1);
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
