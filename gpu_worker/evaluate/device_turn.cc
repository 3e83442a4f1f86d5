#include "gpu_worker/evaluate/device_turn.h"

#include <algorithm>

namespace warpsmith::evaluate {

std::optional<DeviceTurn::Hold> DeviceTurn::Take(const std::string& problem_id, std::stop_token stop) {
  std::unique_lock lock(mutex_);
  Ticket ticket{problem_id};
  waiting_.push_back(&ticket);
  CallNext();
  changed_.wait(lock, stop, [&] { return ticket.called; });
  if (!ticket.called) {
    waiting_.remove(&ticket);
    return std::nullopt;
  }
  return std::optional<Hold>(std::in_place, this);
}

int DeviceTurn::waiting() const {
  std::lock_guard lock(mutex_);
  return static_cast<int>(waiting_.size());
}

void DeviceTurn::Release() {
  std::lock_guard lock(mutex_);
  taken_ = false;
  CallNext();
}

void DeviceTurn::CallNext() {
  if (taken_ || waiting_.empty()) return;
  auto next = waiting_.begin();
  if ((*next)->passed_over < most_passed_over_) {
    auto same = std::find_if(waiting_.begin(), waiting_.end(),
                             [this](const Ticket* ticket) { return ticket->problem_id == problem_id_; });
    if (same != waiting_.end()) next = same;
  }
  for (auto before = waiting_.begin(); before != next; ++before) ++(*before)->passed_over;
  taken_ = true;
  problem_id_ = (*next)->problem_id;
  (*next)->called = true;
  waiting_.erase(next);
  changed_.notify_all();
}

}  // namespace warpsmith::evaluate
