#include "llm_gateway/limits/circuit_breaker.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace warpsmith::gateway {
namespace {

enum class Sign { kWell, kIll, kNone };

Sign SignOf(ErrorClass outcome) {
  switch (outcome) {
    case ErrorClass::kConnect:
    case ErrorClass::kTls:
    case ErrorClass::kFirstByteTimeout:
    case ErrorClass::kIdleTimeout:
    case ErrorClass::kTotalTimeout:
    case ErrorClass::kCut:
    case ErrorClass::kQuota:
    case ErrorClass::kServer:
    case ErrorClass::kOverloaded:
    case ErrorClass::kAuthentication:
    case ErrorClass::kNotFound:
    case ErrorClass::kMalformedReply:
    case ErrorClass::kRedirect:
      return Sign::kIll;
    case ErrorClass::kNone:
    case ErrorClass::kRateLimited:  // busy, but there; the limiter waits for it
    case ErrorClass::kContextLength:
    case ErrorClass::kInvalidRequest:
    case ErrorClass::kTooLarge:
      return Sign::kWell;
    case ErrorClass::kCancelled:
    case ErrorClass::kConfiguration:
    case ErrorClass::kBudget:
    case ErrorClass::kOwnRateLimit:
    case ErrorClass::kCircuitOpen:
    case ErrorClass::kNotRecorded:
      return Sign::kNone;
  }
  return Sign::kNone;
}

}  // namespace

std::string_view Name(CircuitState state) {
  switch (state) {
    case CircuitState::kClosed:
      return "closed";
    case CircuitState::kOpen:
      return "open";
    case CircuitState::kHalfOpen:
      return "half_open";
  }
  return "closed";
}

CircuitBreaker::Permit::Permit(Permit&& other) noexcept
    : owner_(std::exchange(other.owner_, nullptr)), generation_(other.generation_), probe_(other.probe_) {}

CircuitBreaker::Permit::~Permit() {
  if (owner_ != nullptr) owner_->Report(std::move(*this), ErrorClass::kCancelled);
}

bool CircuitBreaker::Due() const { return clock_.Now() >= open_until_; }

CircuitState CircuitBreaker::state() const {
  std::lock_guard lock(mutex_);
  if (!open_) return CircuitState::kClosed;
  return Due() ? CircuitState::kHalfOpen : CircuitState::kOpen;
}

std::string CircuitBreaker::WhyNot() const {
  std::lock_guard lock(mutex_);
  if (!open_ || (Due() && !probing_)) return "";
  std::string why =
      fmt::format("it failed {} times in a row, the last time with an error of kind {}", failures_, Name(last_));
  if (Due()) return why + "; one call is finding out whether it is well again";
  return why + fmt::format("; it is asked again in {:.0f} s", std::max(1.0, ToSeconds(open_until_ - clock_.Now())));
}

std::optional<CircuitBreaker::Permit> CircuitBreaker::Ask() {
  std::lock_guard lock(mutex_);
  if (!open_) return Permit(this, generation_, false);
  if (!Due() || probing_) return std::nullopt;
  probing_ = true;
  return Permit(this, generation_, true);
}

void CircuitBreaker::Open(Duration how_long) {
  open_ = true;
  open_for_ = std::min(how_long, policy_.longest_open);
  open_until_ = clock_.Now() + open_for_;
  ++generation_;
}

void CircuitBreaker::Report(Permit permit, ErrorClass outcome) {
  if (permit.owner_ != this) return;
  permit.owner_ = nullptr;
  std::lock_guard lock(mutex_);
  if (permit.probe_) probing_ = false;
  if (permit.generation_ != generation_) return;
  Sign sign = SignOf(outcome);
  if (sign == Sign::kNone) return;
  if (sign == Sign::kWell) {
    failures_ = 0;
    if (open_) {
      open_ = false;
      ++generation_;
    }
    return;
  }
  ++failures_;
  last_ = outcome;
  if (permit.probe_) {
    Open(open_for_ * 2);
  } else if (failures_ >= policy_.failures) {
    Open(policy_.first_open);
  }
}

}  // namespace warpsmith::gateway
