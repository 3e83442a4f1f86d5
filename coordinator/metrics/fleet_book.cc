#include "coordinator/metrics/fleet_book.h"

#include <set>

namespace warpsmith::metrics {
namespace {

constexpr Duration kSilentFor = std::chrono::hours(1);    // then it is taken for one that was meant to go
constexpr Duration kIllFor = std::chrono::hours(7 * 24);  // a device that left wedged or out of service
constexpr size_t kMostEntries = 20'000;
constexpr const char* kStates[] = {"idle", "busy", "throttled", "wedged", "quarantined", "draining"};

}  // namespace

FleetBook::State FleetBook::StateOf(const engine::FleetMember& member) {
  if (member.condition.retired()) return State::kQuarantined;
  if (member.condition.wedged()) return State::kWedged;
  if (member.draining) return State::kDraining;
  if (member.condition.throttled()) return State::kThrottled;
  return member.busy ? State::kBusy : State::kIdle;
}

void FleetBook::Forget(TimePoint now) {
  std::erase_if(entries_, [&](const auto& known) {
    const Entry& entry = known.second;
    const bool ill = entry.state == State::kWedged || entry.state == State::kQuarantined;
    return !entry.connected && now - entry.seen >= (ill ? kIllFor : kSilentFor);
  });
}

std::vector<FleetRestart> FleetBook::Update(const std::vector<engine::FleetMember>& members) {
  std::vector<FleetRestart> restarts;
  const std::lock_guard lock(mutex_);
  const TimePoint now = clock_.Now();
  for (auto& [id, entry] : entries_) {
    if (entry.connected) entry.seen = now;
    entry.connected = false;
  }
  for (const engine::FleetMember& member : members) {
    const auto found = entries_.find(member.worker_id);
    if (found != entries_.end() && found->second.boot_id != member.boot_id) {
      const Entry& before = found->second;
      const char* reason = before.state == State::kQuarantined ? "retired"
                           : before.state == State::kWedged    ? "wedged"
                           : before.draining                   ? "drained"
                                                               : "died";
      restarts.push_back({before.place.node, reason});
    }
    if (found == entries_.end() && entries_.size() >= kMostEntries) continue;
    Entry& entry = entries_[member.worker_id];
    entry.place.node = nodes_.Fold(member.node.empty() ? "unknown" : member.node);
    entry.place.gpu = gpus_.Fold(member.gpu.empty() ? "unknown" : member.gpu);
    entry.boot_id = member.boot_id;
    entry.state = StateOf(member);
    entry.draining = member.draining;
    entry.connected = true;
    entry.seen = now;
  }
  Forget(now);
  return restarts;
}

FleetPlace FleetBook::PlaceOf(const std::string& worker_id) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(worker_id);
  return found == entries_.end() ? FleetPlace{kOther, kOther} : found->second.place;
}

FleetFigures FleetBook::Figures() const {
  FleetFigures figures;
  const std::lock_guard lock(mutex_);
  for (const auto& [id, entry] : entries_) {
    const bool ill = entry.state == State::kWedged || entry.state == State::kQuarantined;
    if (entry.connected) {
      ++(entry.draining ? figures.draining : figures.connected);
    } else if (!entry.draining && !ill && clock_.Now() - entry.seen < kSilentFor) {
      ++figures.silent;
    }
    for (const char* state : kStates) figures.gpus[{entry.place.node, state}];
    if (entry.connected || ill) ++figures.gpus[{entry.place.node, kStates[static_cast<int>(entry.state)]}];
  }
  return figures;
}

}  // namespace warpsmith::metrics
