// A candidate's time by two clocks: samples by the executor, and the parent's clock over a batch minus the same call
// with no launch in it. A candidate that tampers with the first is contradicted by the second.
// Threading: one thread. Units: milliseconds and seconds where named so. Spread: interquartile range over median.
// Errors: a Status is the machine's fault; the candidate's is in the Evaluation, and the result false.
#ifndef WARPSMITH_GPU_WORKER_EVALUATE_MEASUREMENT_H_
#define WARPSMITH_GPU_WORKER_EVALUATE_MEASUREMENT_H_

#include <random>
#include <string>
#include <vector>

#include "gpu_worker/evaluate/throttle_gate.h"
#include "gpu_worker/evaluate/validation.h"
#include "gpu_worker/executor/executor.h"
#include "warpsmith/v1/evaluation.pb.h"

namespace warpsmith::evaluate {

struct MeasurementOptions {
  int warmups = 1;
  int screen_samples = 3;
  double screen_seconds = 0;  // fewer samples, at least three, where they would take longer; 0: no such limit
  double screen_factor = 3;   // slower than the incumbent by this factor: not measured further
  int min_samples = 10;
  int max_samples = 200;
  double target_spread = 0.005;
  // Where the clock's ticks are coarse beside the time (measure/location.h) the spread says nothing: then until the
  // figure's standard error is this share of it, or so many samples are taken. 0: as with a fine clock.
  double target_error = 0.0015;
  int max_coarse_samples = 0;
  bool stop_at_stable_noise = false;
  double max_seconds = 1.0;  // of one measurement
  // The clocks may differ by this share before a time is suspicious. 2 % on a GPU; the emulated device shares its
  // cores with whatever else runs, so only gross lies show there.
  double clock_tolerance = 0.02;
  // A disagreement counts when it comes this often in a row. Each try's batch is twice as long as the one before, so
  // that what delays the parent for milliseconds weighs less and less, and a lie as much as ever.
  int clock_tries = 3;
  double batch_seconds = 0.1;  // of launches for the parent's clock, in the first try
  int max_batch_launches = 2000;
  // Launches one after the other are this much further apart than a launch alone is long.
  double launch_gap_seconds = 0;
  // Inputs seen for the first time and seen before may differ by this share; 0: not compared.
  double first_use_tolerance = 0;
  // A launch apart from others is up to this much quicker than one after others: no difference below it counts, nor
  // does a launch that seems to have been skipped.
  double launch_floor_ms = 0;
  bool look_for_skipped_launches = false;
  // Rounds of random length, after some of which a slot's output is judged.
  bool judge_random_rounds = false;
  uint64_t random_seed = 1;

  static MeasurementOptions ForGpu();
};

class Measurement {
 public:
  // `gate` outlives it.
  Measurement(MeasurementOptions options, executor::Executor& executor, Validation& validation, ThrottleGate& gate,
              Clock& clock);

  // Launches on inputs that have been launched on before, so that clocks rise before the first sample that counts.
  // Nothing to do where first uses are not compared.
  absl::StatusOr<bool> WarmUp(v1::Evaluation& evaluation);
  // A few samples; fills `timing`.
  absl::StatusOr<bool> Screen(v1::Timing& timing, v1::Evaluation& evaluation);
  bool MuchSlowerThan(double incumbent_ms, const v1::Timing& timing) const;
  // Until the spread is small or a cap; then first uses and the second clock.
  absl::StatusOr<bool> Measure(v1::Timing& timing, v1::Evaluation& evaluation);

 private:
  // Of the timing slots in turn where `slots` is empty.
  absl::StatusOr<bool> Take(const std::vector<int>& slots, int warmups, int samples, std::vector<double>& samples_ms,
                            v1::Timing& timing, v1::Evaluation& evaluation);
  absl::StatusOr<bool> Sample(int warmups, int samples, v1::Timing& timing, v1::Evaluation& evaluation);
  absl::StatusOr<bool> TakeFirstUses(v1::Timing& timing, v1::Evaluation& evaluation);
  // A launch that does nothing is quick; the median would not show it, and of the outputs only some are judged.
  absl::StatusOr<bool> CompareSamples(v1::Timing& timing, v1::Evaluation& evaluation);
  absl::StatusOr<bool> CompareFirstUses(v1::Timing& timing, v1::Evaluation& evaluation);
  absl::StatusOr<bool> CompareClocks(v1::Timing& timing, v1::Evaluation& evaluation);
  // Whether more samples would not make the figure surer.
  bool IsSure(const v1::Timing& timing) const;
  bool ByCoarseClock() const { return options_.max_coarse_samples > 0 && coarse_; }
  int MostSamples() const;
  int NextRound(const v1::Timing& timing, bool enough);
  int Random(int below) { return static_cast<int>(random_() % static_cast<uint64_t>(below)); }

  const MeasurementOptions options_;
  executor::Executor& executor_;
  Validation& validation_;
  ThrottleGate& gate_;
  Clock& clock_;
  const std::vector<int> slots_;
  std::mt19937_64 random_;
  std::vector<double> samples_ms_;  // of the timing at hand, all of them
  double relative_error_ = 0;       // of the figure that stands for them
  bool coarse_ = false;
  std::vector<double> first_uses_ms_;
  double sample_mhz_ = 0;  // the device's clock while samples were taken
};

}  // namespace warpsmith::evaluate

#endif  // WARPSMITH_GPU_WORKER_EVALUATE_MEASUREMENT_H_
