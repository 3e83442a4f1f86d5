#include "coordinator/search/branching.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "coordinator/search/numbers.h"
#include "coordinator/search/parent_draw.h"

namespace warpsmith::search {
namespace {

constexpr int kMaxParentsOfLineage = 2;
constexpr double kRankSteepness = 10;  // lambda
constexpr double kMinDeviation = 1e-6;

// The parents of one round being chosen.
class ParentChoice {
 public:
  ParentChoice(const SnapshotIndex& index, uint64_t seed) : index_(index), seed_(seed) {
    for (const CandidateView* c : index.ParentOrder()) {
      if (!index.Exhausted(c->id)) pool_.push_back(c);
    }
  }

  const std::vector<std::string>& chosen() const { return chosen_; }

  void AddBest(bool of_another_lineage) {
    for (const CandidateView* c : pool_) {
      if (!Free(*c) || (of_another_lineage && of_lineage_.count(index_.Lineage(*c)) != 0)) continue;
      Add(*c);
      return;
    }
  }

  void AddDrawn() {
    std::vector<const CandidateView*> free;
    std::vector<double> ratios;
    for (const CandidateView* c : pool_) {
      if (!Free(*c) || !std::isfinite(c->log_ratio)) continue;
      free.push_back(c);
      ratios.push_back(c->log_ratio);
    }
    if (free.empty()) return;
    const double median = Median(ratios);
    std::vector<double> deviations;
    deviations.reserve(ratios.size());
    for (double ratio : ratios) deviations.push_back(std::abs(ratio - median));
    const double deviation = std::max(kMinDeviation, Median(deviations));
    std::vector<double> weights;
    for (size_t i = 0; i < free.size(); ++i) {
      const double rank = 1 / (1 + std::exp(-kRankSteepness * (ratios[i] - median) / deviation));
      weights.push_back(rank / (1 + index_.Children(free[i]->id)));
    }
    Add(*free[DrawPlace(weights, fmt::format("{}/{}/{}", seed_, index_.snapshot().round, chosen_.size()))]);
  }

  void AddSeed(const std::string& candidate_id) { chosen_.push_back(candidate_id); }

 private:
  bool Free(const CandidateView& c) const {
    auto it = of_lineage_.find(index_.Lineage(c));
    return taken_.count(c.id) == 0 && (it == of_lineage_.end() || it->second < kMaxParentsOfLineage);
  }
  void Add(const CandidateView& c) {
    chosen_.push_back(c.id);
    taken_.insert(c.id);
    ++of_lineage_[index_.Lineage(c)];
  }

  const SnapshotIndex& index_;
  uint64_t seed_;
  std::vector<const CandidateView*> pool_;
  std::vector<std::string> chosen_;
  std::set<std::string> taken_;
  std::map<std::string, int> of_lineage_;
};

}  // namespace

std::vector<Propose> Branching::StartRound(const SnapshotIndex& index, uint64_t seed) const {
  const SearchValues& values = index.values();
  const int round = std::max(1, index.snapshot().round);
  const bool module_open = !index.Exhausted("");
  if (round == 1 && module_open) return {Propose{"", values.parents * values.ideas, round}};

  ParentChoice choice(index, seed);
  const std::string bank_seed = round % 2 == 0 && values.parents >= 2 ? UnusedSeed(index, {}) : "";
  const int slots = values.parents - (bank_seed.empty() ? 0 : 1);
  choice.AddBest(/*of_another_lineage=*/false);
  if (slots >= 2) choice.AddBest(/*of_another_lineage=*/true);
  for (int slot = static_cast<int>(choice.chosen().size()); slot < slots; ++slot) choice.AddDrawn();
  if (!bank_seed.empty()) choice.AddSeed(bank_seed);
  while (!module_open && static_cast<int>(choice.chosen().size()) < values.parents) {
    const std::string extra = UnusedSeed(index, choice.chosen());
    if (extra.empty()) break;
    choice.AddSeed(extra);
  }

  std::vector<Propose> proposals;
  for (const std::string& parent : choice.chosen()) proposals.push_back(Propose{parent, values.ideas, round});
  const int unfilled = values.parents - static_cast<int>(proposals.size());
  if (unfilled > 0 && module_open) proposals.push_back(Propose{"", unfilled * values.ideas, round});
  return proposals;
}

}  // namespace warpsmith::search
