// Which secret seed inputs are drawn from: one for a slice of candidates of the same problem, so that inputs and
// answers stay on the device between them, then a new one. A candidate is fixed before it meets its inputs, and cannot
// tell the next about them. Threading: one thread at a time.
#ifndef WARPSMITH_GPU_WORKER_EVALUATE_SLICES_H_
#define WARPSMITH_GPU_WORKER_EVALUATE_SLICES_H_

#include <cstdint>
#include <functional>
#include <string>

#include "common/clock.h"

namespace warpsmith::evaluate {

// Random numbers that nobody can guess; a test's are its own.
using Entropy = std::function<uint64_t()>;
Entropy SystemEntropy();

class Slices {
 public:
  struct Slice {
    int64_t seed = 0;
    bool fresh = false;  // its first candidate
  };

  // `candidates` 0: a slice for each candidate.
  Slices(int candidates, Duration age, Clock& clock, Entropy entropy)
      : candidates_(candidates), age_(age), clock_(clock), entropy_(std::move(entropy)) {}

  Slice Next(const std::string& problem_id);
  // Whatever was kept is gone.
  void End() { left_ = 0; }

 private:
  const int candidates_;
  const Duration age_;
  Clock& clock_;
  const Entropy entropy_;
  std::string problem_id_;
  int64_t seed_ = 0;
  int left_ = 0;
  TimePoint begun_{};
};

}  // namespace warpsmith::evaluate

#endif  // WARPSMITH_GPU_WORKER_EVALUATE_SLICES_H_
