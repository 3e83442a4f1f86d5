// Whether a measurement is believed: what Measure compares once it has its samples.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gpu_worker/evaluate/flags.h"
#include "gpu_worker/evaluate/measurement.h"
#include "gpu_worker/executor/frame.h"
#include "gpu_worker/measure/statistics.h"

namespace warpsmith::evaluate {
namespace {

constexpr double kLargestClockDrop = 0.25;
constexpr double kLongestBatchSeconds = 0.64;  // unless the first batch is longer

}  // namespace

absl::StatusOr<bool> Measurement::CompareSamples(v1::Timing& timing, v1::Evaluation& evaluation) {
  if (!options_.look_for_skipped_launches || !measure::SomeSkipped(samples_ms_, options_.launch_floor_ms)) return true;
  // Again, with as many samples as show it once more if it was no accident.
  std::vector<double> again;
  WARPSMITH_ASSIGN_OR_RETURN(bool ran, Take({}, 0, 2 * options_.min_samples, again, timing, evaluation));
  if (!ran) return false;
  if (!measure::SomeSkipped(again, options_.launch_floor_ms)) return true;
  evaluation.set_outcome(v1::OUTCOME_SUSPICIOUS);
  evaluation.set_reason("skipped");
  evaluation.set_message(
      fmt::format("some launches took {:.4f} ms, most {:.4f} ms or longer; a kernel must do its work at every launch",
                  *std::min_element(again.begin(), again.end()), measure::Summarize(again).median));
  evaluation.set_failed_stage("timed_launch");
  return false;
}

absl::StatusOr<bool> Measurement::CompareFirstUses(v1::Timing& timing, v1::Evaluation& evaluation) {
  if (options_.first_use_tolerance <= 0) return true;
  for (int attempt = 0;; ++attempt) {
    if (!measure::FirstUseDiffers(first_uses_ms_, samples_ms_, options_.first_use_tolerance,
                                  options_.launch_floor_ms)) {
      return true;
    }
    if (attempt + 1 >= options_.clock_tries) break;
    WARPSMITH_RETURN_IF_ERROR(validation_.BeginTimed(/*poison=*/true, /*new_inputs=*/true));
    WARPSMITH_ASSIGN_OR_RETURN(bool ran, TakeFirstUses(timing, evaluation));
    if (!ran) return false;
  }
  evaluation.set_outcome(v1::OUTCOME_SUSPICIOUS);
  evaluation.set_reason("first_use");
  evaluation.set_message(fmt::format(
      "{:.4f} ms on inputs seen for the first time and {:.4f} ms on inputs seen before; a kernel must do the same work "
      "at every launch",
      timing.first_use_ms(), timing.median_ms()));
  evaluation.set_failed_stage("timed_launch");
  return false;
}

absl::StatusOr<bool> Measurement::CompareClocks(v1::Timing& timing, v1::Evaluation& evaluation) {
  StageClock::Span span(validation_.stages(), Stage::kMeasure);
  double gap = 0;
  const double launch_gap_ms = options_.launch_gap_seconds * 1e3;
  for (int attempt = 0; attempt < options_.clock_tries; ++attempt) {
    executor::RunRequest request;
    request.slot =
        slots_[options_.judge_random_rounds ? static_cast<size_t>(Random(static_cast<int>(slots_.size()))) : 0];
    request.limit_seconds = validation_.RunLimit();
    request.repetitions = 0;
    executor::RunReport empty = executor_.Run(request);
    if (!validation_.Ran(empty, "timed_launch", evaluation)) return false;
    // Long enough that the two calls' own cost does not matter.
    const double longer = std::exp2(attempt);
    const double batch_seconds =
        std::max(options_.batch_seconds, std::min(longer * options_.batch_seconds, kLongestBatchSeconds));
    double launches = std::ceil(batch_seconds * 1e3 / std::max(timing.median_ms(), 1e-3));
    const double most = std::min(longer * options_.max_batch_launches, static_cast<double>(executor::kMaxRuns));
    request.repetitions = static_cast<int>(std::clamp(launches, 2.0, most));
    request.limit_seconds = validation_.RunLimit(request.repetitions);
    executor::RunReport batch = executor_.Run(request);
    if (!validation_.Ran(batch, "timed_launch", evaluation)) return false;
    double batch_mhz = 0;
    {
      StageClock::Span clocks(validation_.stages(), Stage::kClocks);
      batch_mhz = gate_.ReadMhz();
    }
    double host_ms = (batch.host_seconds - empty.host_seconds) / request.repetitions * 1e3;
    double device_ms = batch.device_seconds / request.repetitions * 1e3;
    timing.set_host_clock_ms(host_ms);
    timing.set_device_batch_ms(device_ms);
    // The same launches by both clocks; and cold samples cannot be faster than warm launches, apart from the gaps
    // between those and a clock that sinks when there is no pause between launches.
    double least = std::max(host_ms, 1e-9);
    double sunk =
        sample_mhz_ > 0 && batch_mhz > 0 ? std::clamp(1 - batch_mhz / sample_mhz_, 0.0, kLargestClockDrop) : 0;
    double faster_cold = host_ms * (1 - sunk) - timing.median_ms();
    gap = std::max(std::abs(device_ms - host_ms), faster_cold - launch_gap_ms) / least;
    if (gap > options_.clock_tolerance) continue;
    if (faster_cold / least > options_.clock_tolerance) AddFlag(evaluation, "launch_bound");
    return true;
  }
  evaluation.set_outcome(v1::OUTCOME_SUSPICIOUS);
  evaluation.set_reason("clocks");
  evaluation.set_message(fmt::format(
      "the device's clock says {:.4f} ms a run, {:.4f} ms in a batch, and the parent's clock {:.4f} ms for the same "
      "batch, {:.1f} % apart in the last of {} tries; such a time is not believed",
      timing.median_ms(), timing.device_batch_ms(), timing.host_clock_ms(), gap * 100, options_.clock_tries));
  evaluation.set_failed_stage("timed_launch");
  return false;
}

}  // namespace warpsmith::evaluate
