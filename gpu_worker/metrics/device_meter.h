// How long something had the device, in all and of late. Threading: safe from any thread. Units: seconds.
#ifndef WARPSMITH_GPU_WORKER_METRICS_DEVICE_METER_H_
#define WARPSMITH_GPU_WORKER_METRICS_DEVICE_METER_H_

#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "common/clock.h"

namespace warpsmith::metrics {

class DeviceMeter {
 public:
  explicit DeviceMeter(const Clock& clock) : clock_(clock), made_(clock.Now()) {}

  void Begin();
  void End();

  // What runs now is counted up to now.
  double Seconds() const;
  // Of the last minute, or of the time since this was made where that is less. Unset in the first moments.
  std::optional<double> Ratio() const;

 private:
  const Clock& clock_;
  const TimePoint made_;
  mutable std::mutex mutex_;
  Duration total_{};                // guarded by mutex_, as all below; without what runs now
  std::optional<TimePoint> since_;  // something runs since
  mutable std::deque<std::pair<TimePoint, TimePoint>> recent_;  // ended, the oldest first
};

}  // namespace warpsmith::metrics

#endif  // WARPSMITH_GPU_WORKER_METRICS_DEVICE_METER_H_
