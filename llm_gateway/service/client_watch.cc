#include "llm_gateway/service/client_watch.h"

#include <chrono>

namespace warpsmith::gateway {

ClientWatch::ClientWatch() : thread_([this] { Work(); }) {}

ClientWatch::~ClientWatch() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

ClientWatch::Guard::Guard(ClientWatch& watch, std::function<bool()> gone, Cancellation& cancellation) : watch_(watch) {
  std::lock_guard lock(watch_.mutex_);
  place_ = watch_.clients_.insert(watch_.clients_.end(), {std::move(gone), &cancellation});
  if (watch_.cancel_all_) cancellation.Cancel();
  watch_.changed_.notify_all();
}

ClientWatch::Guard::~Guard() {
  std::lock_guard lock(watch_.mutex_);
  watch_.clients_.erase(place_);
}

void ClientWatch::CancelAll() {
  std::lock_guard lock(mutex_);
  cancel_all_ = true;
  for (auto& [gone, cancellation] : clients_) cancellation->Cancel();
}

void ClientWatch::Work() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (clients_.empty()) {
      changed_.wait(lock);
      continue;
    }
    for (auto& [gone, cancellation] : clients_) {
      if (gone()) cancellation->Cancel();
    }
    changed_.wait_for(lock, std::chrono::milliseconds(25), [this] { return stopping_; });
  }
}

}  // namespace warpsmith::gateway
