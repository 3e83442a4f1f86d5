// Baselines of earlier days, one JSON file a key, so that a module is not timed six ways each time it is met.
// Threading: safe from any thread and from several processes: files are replaced whole.
// Errors: a file that cannot be read is as good as none; one that cannot be written costs time, and a log line.
#ifndef WARPSMITH_GPU_WORKER_EVALUATE_BASELINE_CACHE_H_
#define WARPSMITH_GPU_WORKER_EVALUATE_BASELINE_CACHE_H_

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "warpsmith/v1/problem.pb.h"

namespace warpsmith::evaluate {

// Everything that a baseline's time depends on.
struct BaselineKey {
  std::string problem_id;
  std::string gpu_model;
  std::string driver;
  int power_limit_watts = 0;
  std::string pytorch_version;
  std::string harness_rev;

  std::string ToString() const;
};

class BaselineCache {
 public:
  // An empty folder keeps nothing.
  explicit BaselineCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::optional<std::vector<v1::Baseline>> Load(const BaselineKey& key) const;
  void Store(const BaselineKey& key, const std::vector<v1::Baseline>& baselines) const;

 private:
  std::filesystem::path PathOf(const BaselineKey& key) const;
  const std::filesystem::path folder_;
};

}  // namespace warpsmith::evaluate

#endif  // WARPSMITH_GPU_WORKER_EVALUATE_BASELINE_CACHE_H_
