// Tells watchers that a search changed. Threading: safe from any thread.
#ifndef WARPSMITH_COORDINATOR_ENGINE_CHANGE_BUS_H_
#define WARPSMITH_COORDINATOR_ENGINE_CHANGE_BUS_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "common/clock.h"

namespace warpsmith::engine {

class ChangeBus {
 public:
  void Notify(const std::string& search_id) {
    {
      std::lock_guard lock(mutex_);
      ++versions_[search_id];
    }
    changed_.notify_all();
  }

  // Returns the search's version once it differs from `seen`, the wait is over, or Close was called.
  uint64_t Wait(const std::string& search_id, uint64_t seen, Duration timeout) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, timeout, [&] { return closed_ || versions_[search_id] != seen; });
    return versions_[search_id];
  }

  void Close() {
    {
      std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
  }

  bool closed() const {
    std::lock_guard lock(mutex_);
    return closed_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, uint64_t> versions_;  // guarded by mutex_
  bool closed_ = false;                       // guarded by mutex_
};

}  // namespace warpsmith::engine

#endif  // WARPSMITH_COORDINATOR_ENGINE_CHANGE_BUS_H_
