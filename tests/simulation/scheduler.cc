#include "tests/simulation/scheduler.h"

#include <algorithm>

namespace warpsmith::simulation {
namespace {

constexpr int64_t kMostEvents = 200'000;

}  // namespace

void Scheduler::In(Micros delay, std::function<void()> event) {
  events_.emplace(std::tuple(now_ + std::max<Micros>(0, delay), random_.Next(), ++sequence_), std::move(event));
}

void Scheduler::RunUntil(Micros until) {
  while (!events_.empty() && std::get<0>(events_.begin()->first) <= until) {
    if (++executed_ > kMostEvents) throw Runaway();
    auto event = events_.extract(events_.begin());
    now_ = std::max(now_, std::get<0>(event.key()));
    event.mapped()();
  }
  now_ = std::max(now_, until);
}

Actor::Actor(Scheduler& scheduler, std::function<void()> turn)
    : scheduler_(scheduler), state_(std::make_shared<State>(State{std::move(turn), -1})) {}

void Actor::WakeIn(Micros delay) {
  const Micros due = scheduler_.now() + std::max<Micros>(0, delay);
  if (state_->due >= 0 && state_->due <= due) return;
  state_->due = due;
  scheduler_.In(delay, [weak = std::weak_ptr<State>(state_), due] {
    const std::shared_ptr<State> state = weak.lock();
    if (state == nullptr || state->due != due) return;
    state->due = -1;
    state->turn();
  });
}

}  // namespace warpsmith::simulation
