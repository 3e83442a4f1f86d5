#include "llm_gateway/limits/rate_window.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace warpsmith::gateway {
namespace {

constexpr Duration kSlot = std::chrono::milliseconds(250);
constexpr double kMinuteSeconds = 60;
constexpr double kMostMinutes = 60;  // that one amount above the limit keeps others waiting
constexpr double kSlack = 1e-9;      // sums of fractions

}  // namespace

int64_t RateWindow::IndexOf(TimePoint time) { return time.time_since_epoch() / kSlot; }

TimePoint RateWindow::Expiry(const Slot& slot, double limit) {
  double minutes = limit > 0 ? std::clamp(slot.amount / limit, 1.0, kMostMinutes) : 1.0;
  return TimePoint(kSlot * (slot.index + 1)) + FromSeconds(kMinuteSeconds * minutes);
}

bool RateWindow::Fits(TimePoint now, double amount, double limit) {
  if (limit <= 0) return true;
  double sum = 0;
  size_t kept = 0;
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (Expiry(slots_[i], limit) <= now || slots_[i].amount <= 0) continue;
    sum += slots_[i].amount;
    slots_[kept++] = slots_[i];
  }
  slots_.resize(kept);
  return sum <= kSlack || sum + amount <= limit + kSlack;
}

TimePoint RateWindow::WhenFits(TimePoint now, double amount, double limit, double ahead) {
  if (Fits(now, ahead + amount, limit)) return now;
  std::vector<std::pair<TimePoint, double>> leaving;
  double sum = 0;
  for (const Slot& slot : slots_) {
    leaving.emplace_back(Expiry(slot, limit), slot.amount);
    sum += slot.amount;
  }
  std::sort(leaving.begin(), leaving.end());
  for (const auto& [when, gone] : leaving) {
    sum -= gone;
    if (sum + ahead + amount <= limit + kSlack) return when;
  }
  // It needs a window of its own where it is above the limit; those ahead fill one window after the other.
  double later = ahead > 0 ? std::max(0.0, (ahead + amount) / limit - 1) : 0;
  return leaving.back().first + FromSeconds(kMinuteSeconds * std::min(later, kMostMinutes));
}

void RateWindow::Take(TimePoint now, double amount) {
  if (!(amount > 0)) return;
  int64_t index = IndexOf(now);
  if (slots_.empty() || slots_.back().index != index) slots_.push_back({index, 0});
  slots_.back().amount += amount;
}

void RateWindow::Correct(TimePoint then, double taken, double actual, TimePoint now) {
  int64_t index = IndexOf(then);
  auto slot = std::find_if(slots_.begin(), slots_.end(), [&](const Slot& s) { return s.index == index; });
  if (slot != slots_.end()) {
    slot->amount = std::max(0.0, slot->amount + actual - taken);
  } else if (actual > taken) {
    Take(now, actual - taken);
  }
}

}  // namespace warpsmith::gateway
