// CUPTI's host side: which metrics a chip has, how many passes a set of them takes, what the counters' values mean.
// Works without a GPU for a chip that CUPTI knows by name.
// Threading: one thread. Errors: as CuptiStatus; for a chip that CUPTI does not know they name it.
#ifndef WARPSMITH_GPU_WORKER_PROFILE_COUNTER_CONFIG_H_
#define WARPSMITH_GPU_WORKER_PROFILE_COUNTER_CONFIG_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gpu_worker/profile/cupti_api.h"

namespace warpsmith::profile {

class CounterConfig {
 public:
  // `availability`: the device's counter availability image; empty: the chip's whole set. Takes as many of `wanted`,
  // from the first on, as `max_passes` passes allow; 0: all. `api` outlives it.
  static absl::StatusOr<std::unique_ptr<CounterConfig>> Create(const CuptiApi& api, const std::string& chip,
                                                               const std::vector<uint8_t>& availability,
                                                               int max_passes);
  ~CounterConfig();
  CounterConfig(const CounterConfig&) = delete;
  CounterConfig& operator=(const CounterConfig&) = delete;

  const std::vector<std::string>& metrics() const { return metrics_; }
  std::vector<const char*> MetricNames() const;
  const std::vector<uint8_t>& image() const { return image_; }
  int passes() const { return passes_; }
  // In the order of metrics(), of one range of a decoded image of counter data.
  absl::StatusOr<std::vector<double>> Evaluate(const std::vector<uint8_t>& counter_data, size_t range) const;

 private:
  CounterConfig(const CuptiApi& api, CUpti_Profiler_Host_Object* host) : api_(api), host_(host) {}
  absl::StatusOr<std::set<std::string>> BaseMetrics() const;
  absl::Status Build(const std::vector<std::string>& metrics);

  const CuptiApi& api_;
  CUpti_Profiler_Host_Object* host_;
  std::vector<std::string> metrics_;
  std::vector<uint8_t> image_;
  int passes_ = 0;
};

}  // namespace warpsmith::profile

#endif  // WARPSMITH_GPU_WORKER_PROFILE_COUNTER_CONFIG_H_
