#include "common/metrics/health_reporter.h"

#include <grpcpp/health_check_service_interface.h>

#include "common/clock.h"

namespace warpsmith::metrics {
namespace {

void Say(grpc::Server& server, bool serving) {
  if (auto* health = server.GetHealthCheckService()) health->SetServingStatus(serving);
}

}  // namespace

HealthReporter::HealthReporter(grpc::Server& server, const Readiness& readiness, double seconds)
    : server_(server), readiness_(readiness), thread_([this, seconds] { Loop(seconds); }) {}

void HealthReporter::Loop(double seconds) {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    const bool ready = readiness_.Look().ready;
    lock.lock();
    if (stopping_) return;
    Say(server_, ready);
    wake_.wait_for(lock, FromSeconds(seconds), [this] { return stopping_; });
  }
}

void HealthReporter::Stop() {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ && !thread_.joinable()) return;
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  Say(server_, false);
}

}  // namespace warpsmith::metrics
