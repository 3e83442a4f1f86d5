#include "llm_gateway/async/fibers.h"

#include <algorithm>
#include <utility>

#include "common/log.h"
#include "llm_gateway/async/fiber.h"

namespace warpsmith::gateway {
namespace {

constexpr size_t kIdleKept = 256;  // of a loop

}  // namespace

Fibers::Fibers(const std::vector<EventLoop*>& loops, TaskRunner& blocking, int most)
    : blocking_(blocking), most_(std::max(1, most)) {
  homes_.reserve(loops.size());
  for (EventLoop* loop : loops) homes_.push_back({loop, {}, 0});
}

Fibers::~Fibers() {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return active_ == 0; });
}

void Fibers::Post(Home& home, std::function<void()> work) {
  home.loop->Post([this, &home, work = std::move(work)]() mutable { Start(home, std::move(work)); });
}

void Fibers::Run(std::function<void()> work) {
  Home* home;
  {
    std::lock_guard lock(mutex_);
    if (active_ >= most_) {
      waiting_.push_back(std::move(work));
      return;
    }
    home = &*std::min_element(homes_.begin(), homes_.end(),
                              [](const Home& a, const Home& b) { return a.active < b.active; });
    ++home->active;
    ++active_;
  }
  Post(*home, std::move(work));
}

void Fibers::Soon(std::function<void()> work) {
  const auto own =
      std::find_if(homes_.begin(), homes_.end(), [](const Home& home) { return home.loop->OnThisThread(); });
  (own == homes_.end() ? homes_.front() : *own).loop->Post(std::move(work));
}

int Fibers::active() const {
  std::lock_guard lock(mutex_);
  return active_;
}

Fiber* Fibers::Take(Home& home) {
  if (home.idle.empty()) return Fiber::Make(*this, home).release();
  Fiber* fiber = home.idle.back().release();
  home.idle.pop_back();
  return fiber;
}

void Fibers::Start(Home& home, std::function<void()> work) {
  Fiber* fiber = Take(home);
  if (fiber == nullptr) {
    // Late rather than never: some fiber that runs gives its stack back.
    spdlog::error("the machine gives no memory for another call; it waits for one that runs");
    std::unique_lock lock(mutex_);
    if (active_ > 1) {
      --home.active;
      --active_;
      waiting_.push_back(std::move(work));
      return;
    }
    lock.unlock();
    home.loop->StartTimer(RealClock().Now() + std::chrono::milliseconds(100),
                          [this, &home, work = std::move(work)]() mutable { Start(home, std::move(work)); });
    return;
  }
  fiber->Begin(std::move(work));
  Resume(fiber);
}

void Fibers::Resume(Fiber* fiber) {
  if (!fiber->Go()) return;
  Home& home = fiber->home();
  if (home.idle.size() < kIdleKept) {
    home.idle.emplace_back(fiber);
  } else {
    delete fiber;
  }
  std::lock_guard lock(mutex_);
  if (!waiting_.empty()) {
    Post(home, std::move(waiting_.front()));
    waiting_.pop_front();
    return;
  }
  --home.active;
  // Under the lock: this is gone as soon as nothing is active.
  if (--active_ == 0) ended_.notify_all();
}

}  // namespace warpsmith::gateway
