#include "common/metrics/readiness.h"

#include <algorithm>

namespace warpsmith::metrics {

void Readiness::Set(const std::string& name, Check check) {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(checks_.begin(), checks_.end(), [&](const auto& known) { return known.first == name; });
  if (found == checks_.end()) {
    checks_.emplace_back(name, std::move(check));
  } else {
    found->second = std::move(check);
  }
}

Readiness::Report Readiness::Look() const {
  // Held while they run: whoever replaces a check may then let go of what it looked at.
  const std::lock_guard lock(mutex_);
  Report report;
  for (const auto& [name, check] : checks_) {
    const absl::Status status = check();
    std::string reason = Message(status);
    std::replace_if(
        reason.begin(), reason.end(), [](unsigned char c) { return c < ' '; }, ' ');
    report.ready = report.ready && status.ok();
    report.text += name + (status.ok() ? ": ok\n" : ": not ready: " + reason + "\n");
  }
  return report;
}

}  // namespace warpsmith::metrics
