#include "llm_gateway/limits/rate_limiter.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace warpsmith::gateway {
namespace {

// Nobody sleeps longer without looking at the clock again: a clock may be set or held.
constexpr Duration kLongestSleep = std::chrono::seconds(1);
constexpr Duration kLongestPause = std::chrono::hours(24);
constexpr Duration kLongestWait = std::chrono::hours(24 * 365);

template <typename Number>
Number Share(Number configured, Number share) {
  if (!(share > 0)) return configured;
  return configured > 0 ? std::min(configured, share) : share;
}

}  // namespace

RateLimiter::Ticket::Ticket(Ticket&& other) noexcept
    : owner_(std::exchange(other.owner_, nullptr)), tokens_(other.tokens_), since_(other.since_) {}

RateLimiter::Ticket::~Ticket() {
  if (owner_ != nullptr) owner_->Report(std::move(*this), tokens_);
}

RateLimiter::RateLimiter(const RateLimits& limits, Clock& clock)
    : configured_(limits), clock_(clock), limits_(limits) {}

bool RateLimiter::MayGo(TimePoint now, int64_t tokens) const {
  return now >= paused_until_ && (limits_.concurrency <= 0 || in_flight_ < limits_.concurrency) &&
         requests_.Fits(now, 1, limits_.requests_per_minute) &&
         tokens_.Fits(now, static_cast<double>(tokens), limits_.tokens_per_minute);
}

// Whoever stands at the front goes as soon as it may; nobody behind it goes before it.
void RateLimiter::LetGo(TimePoint now, const Waiter* caller) {
  while (!row_.empty()) {
    Waiter* first = row_.front();
    if (!MayGo(now, first->tokens)) {
      if (first != caller) first->ready.Notify();  // it is the one that watches the clock
      return;
    }
    if (limits_.requests_per_minute > 0) requests_.Take(now, 1);
    if (limits_.tokens_per_minute > 0) tokens_.Take(now, static_cast<double>(first->tokens));
    ++in_flight_;
    first->granted = true;
    first->since = now;
    row_.pop_front();
    first->ready.Notify();
  }
}

RateLimiter::Obstacle RateLimiter::ObstacleOf(TimePoint now, int64_t tokens, int64_t requests_ahead,
                                              int64_t tokens_ahead) const {
  Obstacle worst;
  worst.until = now;
  if (limits_.concurrency > 0 && in_flight_ + requests_ahead >= limits_.concurrency) {
    worst.what = fmt::format("concurrency: {} calls in flight, {} allowed", in_flight_, limits_.concurrency);
    worst.known = false;
    worst.limit = "concurrency";
  }
  auto consider = [&](TimePoint until, bool servers, const char* limit, std::string what) {
    if (until <= worst.until) return;
    worst = {std::move(what), until, true, servers, limit};
  };
  consider(requests_.WhenFits(now, 1, limits_.requests_per_minute, static_cast<double>(requests_ahead)), false,
           "requests", fmt::format("requests_per_minute: {:g} allowed", limits_.requests_per_minute));
  consider(
      tokens_.WhenFits(now, static_cast<double>(tokens), limits_.tokens_per_minute, static_cast<double>(tokens_ahead)),
      false, "tokens", fmt::format("tokens_per_minute: {:g} allowed, {} needed", limits_.tokens_per_minute, tokens));
  consider(paused_until_, true, "server", "the server asked to be left alone");
  return worst;
}

void RateLimiter::Refuse(const Waiter& waiter, TimePoint now, Duration longest, Admission& refusal) const {
  if (waiter.cancelled) {
    refusal.error = ErrorClass::kCancelled;
    refusal.message = "cancelled while waiting for its turn";
    return;
  }
  int64_t requests = 0, tokens = 0;
  for (const Waiter* ahead : row_) {
    if (ahead == &waiter) break;
    ++requests;
    tokens += ahead->tokens;
  }
  Obstacle obstacle = ObstacleOf(now, waiter.tokens, requests, tokens);
  if (obstacle.what.empty()) obstacle.what = "its turn";
  std::string when = obstacle.known ? fmt::format("it could have gone in {:.1f} s", ToSeconds(obstacle.until - now))
                                    : "it could have gone once a call in flight ends";
  std::string ahead = requests > 0 ? fmt::format(", callers before it: {}", requests) : "";
  refusal.error = obstacle.servers ? ErrorClass::kRateLimited : ErrorClass::kOwnRateLimit;
  refusal.message =
      fmt::format("{}{} ({}{}) and may wait {:.1f} s in all", obstacle.servers ? "" : "the gateway's own limit, ",
                  obstacle.what, when, ahead, ToSeconds(longest));
}

RateLimiter::Admission RateLimiter::Acquire(int64_t tokens, Duration longest, Cancellation& cancellation) {
  Waiter waiter;
  waiter.tokens = std::max<int64_t>(tokens, 0);
  longest = std::clamp(longest, Duration{}, kLongestWait);
  // Before the lock and gone after it: cancelling locks the cancellation first and this limiter second.
  auto subscription = cancellation.Subscribe([&] {
    std::lock_guard lock(mutex_);
    waiter.cancelled = true;
    waiter.ready.Notify();
  });
  std::unique_lock lock(mutex_);
  const TimePoint begin = clock_.Now();
  const TimePoint deadline = begin + longest;
  Row::iterator place = row_.insert(row_.end(), &waiter);
  TimePoint now = begin;
  std::string limit;
  while (true) {
    if (!waiter.granted && !waiter.cancelled) LetGo(now, &waiter);
    if (waiter.granted || waiter.cancelled || now >= deadline || paused_until_ > deadline) break;
    Duration sleep = std::min(deadline - now, kLongestSleep);
    if (limit.empty() && row_.front() != &waiter) limit = "queue";
    if (row_.front() == &waiter) {
      Obstacle obstacle = ObstacleOf(now, waiter.tokens, 0, 0);
      if (limit.empty()) limit = obstacle.limit;
      if (obstacle.known)
        sleep = std::min(sleep, std::max<Duration>(obstacle.until - now, std::chrono::milliseconds(1)));
    }
    lock.unlock();
    waiter.ready.WaitUntil(RealClock().Now() + sleep);
    lock.lock();
    now = clock_.Now();
  }
  Admission admission;
  if (waiter.granted) {
    admission.ticket.emplace(Ticket(this, waiter.tokens, waiter.since));
  } else {
    Refuse(waiter, now, longest, admission);
    row_.erase(place);
    LetGo(now);
  }
  admission.waited = now - begin;
  admission.limit = std::move(limit);
  return admission;
}

void RateLimiter::Report(Ticket ticket, int64_t tokens, int requests) {
  if (ticket.owner_ != this) return;
  ticket.owner_ = nullptr;
  std::lock_guard lock(mutex_);
  TimePoint now = clock_.Now();
  --in_flight_;
  if (limits_.requests_per_minute > 0) requests_.Correct(ticket.since_, 1, std::max(requests, 0), now);
  if (limits_.tokens_per_minute > 0) {
    tokens_.Correct(ticket.since_, static_cast<double>(ticket.tokens_),
                    static_cast<double>(std::max<int64_t>(tokens, 0)), now);
  }
  LetGo(now);
}

void RateLimiter::WakeAll() {
  LetGo(clock_.Now());
  for (Waiter* waiter : row_) waiter->ready.Notify();
}

void RateLimiter::SetShare(const RateLimits& share) {
  std::lock_guard lock(mutex_);
  limits_.requests_per_minute = Share(configured_.requests_per_minute, share.requests_per_minute);
  limits_.tokens_per_minute = Share(configured_.tokens_per_minute, share.tokens_per_minute);
  limits_.concurrency = Share(configured_.concurrency, share.concurrency);
  WakeAll();
}

void RateLimiter::Pause(Duration duration) {
  if (duration <= Duration{}) return;
  std::lock_guard lock(mutex_);
  paused_until_ = std::max(paused_until_, clock_.Now() + std::min(duration, kLongestPause));
  WakeAll();
}

ModelDemand RateLimiter::Demand() const {
  std::lock_guard lock(mutex_);
  return {configured_, limits_, in_flight_, static_cast<int>(row_.size())};
}

std::string RateLimiter::Describe() const {
  std::lock_guard lock(mutex_);
  if (row_.empty()) return "";
  TimePoint now = clock_.Now();
  Obstacle obstacle = ObstacleOf(now, row_.front()->tokens, 0, 0);
  if (!obstacle.known) return obstacle.what;
  return fmt::format("{}, for {:.1f} s more", obstacle.what, ToSeconds(obstacle.until - now));
}

}  // namespace warpsmith::gateway
