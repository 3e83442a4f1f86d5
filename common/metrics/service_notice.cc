#include "common/metrics/service_notice.h"

#include <algorithm>

#include "common/clock.h"
#include "common/service_manager.h"

namespace warpsmith::metrics {
namespace {

// The first check that fails, as /readyz has it.
std::string WaitsFor(const std::string& report) {
  for (size_t begin = 0; begin < report.size();) {
    const size_t end = std::min(report.find('\n', begin), report.size());
    std::string line = report.substr(begin, end - begin);
    if (line.find(": not ready: ") != std::string::npos) return line;
    begin = end + 1;
  }
  return "not ready";
}

}  // namespace

ServiceNotice::ServiceNotice(const Readiness& readiness, double seconds) : readiness_(readiness) {
  if (HasServiceManager()) thread_ = std::thread([this, seconds] { Loop(seconds); });
}

void ServiceNotice::Loop(double seconds) {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const bool stands_by = stands_by_;
    lock.unlock();
    Look(stands_by);
    lock.lock();
    wake_.wait_for(lock, FromSeconds(seconds), [&] { return stopping_ || stands_by_ != stands_by; });
  }
}

void ServiceNotice::Look(bool stands_by) {
  const Readiness::Report report = readiness_.Look();
  std::string lines = "STATUS=";
  lines += report.ready ? "ready" : stands_by ? "stands by: another one leads" : WaitsFor(report.text);
  if (report.ready || stands_by) lines = "READY=1\n" + lines;
  if (lines == told_) return;
  if (TellServiceManager(lines)) told_ = std::move(lines);  // else at the next look
}

void ServiceNotice::StandBy(bool stands_by) {
  const std::lock_guard lock(mutex_);
  stands_by_ = stands_by;
  wake_.notify_all();
}

void ServiceNotice::Stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
  TellServiceManager("STOPPING=1\nSTATUS=stopping");
}

}  // namespace warpsmith::metrics
