// CUPTI's range profiler on one context: ranges of launches that the caller marks, run again for each pass.
// Threading: the thread whose current context is profiled. Errors: as CuptiStatus; whatever a pass's body returns.
#ifndef WARPSMITH_GPU_WORKER_PROFILE_RANGE_PROFILER_H_
#define WARPSMITH_GPU_WORKER_PROFILE_RANGE_PROFILER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gpu_worker/profile/counter_config.h"
#include "gpu_worker/profile/metric_set.h"

namespace warpsmith::profile {

struct RangeValues {
  std::string name;
  Metrics metrics;  // without values that are not numbers, as of a ratio with nothing under it
};

class RangeProfiler {
 public:
  // `context` is current, of device 0. Asks the device for its chip and counters, and takes them into use until the
  // profiler goes.
  static absl::StatusOr<std::unique_ptr<RangeProfiler>> Create(const CuptiApi& api, CUcontext context, int max_passes);
  ~RangeProfiler();
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;

  // `body` is run once a pass and opens each of its ranges, at most `max_ranges`, once, in the same order every time.
  // The device is idle where a range opens or closes.
  absl::StatusOr<std::vector<RangeValues>> Collect(size_t max_ranges, const std::function<absl::Status()>& body);
  absl::Status Push(const std::string& name);
  absl::Status Pop();

  const std::string& chip() const { return chip_; }
  int passes() const { return config_->passes(); }

 private:
  explicit RangeProfiler(const CuptiApi& api) : api_(api) {}
  absl::Status Configure(size_t max_ranges);
  absl::StatusOr<std::vector<RangeValues>> Decode();

  const CuptiApi& api_;
  std::string chip_;
  std::unique_ptr<CounterConfig> config_;
  CUpti_RangeProfiler_Object* profiler_ = nullptr;
  std::vector<uint8_t> counter_data_;
};

}  // namespace warpsmith::profile

#endif  // WARPSMITH_GPU_WORKER_PROFILE_RANGE_PROFILER_H_
