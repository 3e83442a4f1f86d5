#include "coordinator/operations/janitor.h"

#include <spdlog/spdlog.h>

#include <algorithm>

namespace warpsmith::operations {
namespace {

constexpr double kBetweenSteps = 0.1;  // so that retention takes a small part of the database's time
constexpr double kBlobRoundSeconds = 3600;

}  // namespace

Janitor::Janitor(store::Database& database, const OperationsSettings& settings, Clock& clock,
                 std::function<void(bool held)> on_hold)
    : settings_(settings),
      clock_(clock),
      retention_(database, settings.retention),
      disk_(database, settings.disk, settings.free_space, clock, std::move(on_hold)) {}

Janitor::~Janitor() { Stop(); }

void Janitor::Start() {
  thread_ = std::thread([this] { Loop(); });
}

void Janitor::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::string Janitor::last_error() const {
  std::lock_guard lock(mutex_);
  return last_error_;
}

bool Janitor::Wait(double seconds) {
  std::unique_lock lock(mutex_);
  return !wake_.wait_for(lock, FromSeconds(seconds), [this] { return stopping_; });
}

void Janitor::Loop() {
  TimePoint next_check = clock_.Now();
  TimePoint next_step = clock_.Now();
  TimePoint next_blobs = clock_.Now() + FromSeconds(kBlobRoundSeconds);
  do {
    if (clock_.Now() >= next_check) {
      absl::Status status = disk_.Check();
      if (!status.ok()) spdlog::debug("the database's room is not known: {}", Message(status));
      next_check = clock_.Now() + FromSeconds(settings_.check_seconds);
    }
    if (clock_.Now() >= next_step) {
      if (clock_.Now() >= next_blobs) {
        retention_.LookAtBlobsAgain();
        next_blobs = clock_.Now() + FromSeconds(kBlobRoundSeconds);
      }
      auto more = retention_.Step();
      const bool again = more.ok() && *more;
      next_step = clock_.Now() + FromSeconds(again ? kBetweenSteps : settings_.retention_seconds);
      std::lock_guard lock(mutex_);
      const std::string error = more.ok() ? "" : Message(more.status());
      if (!error.empty() && error != last_error_) spdlog::warn("{}", error);
      last_error_ = error;
    }
  } while (Wait(std::clamp(ToSeconds(std::min(next_check, next_step) - clock_.Now()), 0.01, 3600.0)));
}

}  // namespace warpsmith::operations
