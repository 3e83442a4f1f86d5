// Keeps the service manager's picture of this process true: started as soon as it is ready by the same checks as
// /readyz, and at any time in one line what it waits for.
// Threading: a thread of its own where there is a manager, else none; used from one thread. Units: seconds.
#ifndef WARPSMITH_COMMON_METRICS_SERVICE_NOTICE_H_
#define WARPSMITH_COMMON_METRICS_SERVICE_NOTICE_H_

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "common/metrics/readiness.h"

namespace warpsmith::metrics {

class ServiceNotice {
 public:
  // `readiness`, with its checks set, outlives this. `seconds` between two looks.
  explicit ServiceNotice(const Readiness& readiness, double seconds = 0.2);
  ~ServiceNotice() { Stop(); }
  ServiceNotice(const ServiceNotice&) = delete;
  ServiceNotice& operator=(const ServiceNotice&) = delete;

  // Starting is over though it is not ready: it stands by for the end of another one that leads, which may take months.
  void StandBy(bool stands_by);
  // The end has begun. What comes after it is not told any more.
  void Stop();

 private:
  void Loop(double seconds);
  void Look(bool stands_by);

  const Readiness& readiness_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;   // guarded by mutex_
  bool stands_by_ = false;  // guarded by mutex_
  std::string told_;        // the thread's
  std::thread thread_;
};

}  // namespace warpsmith::metrics

#endif  // WARPSMITH_COMMON_METRICS_SERVICE_NOTICE_H_
