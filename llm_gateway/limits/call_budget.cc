#include "llm_gateway/limits/call_budget.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace warpsmith::gateway {
namespace {

// Sums of two stay within 64 bits; a billion dollars and a quadrillion tokens are no limits that anybody means.
constexpr int64_t kMost = int64_t{1} << 60;

bool IsAmount(double usd) { return usd >= 0 && std::isfinite(usd); }

int64_t Bounded(double nano) { return nano >= static_cast<double>(kMost) ? kMost : static_cast<int64_t>(nano); }

// A reservation is rounded up and a limit down, so that rounding never lets the limit be passed. Less a little first:
// 0.1 dollars are a hair more than 100,000,000 billionths in floating point.
int64_t NanoUp(double usd) { return Bounded(std::ceil(usd * 1e9 - 1e-3)); }
int64_t NanoDown(double usd) { return Bounded(std::floor(usd * 1e9 + 1e-3)); }
int64_t NanoNearest(double usd) { return Bounded(std::round(usd * 1e9)); }

double ToUsd(int64_t nano) { return 1e-9 * static_cast<double>(nano); }

int64_t Sum(int64_t a, int64_t b) { return std::min(a + b, kMost); }

bool Fits(int64_t limit, int64_t used, int64_t amount) { return limit == 0 || amount <= limit - used; }

}  // namespace

CallBudget::Reservation& CallBudget::Reservation::operator=(Reservation&& other) noexcept {
  Reservation taken(std::move(other));
  Swap(taken);
  return *this;
}

CallBudget::Reservation::~Reservation() {
  if (owner_ != nullptr) owner_->SettleNano(*this, nano_usd_, tokens_);
}

void CallBudget::Reservation::Swap(Reservation& other) noexcept {
  std::swap(owner_, other.owner_);
  std::swap(nano_usd_, other.nano_usd_);
  std::swap(tokens_, other.tokens_);
  std::swap(period_, other.period_);
}

CallBudget::CallBudget(double max_usd, int64_t max_tokens)
    // A limit below a billionth of a dollar is still a limit.
    : max_nano_usd_(IsAmount(max_usd) && max_usd > 0 ? std::max<int64_t>(NanoDown(max_usd), 1) : 0),
      max_tokens_(std::clamp<int64_t>(max_tokens, 0, kMost)) {}

void CallBudget::BeginAnewIfDue() {
  int64_t period = Period();
  if (period_.has_value() && period <= *period_) return;
  if (period_.has_value()) {
    spent_nano_usd_ = reserved_nano_usd_ = spent_tokens_ = reserved_tokens_ = 0;
    ++settlements_;
    settled_.NotifyAll();
  }
  period_ = period;
}

std::optional<CallBudget::Reservation> CallBudget::Reserve(double usd, int64_t tokens) {
  if (!IsAmount(usd) || tokens < 0) return std::nullopt;
  int64_t nano = NanoUp(usd);
  tokens = std::min(tokens, kMost);
  std::lock_guard lock(mutex_);
  BeginAnewIfDue();
  if (!Fits(max_nano_usd_, spent_nano_usd_ + reserved_nano_usd_, nano) ||
      !Fits(max_tokens_, spent_tokens_ + reserved_tokens_, tokens)) {
    return std::nullopt;
  }
  reserved_nano_usd_ = Sum(reserved_nano_usd_, nano);
  reserved_tokens_ = Sum(reserved_tokens_, tokens);
  ++calls_in_flight_;
  return Reservation(this, nano, tokens, *period_);
}

void CallBudget::Settle(Reservation reservation, double usd, int64_t tokens) {
  if (reservation.owner_ != this) return;  // the other budget charges it whole
  int64_t nano = IsAmount(usd) ? NanoNearest(usd) : reservation.nano_usd_;
  SettleNano(reservation, nano, tokens >= 0 ? std::min(tokens, kMost) : reservation.tokens_);
  reservation.owner_ = nullptr;
}

void CallBudget::SettleNano(Reservation& reservation, int64_t nano_usd, int64_t tokens) {
  std::lock_guard lock(mutex_);
  --calls_in_flight_;
  ++settlements_;
  if (nano_usd > reservation.nano_usd_ || tokens > reservation.tokens_) ++calls_over_reservation_;
  BeginAnewIfDue();
  if (reservation.period_ == *period_) {
    reserved_nano_usd_ = std::max<int64_t>(reserved_nano_usd_ - reservation.nano_usd_, 0);
    reserved_tokens_ = std::max<int64_t>(reserved_tokens_ - reservation.tokens_, 0);
    spent_nano_usd_ = Sum(spent_nano_usd_, nano_usd);
    spent_tokens_ = Sum(spent_tokens_, tokens);
  }
  settled_.NotifyAll();
}

void CallBudget::AddSpent(double usd, int64_t tokens) {
  std::lock_guard lock(mutex_);
  BeginAnewIfDue();
  if (IsAmount(usd)) spent_nano_usd_ = Sum(spent_nano_usd_, NanoNearest(usd));
  spent_tokens_ = Sum(spent_tokens_, std::clamp<int64_t>(tokens, 0, kMost));
}

bool CallBudget::MayFitLater(double usd, int64_t tokens) {
  if (!IsAmount(usd) || tokens < 0) return false;
  std::lock_guard lock(mutex_);
  BeginAnewIfDue();
  if (reserved_nano_usd_ == 0 && reserved_tokens_ == 0) return false;
  return Fits(max_nano_usd_, spent_nano_usd_, NanoUp(usd)) && Fits(max_tokens_, spent_tokens_, std::min(tokens, kMost));
}

void CallBudget::AwaitSettlement(uint64_t settlements, Duration longest) {
  std::unique_lock lock(mutex_);
  const TimePoint deadline = RealClock().Now() + longest;
  while (settlements_ == settlements && settled_.WaitUntil(lock, deadline)) {
  }
}

CallBudget::State CallBudget::state() {
  std::lock_guard lock(mutex_);
  BeginAnewIfDue();
  State state;
  state.max_usd = ToUsd(max_nano_usd_);
  state.spent_usd = ToUsd(spent_nano_usd_);
  state.reserved_usd = ToUsd(reserved_nano_usd_);
  if (limits_usd()) state.over_usd = ToUsd(std::max<int64_t>(spent_nano_usd_ - max_nano_usd_, 0));
  state.max_tokens = max_tokens_;
  state.spent_tokens = spent_tokens_;
  state.reserved_tokens = reserved_tokens_;
  if (limits_tokens()) state.over_tokens = std::max<int64_t>(spent_tokens_ - max_tokens_, 0);
  state.calls_in_flight = calls_in_flight_;
  state.calls_over_reservation = calls_over_reservation_;
  state.settlements = settlements_;
  return state;
}

double CallBudget::usd_left() {
  if (!limits_usd()) return std::numeric_limits<double>::infinity();
  std::lock_guard lock(mutex_);
  BeginAnewIfDue();
  return ToUsd(std::max<int64_t>(max_nano_usd_ - spent_nano_usd_ - reserved_nano_usd_, 0));
}

int64_t CallBudget::tokens_left() {
  if (!limits_tokens()) return std::numeric_limits<int64_t>::max();
  std::lock_guard lock(mutex_);
  BeginAnewIfDue();
  return std::max<int64_t>(max_tokens_ - spent_tokens_ - reserved_tokens_, 0);
}

int64_t DayBudget::Period() const {
  constexpr int64_t kDayMicros = int64_t{24} * 3600 * 1'000'000;
  return clock_.WallMicros() / kDayMicros;
}

}  // namespace warpsmith::gateway
