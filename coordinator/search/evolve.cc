#include "coordinator/search/evolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "coordinator/search/islands.h"
#include "coordinator/search/parent_draw.h"

namespace warpsmith::search {
namespace {

constexpr int kPatience = 2;  // rounds of its own without gain, until an island of the slower half is given up

// The proposals of one round, in the order of its slots.
class EvolveRound {
 public:
  EvolveRound(const SnapshotIndex& index, uint64_t seed)
      : index_(index), islands_(index), seed_(seed), round_(std::max(1, index.snapshot().round)) {}

  std::vector<Propose> Choose() {
    const int parents = index_.values().parents;
    const std::string bank_seed = round_ % 2 == 0 && parents >= 2 ? UnusedSeed(index_, {}) : "";
    if (!bank_seed.empty()) seeds_.push_back(bank_seed);
    for (int slot = 0; slot < parents; ++slot) {
      const auto turn = (int64_t{round_} - 1) * parents + slot;
      const auto place = static_cast<int>(turn % islands_.places());
      if (slot == parents - 1 && !bank_seed.empty()) {
        Add(bank_seed, IslandOfPlace(place));
      } else {
        Fill(place, slot);
      }
    }
    return std::move(proposals_);
  }

 private:
  // The island that the place has from this round on.
  int IslandOfPlace(int place) {
    const auto known = founders_.try_emplace(place, nullptr);
    if (known.second) known.first->second = Founder(place);
    return islands_.At(place) + (known.first->second == nullptr ? 0 : islands_.places());
  }

  // On which a new island is founded at the place; nullptr: its island goes on.
  const CandidateView* Founder(int place) const {
    const int island = islands_.At(place);
    if (islands_.RoundsWithoutGain(island) < kPatience) return nullptr;
    const std::vector<int> ranked = islands_.Ranked();
    const auto half = static_cast<ptrdiff_t>(ranked.size() - ranked.size() / 2);  // the faster one, with the middle
    if (std::find(ranked.begin(), ranked.begin() + half, place) != ranked.begin() + half) return nullptr;
    std::vector<const CandidateView*> founders;
    const CandidateView* own = islands_.Best(island);
    for (auto survivor = ranked.begin(); survivor != ranked.begin() + half; ++survivor) {
      const CandidateView* best = islands_.Best(islands_.At(*survivor));
      if (best != nullptr && !index_.Exhausted(best->id) && (own == nullptr || ClearlyFaster(*best, *own))) {
        founders.push_back(best);
      }
    }
    if (founders.empty()) return nullptr;
    return founders[DrawPlace(std::vector<double>(founders.size(), 1), Name(place, "restart"))];
  }

  // What comes to the island from the one before it in the ring; nullptr: nothing new, or it is not time.
  const CandidateView* Migrant(int place) const {
    const int every = index_.values().migration_rounds;
    const int island = islands_.At(place);
    const int last = islands_.LastRound(island);
    if (every <= 0 || last == 0 || (round_ - 1) / every == (last - 1) / every) return nullptr;
    const int before = (place + islands_.places() - 1) % islands_.places();
    const CandidateView* best = islands_.Best(islands_.At(before));
    return best == nullptr || islands_.Has(island, *best) || index_.Exhausted(best->id) ? nullptr : best;
  }

  void Fill(int place, int slot) {
    const int island = IslandOfPlace(place);
    if (const CandidateView* founder = founders_.at(place)) return Add(founder->id, island);
    if (taken_[island].empty()) {
      if (const CandidateView* migrant = Migrant(place)) return Add(migrant->id, island);
    }
    std::vector<const CandidateView*> pool = islands_.Parents(island);
    std::erase_if(pool,
                  [&](const CandidateView* c) { return index_.Exhausted(c->id) || taken_[island].count(c->id) != 0; });
    if (!pool.empty()) {
      std::vector<double> weights;
      for (size_t rank = 0; rank < pool.size(); ++rank) {
        weights.push_back(1 / ((1.0 + static_cast<double>(rank)) * (1 + islands_.Children(island, pool[rank]->id))));
      }
      return Add(pool[DrawPlace(weights, Name(slot, "draw"))]->id, island);
    }
    if (!index_.Exhausted("")) return Add("", island);
    // Neither kernels nor the module: whatever else there is to start from.
    if (const std::string seed = UnusedSeed(index_, seeds_); !seed.empty()) return Add(seed, island);
    for (int other : islands_.Ranked()) {
      const CandidateView* best = islands_.Best(islands_.At(other));
      if (best != nullptr && !index_.Exhausted(best->id)) return Add(best->id, island);
    }
  }

  void Add(const std::string& parent, int island) {
    taken_[island].insert(parent);
    seeds_.push_back(parent);
    for (Propose& earlier : proposals_) {
      if (earlier.parent_id == parent && earlier.island == island) {
        earlier.count += index_.values().ideas;
        return;
      }
    }
    proposals_.push_back(Propose{parent, index_.values().ideas, round_, island});
  }

  std::string Name(int number, const char* what) const {
    return fmt::format("{}/{}/{}/{}", seed_, round_, what, number);
  }

  const SnapshotIndex& index_;
  const Islands islands_;
  const uint64_t seed_;
  const int round_;
  std::map<int, const CandidateView*> founders_;  // by place
  std::map<int, std::set<std::string>> taken_;    // by island
  std::vector<std::string> seeds_;                // parents: no kernel of the bank is taken twice
  std::vector<Propose> proposals_;
};

}  // namespace

std::vector<Propose> Evolve::StartRound(const SnapshotIndex& index, uint64_t seed) const {
  return EvolveRound(index, seed).Choose();
}

}  // namespace warpsmith::search
