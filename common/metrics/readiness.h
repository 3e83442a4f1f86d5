// Whether a process can do its work now: named checks, each of which answers at once.
// Threading: safe from any thread; checks must be too, and must not wait.
#ifndef WARPSMITH_COMMON_METRICS_READINESS_H_
#define WARPSMITH_COMMON_METRICS_READINESS_H_

#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "common/status.h"

namespace warpsmith::metrics {

class Readiness {
 public:
  using Check = std::function<absl::Status()>;

  // Replaces an earlier check of the same name.
  void Set(const std::string& name, Check check);

  struct Report {
    bool ready = true;
    std::string text;  // a line a check: "database: ok" or "database: not ready: the reason"
  };
  Report Look() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<std::string, Check>> checks_;  // guarded by mutex_, in the order in which they were set
};

}  // namespace warpsmith::metrics

#endif  // WARPSMITH_COMMON_METRICS_READINESS_H_
