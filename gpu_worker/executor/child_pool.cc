#include "gpu_worker/executor/child_pool.h"

#include <fmt/format.h>
#include <sys/wait.h>

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
constexpr Duration kLookWhileQuiet = std::chrono::milliseconds(50);

// Not the whole group: a process that it has just forked, once stopped, could keep it from standing still.
void SignalAlone(const ChildProcess& child, int signal) {
  if (child.pid() > 0) kill(child.pid(), signal);
}

}  // namespace

ChildPool::ChildPool(ChildOptions child, RefillLimits limits)
    : child_(std::move(child)), policy_(limits), worker_([this] { Work(); }) {}

ChildPool::~ChildPool() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  worker_.join();
}

PoolState ChildPool::State() const {
  const int warming = static_cast<int>(warming_.size()) + starting_;
  return {static_cast<int>(ready_.size()), warming, waiting_, quiet_ || holds_ > 0};
}

int ChildPool::Wanted() const { return RealClock().Now() < retry_after_ ? 0 : policy_.ToStart(State()); }

bool ChildPool::IsStill() const {
  auto moving = std::count_if(warming_.begin(), warming_.end(), [](const Warming& one) { return !one.still; });
  return ending_.empty() && policy_.IsStill(State(), static_cast<int>(moving) + starting_);
}

void ChildPool::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stopping_) {
    if (const int wanted = Wanted(); wanted > 0) {
      // As many as were wanted at once: a batch is not cut short because it has begun, only because it became quiet.
      const bool quiet = quiet_;
      for (int i = 0; i < wanted && !stopping_ && quiet_ == quiet && RealClock().Now() >= retry_after_; ++i) {
        StartOne(lock);
      }
      continue;
    }
    HoldOrRelease();
    LookAfterWarming(RealClock().Now());
    LookAfterEnding(RealClock().Now());
    if (!warming_.empty() || !ending_.empty()) {
      // What stands still while something is timed is not looked at all the time.
      changed_.wait_for(lock, quiet_ && IsStill() ? kLookWhileQuiet : kLook);
    } else if (RealClock().Now() < retry_after_) {
      changed_.wait_for(lock, std::chrono::milliseconds(50));
    } else {
      changed_.wait(lock, [this] { return stopping_ || Wanted() > 0 || !ending_.empty(); });
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
  ++starting_;
  lock.unlock();
  absl::StatusOr<std::unique_ptr<ChildProcess>> child = ChildProcess::Start(child_);
  lock.lock();
  --starting_;
  if (child.ok()) {
    Warming& one = warming_.emplace_back();
    one.child = std::move(*child);
    one.since = RealClock().Now();
  } else {
    Fail(child.status());
  }
}

void ChildPool::Fail(const absl::Status& status) {
  failure_ = status;
  retry_after_ = RealClock().Now() + kRetryPause;
  changed_.notify_all();
}

void ChildPool::HoldOrRelease() {
  const TimePoint now = RealClock().Now();
  const bool hold = policy_.MustHold(State());
  for (Warming& one : warming_) {
    if (!hold) {
      Release(one, now);
    } else if (!one.held) {
      SignalAlone(*one.child, SIGSTOP);
      one.held = one.was_held = true;
      one.held_since = now;
    }
    if (!one.held || one.still) continue;
    // A thread inside the driver stands still once its call is over; the kernel tells when all of them do.
    siginfo_t info{};
    one.still = waitid(P_PID, static_cast<id_t>(one.child->pid()), &info, WSTOPPED | WNOHANG) == 0 &&
                info.si_pid == one.child->pid();
    if (one.still) changed_.notify_all();
  }
}

void ChildPool::Release(Warming& one, TimePoint now) {
  if (!one.held) return;
  SignalAlone(*one.child, SIGCONT);
  one.since += now - one.held_since;
  one.held = one.still = false;
}

void ChildPool::LookAfterWarming(TimePoint now) {
  for (auto one = warming_.begin(); one != warming_.end();) {
    absl::StatusOr<std::string> byte = one->child->ReadExactly(1, Duration(0));
    const bool silent = byte.status().code() == absl::StatusCode::kDeadlineExceeded;
    if (byte.ok() && (*byte)[0] == kWarmByte) {
      // From here on it waits for its spec, which disturbs nobody.
      Release(*one, now);
      ready_.push_back(std::move(one->child));
    } else if (silent && (one->held || now - one->since < kWarmDeadline)) {
      ++one;
      continue;
    } else {
      GiveUpOn(*one, now);
    }
    one = warming_.erase(one);
    changed_.notify_all();
  }
}

void ChildPool::GiveUpOn(Warming& one, TimePoint now) {
  std::optional<ChildExit> exit = one.child->Wait(Duration(0));
  std::string what = fmt::format("an executor did not get ready within {:.0f} s of its start{}",
                                 ToSeconds(kWarmDeadline), exit ? ": " + exit->Describe() : "");
  if (one.was_held && policy_.limits().can_hold) {
    // Perhaps the driver does not bear it here. Another is started, and none is held again.
    policy_.StopHolding();
    spdlog::warn("{}; it had been stopped for a while, which is not done again: timings wait for executors instead",
                 what);
  } else {
    Fail(Internal(what));
  }
  one.child->Kill(SIGKILL);
  ending_.push_back({std::move(one.child), now});
}

void ChildPool::LookAfterEnding(TimePoint now) {
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
  // Nothing to wait for where somebody else has ended the quiet meanwhile.
  if (quiet) changed_.wait_for(lock, kQuietDeadline, [this] { return !quiet_ || IsStill(); });
}

void ChildPool::AddHolds(int more) {
  std::lock_guard<std::mutex> lock(mutex_);
  holds_ += more;
  changed_.notify_all();
}

bool ChildPool::Wedged() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return wedged_;
}

}  // namespace warpsmith::executor
