#include "gpu_worker/executor/child_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "common/log.h"
#include "gpu_worker/executor/frame.h"

namespace warpsmith::executor {
namespace {

constexpr Duration kWarmDeadline = std::chrono::seconds(20);
constexpr Duration kEndDeadline = std::chrono::seconds(12);
constexpr Duration kQuietDeadline = std::chrono::seconds(5);
constexpr Duration kRetryPause = std::chrono::seconds(1);
// Between looks at children that are warming up or ending.
constexpr Duration kLook = std::chrono::milliseconds(1);

}  // namespace

ChildPool::ChildPool(ChildOptions child, int idle)
    : child_(std::move(child)), idle_(std::max(idle, 0)), worker_([this] { Work(); }) {}

ChildPool::~ChildPool() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  worker_.join();
}

bool ChildPool::WantsChild() const {
  int wanted = quiet_ ? waiting_ : std::max(idle_, waiting_);
  return static_cast<int>(ready_.size() + warming_.size()) < wanted && RealClock().Now() >= retry_after_;
}

void ChildPool::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stopping_) {
    if (WantsChild()) {
      StartOne(lock);
      continue;
    }
    LookAfterChildren();
    if (!warming_.empty() || !ending_.empty()) {
      changed_.wait_for(lock, kLook);
    } else if (RealClock().Now() < retry_after_) {
      changed_.wait_for(lock, std::chrono::milliseconds(50));
    } else {
      changed_.wait(lock, [this] { return stopping_ || WantsChild() || !ending_.empty(); });
    }
  }
  // All at once, then one after the other: a GPU's driver takes its time with each.
  for (Warming& one : warming_) one.child->Kill(SIGKILL);
  for (std::unique_ptr<ChildProcess>& child : ready_) child->Kill(SIGKILL);
  ready_.clear();
  warming_.clear();
  ending_.clear();
}

void ChildPool::StartOne(std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  absl::StatusOr<std::unique_ptr<ChildProcess>> child = ChildProcess::Start(child_);
  lock.lock();
  if (child.ok()) {
    warming_.push_back({std::move(*child), RealClock().Now()});
  } else {
    Fail(child.status());
  }
}

void ChildPool::Fail(const absl::Status& status) {
  failure_ = status;
  retry_after_ = RealClock().Now() + kRetryPause;
  changed_.notify_all();
}

void ChildPool::LookAfterChildren() {
  TimePoint now = RealClock().Now();
  for (auto one = warming_.begin(); one != warming_.end();) {
    absl::StatusOr<std::string> byte = one->child->ReadExactly(1, Duration(0));
    if (byte.ok() && (*byte)[0] == kWarmByte) {
      ready_.push_back(std::move(one->child));
    } else if (!byte.ok() && byte.status().code() == absl::StatusCode::kDeadlineExceeded &&
               now - one->since < kWarmDeadline) {
      ++one;
      continue;
    } else {
      std::optional<ChildExit> exit = one->child->Wait(Duration(0));
      Fail(Internal(fmt::format("an executor did not get ready within {:.0f} s of its start{}",
                                ToSeconds(kWarmDeadline), exit ? ": " + exit->Describe() : "")));
      one->child->Kill(SIGKILL);
      ending_.push_back({std::move(one->child), now});
    }
    one = warming_.erase(one);
    changed_.notify_all();
  }
  for (auto one = ending_.begin(); one != ending_.end();) {
    bool gone = one->child->Wait(Duration(0)).has_value();
    if (!gone && now - one->since < kEndDeadline) {
      ++one;
      continue;
    }
    if (!gone) {
      wedged_ = true;
      spdlog::error("executor process {} was killed {:.0f} s ago and is still there", one->child->pid(),
                    ToSeconds(kEndDeadline));
      one->child->Detach();
    }
    one = ending_.erase(one);
    changed_.notify_all();
  }
}

absl::StatusOr<std::unique_ptr<ChildProcess>> ChildPool::Take() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    ++waiting_;
    failure_ = absl::OkStatus();
    changed_.notify_all();
    bool in_time = changed_.wait_for(lock, kWarmDeadline, [this] { return !ready_.empty() || !failure_.ok(); });
    --waiting_;
    if (ready_.empty()) {
      if (!failure_.ok()) return Annotate(failure_, "cannot start an executor");
      if (!in_time) return DeadlineExceeded("no executor process started in time");
      continue;
    }
    std::unique_ptr<ChildProcess> child = std::move(ready_.front());
    ready_.pop_front();
    changed_.notify_all();
    if (child->Running()) return child;
  }
}

void ChildPool::Retire(std::unique_ptr<ChildProcess> child) {
  if (child == nullptr) return;
  child->Kill(SIGKILL);
  std::lock_guard<std::mutex> lock(mutex_);
  ending_.push_back({std::move(child), RealClock().Now()});
  changed_.notify_all();
}

void ChildPool::End(std::unique_ptr<ChildProcess> child) {
  if (child == nullptr) return;
  child->Kill(SIGKILL);
  if (child->Wait(kEndDeadline)) return;
  spdlog::error("executor process {} was killed {:.0f} s ago and is still there", child->pid(),
                ToSeconds(kEndDeadline));
  child->Detach();
  std::lock_guard<std::mutex> lock(mutex_);
  wedged_ = true;
}

void ChildPool::SetQuiet(bool quiet) {
  std::unique_lock<std::mutex> lock(mutex_);
  quiet_ = quiet;
  changed_.notify_all();
  if (quiet) changed_.wait_for(lock, kQuietDeadline, [this] { return warming_.empty() && ending_.empty(); });
}

bool ChildPool::Wedged() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return wedged_;
}

}  // namespace warpsmith::executor
