#include "llm_gateway/service/active_calls.h"

namespace warpsmith::gateway {

bool ActiveCalls::Add(Cancellation& cancellation) {
  std::lock_guard lock(mutex_);
  if (closed_) return false;
  calls_.insert(&cancellation);
  return true;
}

void ActiveCalls::Remove(Cancellation& cancellation) {
  std::lock_guard lock(mutex_);
  calls_.erase(&cancellation);
  if (calls_.empty()) changed_.notify_all();
}

bool ActiveCalls::Drain(Duration grace) {
  std::unique_lock lock(mutex_);
  closed_ = true;
  return changed_.wait_for(lock, grace, [this] { return calls_.empty(); });
}

void ActiveCalls::CancelAll() {
  std::lock_guard lock(mutex_);
  closed_ = true;
  for (Cancellation* cancellation : calls_) cancellation->Cancel();
}

size_t ActiveCalls::size() const {
  std::lock_guard lock(mutex_);
  return calls_.size();
}

}  // namespace warpsmith::gateway
