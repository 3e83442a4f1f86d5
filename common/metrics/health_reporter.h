// Keeps the answer of a server's gRPC health service true: SERVING exactly while the process is ready.
// Threading: a thread of its own; Stop before the server goes, from one thread. Units: seconds.
#ifndef WARPSMITH_COMMON_METRICS_HEALTH_REPORTER_H_
#define WARPSMITH_COMMON_METRICS_HEALTH_REPORTER_H_

#include <grpcpp/server.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "common/metrics/readiness.h"

namespace warpsmith::metrics {

class HealthReporter {
 public:
  // Both outlive this, or Stop. `seconds` between two looks.
  HealthReporter(grpc::Server& server, const Readiness& readiness, double seconds = 0.5);
  ~HealthReporter() { Stop(); }
  HealthReporter(const HealthReporter&) = delete;
  HealthReporter& operator=(const HealthReporter&) = delete;

  // Says NOT_SERVING, and stays with it.
  void Stop();

 private:
  void Loop(double seconds);

  grpc::Server& server_;
  const Readiness& readiness_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace warpsmith::metrics

#endif  // WARPSMITH_COMMON_METRICS_HEALTH_REPORTER_H_
