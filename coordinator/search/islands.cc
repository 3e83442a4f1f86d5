#include "coordinator/search/islands.h"

#include <algorithm>
#include <cmath>

#include "common/hash.h"
#include "coordinator/search/strategy.h"

namespace warpsmith::search {
namespace {

// By ratio alone; none at all is slower than anything.
bool Slower(const CandidateView* a, const CandidateView* b) {
  return b != nullptr && (a == nullptr || a->log_ratio < b->log_ratio);
}

}  // namespace

Islands::Islands(const SnapshotIndex& index)
    : index_(index), places_(std::max(1, index.values().islands)), order_(index.ParentOrder()) {
  std::erase_if(order_, [](const CandidateView* c) { return !std::isfinite(c->log_ratio); });
  for (int place = 0; place < places_; ++place) current_.push_back(place + 1);
  for (const IdeaView* idea : index.ideas()) {
    const int island = IslandOf(*idea);
    of_idea_[idea->id] = island;
    int& current = current_[static_cast<size_t>(PlaceOf(island))];
    current = std::max(current, island);
    ++children_[{island, idea->parent_id}];
    if (!idea->parent_id.empty()) members_[island].insert(idea->parent_id);
    if (!idea->operator_injected) rounds_[island].insert(idea->round);
  }
  for (const CandidateView* c : index.candidates()) {
    const auto idea = of_idea_.find(c->idea_id);
    if (idea == of_idea_.end()) continue;
    members_[idea->second].insert(c->id);
    if (!IsCorrect(*c) || !std::isfinite(c->log_ratio)) continue;
    const CandidateView*& best = round_best_[{idea->second, c->round}];
    if (Slower(best, c)) best = c;
  }
}

int Islands::IslandOf(const IdeaView& idea) const {
  const IdeaView* at = &idea;
  // Each step goes up one idea, so a longer walk means a cycle in the data.
  for (size_t step = 0; step <= index_.ideas().size(); ++step) {
    if (at->island > 0 && !at->operator_injected) return at->island;
    const CandidateView* parent = index_.FindCandidate(at->parent_id);
    const IdeaView* up = parent == nullptr ? nullptr : index_.FindIdea(parent->idea_id);
    if (up == nullptr) break;
    at = up;
  }
  return 1 + static_cast<int>(Sha256Prefix(idea.id) % static_cast<uint64_t>(places_));
}

std::vector<int> Islands::Ranked() const {
  std::vector<int> ranked;
  std::vector<const CandidateView*> bests;
  for (int place = 0; place < places_; ++place) {
    ranked.push_back(place);
    bests.push_back(Best(At(place)));
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [&](int a, int b) { return Slower(bests[static_cast<size_t>(b)], bests[static_cast<size_t>(a)]); });
  return ranked;
}

bool Islands::Has(int island, const CandidateView& candidate) const {
  if (candidate.idea_id.empty()) return true;
  const auto members = members_.find(island);
  return members != members_.end() && members->second.count(candidate.id) != 0;
}

std::vector<const CandidateView*> Islands::Parents(int island) const {
  std::vector<const CandidateView*> parents;
  for (const CandidateView* c : order_) {
    if (!Has(island, *c)) continue;
    const CandidateView* twin = c->twin_of.empty() ? nullptr : index_.FindCandidate(c->twin_of);
    if (twin != nullptr && twin != c && Has(island, *twin)) continue;
    parents.push_back(c);
  }
  return parents;
}

const CandidateView* Islands::Best(int island) const {
  const std::vector<const CandidateView*> parents = Parents(island);
  return parents.empty() ? nullptr : parents.front();
}

int Islands::Children(int island, const std::string& candidate_id) const {
  const auto children = children_.find({island, candidate_id});
  return children == children_.end() ? 0 : children->second;
}

int Islands::LastRound(int island) const {
  int last = 0;
  const auto rounds = rounds_.find(island);
  if (rounds == rounds_.end()) return 0;
  for (int round : rounds->second) {
    if (round < index_.snapshot().round) last = std::max(last, round);
  }
  return last;
}

int Islands::RoundsWithoutGain(int island) const {
  const auto rounds = rounds_.find(island);
  if (rounds == rounds_.end()) return 0;
  // An island that was founded on a kernel gains only by what is faster.
  const CandidateView* reference = nullptr;
  if (island > places_) {
    for (const IdeaView* idea : index_.ideas()) {
      if (of_idea_.at(idea->id) != island || idea->round != *rounds->second.begin()) continue;
      const CandidateView* founder = index_.FindCandidate(idea->parent_id);
      if (founder != nullptr && IsCorrect(*founder) && Slower(reference, founder)) reference = founder;
    }
  }
  int without = 0;
  for (int round : rounds->second) {
    if (round >= index_.snapshot().round) continue;
    const auto found = round_best_.find({island, round});
    const CandidateView* best = found == round_best_.end() ? nullptr : found->second;
    if (best != nullptr && (reference == nullptr || ClearlyFaster(*best, *reference))) {
      reference = best;
      without = 0;
    } else {
      ++without;
    }
  }
  return without;
}

}  // namespace warpsmith::search
