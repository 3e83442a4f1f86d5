#include "gpu_worker/evaluate/measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gpu_worker/measure/statistics.h"

namespace warpsmith::evaluate {

Measurement::Measurement(MeasurementOptions options, executor::Executor& executor, Validation& validation, int slots)
    : options_(options), executor_(executor), validation_(validation), slots_(slots) {}

bool Measurement::Sample(int warmups, int samples, v1::Timing& timing, v1::Evaluation& evaluation) {
  executor::TimeRequest request;
  for (int slot = 0; slot < slots_; ++slot) request.slots.push_back(slot);
  request.warmups = warmups;
  request.samples = samples;
  request.limit_seconds = validation_.RunLimit() * (warmups + samples);
  executor::RunReport report = executor_.Time(request);
  if (!validation_.Ran(report, "timed_launch", evaluation)) return false;
  for (double seconds : report.samples) timing.add_sample_ms(seconds * 1e3);
  measure::Summary summary = measure::Summarize({timing.sample_ms().begin(), timing.sample_ms().end()});
  timing.set_median_ms(summary.median);
  timing.set_spread(summary.spread);
  timing.set_samples(summary.samples);
  return true;
}

bool Measurement::Screen(v1::Timing& timing, v1::Evaluation& evaluation) {
  timing.set_stage("screen");
  return Sample(options_.warmups, options_.screen_samples, timing, evaluation);
}

bool Measurement::MuchSlowerThan(double incumbent_ms, const v1::Timing& timing) const {
  return incumbent_ms > 0 && timing.median_ms() > options_.screen_factor * incumbent_ms;
}

bool Measurement::Measure(v1::Timing& timing, v1::Evaluation& evaluation) {
  timing.set_stage("measure");
  double spent_ms = 0;
  for (double sample : timing.sample_ms()) spent_ms += sample;
  int first = timing.samples();
  while (timing.samples() < options_.max_samples) {
    bool enough = timing.samples() >= options_.min_samples && timing.samples() > first;
    if (enough && timing.spread() <= options_.target_spread) break;
    if (enough && spent_ms >= options_.max_seconds * 1e3) break;
    // About a fifth of the cap at a time, and every slot in turn: what is judged afterwards is each slot's last launch.
    double each = std::max(timing.median_ms(), 1e-3);
    int wanted = enough ? options_.max_samples : options_.min_samples;
    int more = std::min(static_cast<int>(options_.max_seconds * 200 / each), wanted - timing.samples());
    more = std::min((std::max(more, 1) + slots_ - 1) / slots_, (options_.max_samples - timing.samples()) / slots_) *
           slots_;
    if (more == 0) break;
    int before = timing.samples();
    if (!Sample(0, more, timing, evaluation)) return false;
    for (int i = before; i < timing.samples(); ++i) spent_ms += timing.sample_ms(i);
    // A candidate that takes many times the cap for the least number of samples is known well enough.
    if (spent_ms >= 4 * options_.max_seconds * 1e3) break;
  }
  return CompareClocks(timing, evaluation);
}

bool Measurement::CompareClocks(v1::Timing& timing, v1::Evaluation& evaluation) {
  double gap = 0;
  for (int attempt = 0; attempt < options_.clock_tries; ++attempt) {
    executor::RunRequest request;
    request.limit_seconds = validation_.RunLimit();
    request.repetitions = 0;
    executor::RunReport empty = executor_.Run(request);
    if (!validation_.Ran(empty, "timed_launch", evaluation)) return false;
    // Long enough that the two calls' own cost does not matter.
    request.repetitions = std::clamp(static_cast<int>(std::ceil(100.0 / std::max(timing.median_ms(), 1e-3))), 2, 2000);
    request.limit_seconds = validation_.RunLimit() * request.repetitions;
    executor::RunReport batch = executor_.Run(request);
    if (!validation_.Ran(batch, "timed_launch", evaluation)) return false;
    double host_ms = (batch.host_seconds - empty.host_seconds) / request.repetitions * 1e3;
    double device_ms = batch.device_seconds / request.repetitions * 1e3;
    timing.set_host_clock_ms(host_ms);
    // The same launches by both clocks; and cold samples cannot be faster than warm launches.
    gap = std::max(std::abs(device_ms - host_ms), host_ms - timing.median_ms()) / std::max(host_ms, 1e-9);
    if (gap <= options_.clock_tolerance) return true;
  }
  evaluation.set_outcome(v1::OUTCOME_SUSPICIOUS);
  evaluation.set_reason("clocks");
  evaluation.set_message(fmt::format(
      "the device's clock says {:.4f} ms a run and the parent's clock {:.4f} ms, {:.0f} % apart; such a time is "
      "not believed",
      timing.median_ms(), timing.host_clock_ms(), gap * 100));
  evaluation.set_failed_stage("timed_launch");
  return false;
}

}  // namespace warpsmith::evaluate
