#include "llm_gateway/http/cancellation.h"

#include <utility>

namespace warpsmith::gateway {

Cancellation::Subscription::~Subscription() {
  std::lock_guard lock(owner_->mutex_);
  owner_->callbacks_.erase(id_);
}

void Cancellation::Cancel() {
  // Callbacks run under the lock: that is what makes "after unsubscribing it will not run" true.
  std::lock_guard lock(mutex_);
  if (cancelled_) return;
  cancelled_ = true;
  for (auto& [id, callback] : callbacks_) callback();
}

bool Cancellation::cancelled() const {
  std::lock_guard lock(mutex_);
  return cancelled_;
}

std::unique_ptr<Cancellation::Subscription> Cancellation::Subscribe(std::function<void()> callback) {
  std::lock_guard lock(mutex_);
  uint64_t id = next_id_++;
  if (cancelled_) {
    callback();
  } else {
    callbacks_.emplace(id, std::move(callback));
  }
  return std::make_unique<Subscription>(this, id);
}

}  // namespace warpsmith::gateway
