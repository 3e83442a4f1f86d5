// A candidate's time by two clocks: samples by the executor, and the parent's clock over a batch minus the same call
// with no launch in it. A candidate that tampers with the first is contradicted by the second.
// Threading: one thread. Units: milliseconds and seconds where named so. Spread: interquartile range over median.
#ifndef WARPSMITH_GPU_WORKER_EVALUATE_MEASUREMENT_H_
#define WARPSMITH_GPU_WORKER_EVALUATE_MEASUREMENT_H_

#include <string>

#include "gpu_worker/evaluate/validation.h"
#include "gpu_worker/executor/executor.h"
#include "warpsmith/v1/evaluation.pb.h"

namespace warpsmith::evaluate {

struct MeasurementOptions {
  int warmups = 1;
  int screen_samples = 3;
  double screen_factor = 3;  // slower than the incumbent by this factor: not measured further
  int min_samples = 10;
  int max_samples = 200;
  double target_spread = 0.005;
  double max_seconds = 1.0;  // of one measurement
  // The clocks may differ by this share before a time is suspicious. 2 % on a GPU; the emulated device shares its
  // cores with whatever else runs, so only gross lies show there.
  double clock_tolerance = 0.02;
  int clock_tries = 3;  // a disagreement counts when it comes this often in a row
};

class Measurement {
 public:
  Measurement(MeasurementOptions options, executor::Executor& executor, Validation& validation, int slots);

  // A few samples; fills `timing`. False: `evaluation` has the outcome.
  bool Screen(v1::Timing& timing, v1::Evaluation& evaluation);
  bool MuchSlowerThan(double incumbent_ms, const v1::Timing& timing) const;
  // Until the spread is small or a cap; then the second clock.
  bool Measure(v1::Timing& timing, v1::Evaluation& evaluation);

 private:
  bool Sample(int warmups, int samples, v1::Timing& timing, v1::Evaluation& evaluation);
  bool CompareClocks(v1::Timing& timing, v1::Evaluation& evaluation);

  const MeasurementOptions options_;
  executor::Executor& executor_;
  Validation& validation_;
  const int slots_;
};

}  // namespace warpsmith::evaluate

#endif  // WARPSMITH_GPU_WORKER_EVALUATE_MEASUREMENT_H_
