#include "llm_gateway/service/worker_pool.h"

#include <pthread.h>

#include <algorithm>

#include "common/log.h"

namespace warpsmith::gateway {
namespace {

// A thousand threads at the default would take 8 GB of addresses; nothing here recurses deeply but JSON, to 64 levels.
constexpr size_t kStackBytes = 1u << 20;

}  // namespace

WorkerPool::WorkerPool(int most_threads, Duration idle) : most_threads_(std::max(1, most_threads)), idle_(idle) {}

WorkerPool::~WorkerPool() {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
  ended_.wait(lock, [this] { return threads_ == 0 && waiting_.empty(); });
}

bool WorkerPool::StartThreadLocked() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread;
  const int error = pthread_create(&thread, &attributes, &WorkerPool::Enter, this);
  pthread_attr_destroy(&attributes);
  if (error != 0) return false;
  ++threads_;
  return true;
}

void WorkerPool::Run(std::function<void()> work) {
  {
    std::lock_guard lock(mutex_);
    // A free thread may already be on its way to earlier work, so they are counted against all that waits.
    const bool needs_thread = free_ <= static_cast<int>(waiting_.size()) && threads_ < most_threads_;
    if (!needs_thread || StartThreadLocked() || threads_ > 0) {
      waiting_.push_back(std::move(work));
      changed_.notify_one();
      return;
    }
  }
  // Not even one thread can be had: the work is done here, late rather than never.
  spdlog::error("the machine gives no more threads; a call is worked on by the thread that took it");
  work();
}

int WorkerPool::threads() const {
  std::lock_guard lock(mutex_);
  return threads_;
}

void* WorkerPool::Enter(void* self) {
  static_cast<WorkerPool*>(self)->Work();
  return nullptr;
}

void WorkerPool::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (waiting_.empty()) {
      if (stopping_) break;
      ++free_;
      const bool more = changed_.wait_for(lock, idle_, [this] { return !waiting_.empty() || stopping_; });
      --free_;
      if (!more) break;
      continue;
    }
    std::function<void()> work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
  }
  --threads_;
  // Under the lock: the pool is gone as soon as the last thread has left it.
  ended_.notify_all();
}

}  // namespace warpsmith::gateway
