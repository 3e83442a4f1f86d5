#include "llm_gateway/async/fibers.h"

#include <algorithm>
#include <utility>

#include "common/log.h"
#include "llm_gateway/async/fiber.h"

namespace warpsmith::gateway {
namespace {

constexpr size_t kIdleKept = 256;

}  // namespace

Fibers::Fibers(EventLoop& loop, TaskRunner& blocking, int most)
    : loop_(loop), blocking_(blocking), most_(std::max(1, most)) {}

Fibers::~Fibers() {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return active_ == 0; });
}

void Fibers::Run(std::function<void()> work) {
  {
    std::lock_guard lock(mutex_);
    if (active_ >= most_) {
      waiting_.push_back(std::move(work));
      return;
    }
    ++active_;
  }
  loop_.Post([this, work = std::move(work)]() mutable { Start(std::move(work)); });
}

int Fibers::active() const {
  std::lock_guard lock(mutex_);
  return active_;
}

Fiber* Fibers::Take() {
  if (idle_.empty()) return Fiber::Make(*this).release();
  Fiber* fiber = idle_.back().release();
  idle_.pop_back();
  return fiber;
}

void Fibers::Start(std::function<void()> work) {
  Fiber* fiber = Take();
  if (fiber == nullptr) {
    // Late rather than never: some fiber that runs gives its stack back.
    spdlog::error("the machine gives no memory for another call; it waits for one that runs");
    std::unique_lock lock(mutex_);
    if (active_ > 1) {
      --active_;
      waiting_.push_back(std::move(work));
      return;
    }
    lock.unlock();
    loop_.StartTimer(RealClock().Now() + std::chrono::milliseconds(100),
                     [this, work = std::move(work)]() mutable { Start(std::move(work)); });
    return;
  }
  fiber->Begin(std::move(work));
  Resume(fiber);
}

void Fibers::Resume(Fiber* fiber) {
  if (!fiber->Go()) return;
  if (idle_.size() < kIdleKept) {
    idle_.emplace_back(fiber);
  } else {
    delete fiber;
  }
  std::lock_guard lock(mutex_);
  if (!waiting_.empty()) {
    loop_.Post([this, work = std::move(waiting_.front())]() mutable { Start(std::move(work)); });
    waiting_.pop_front();
    return;
  }
  // Under the lock: this is gone as soon as nothing is active.
  if (--active_ == 0) ended_.notify_all();
}

}  // namespace warpsmith::gateway
