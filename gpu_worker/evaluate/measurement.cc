#include "gpu_worker/evaluate/measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gpu_worker/evaluate/flags.h"
#include "gpu_worker/executor/frame.h"
#include "gpu_worker/measure/location.h"
#include "gpu_worker/measure/statistics.h"

namespace warpsmith::evaluate {
namespace {

constexpr int kFewestScreenSamples = 3;
constexpr double kSlowMs = 10;  // one warm-up is enough from here on

constexpr int kCoarseRound = 250;
constexpr size_t kMostShown = 200;

// All samples, or some of them evenly spread over all.
void Show(const std::vector<double>& samples, v1::Timing& timing) {
  timing.clear_sample_ms();
  const size_t shown = std::min(samples.size(), kMostShown);
  for (size_t i = 0; i < shown; ++i) timing.add_sample_ms(samples[i * samples.size() / shown]);
}

}  // namespace

MeasurementOptions MeasurementOptions::ForGpu() {
  MeasurementOptions options;
  options.warmups = 3;
  options.screen_samples = 10;
  options.screen_seconds = 0.03;
  options.screen_factor = 2;
  options.min_samples = 20;
  options.stop_at_stable_noise = true;
  options.max_coarse_samples = 3000;
  options.max_seconds = 0.12;
  options.clock_tries = 6;
  options.batch_seconds = 0.02;
  options.max_batch_launches = 20000;
  options.launch_gap_seconds = 4e-6;
  options.first_use_tolerance = 0.03;
  options.launch_floor_ms = 0.001;
  options.look_for_skipped_launches = true;
  options.judge_random_rounds = true;
  return options;
}

Measurement::Measurement(MeasurementOptions options, executor::Executor& executor, Validation& validation,
                         ThrottleGate& gate, Clock& clock)
    : options_(options),
      executor_(executor),
      validation_(validation),
      gate_(gate),
      clock_(clock),
      slots_(validation.layout().timing),
      random_(options.random_seed) {}

absl::StatusOr<bool> Measurement::Take(const std::vector<int>& slots, int warmups, int samples,
                                       std::vector<double>& samples_ms, v1::Timing& timing,
                                       v1::Evaluation& evaluation) {
  executor::TimeRequest request;
  request.slots = slots.empty() ? slots_ : slots;
  request.warmups = warmups;
  request.samples = samples;
  for (;;) {
    request.limit_seconds = validation_.RunLimit(warmups + samples);
    {
      StageClock::Span span(validation_.stages(), Stage::kClocks);
      gate_.Begin();
    }
    executor::RunReport report;
    {
      StageClock::Span span(validation_.stages(), Stage::kMeasure);
      report = executor_.Time(request);
    }
    if (!validation_.Ran(report, "timed_launch", evaluation)) return false;
    ThrottleGate::Verdict verdict;
    {
      StageClock::Span span(validation_.stages(), Stage::kClocks);
      verdict = gate_.End();
    }
    if (verdict == ThrottleGate::Verdict::kTakeAgain) {
      timing.set_throttled_samples(timing.throttled_samples() + static_cast<int>(report.samples.size()));
      continue;
    }
    if (verdict == ThrottleGate::Verdict::kGaveUp) AddFlag(evaluation, "throttled");
    for (double seconds : report.samples) samples_ms.push_back(seconds * 1e3);
    if (!report.launch_mode.empty()) timing.set_launch_mode(report.launch_mode);
    if (report.prepare_seconds > 0) timing.set_prepare_ms(report.prepare_seconds * 1e3);
    if (gate_.sm_mhz() > 0) sample_mhz_ = std::max(sample_mhz_, gate_.sm_mhz());
    return true;
  }
}

absl::StatusOr<bool> Measurement::Sample(int warmups, int samples, v1::Timing& timing, v1::Evaluation& evaluation) {
  std::vector<double> samples_ms;
  std::vector<int> slots = slots_;
  if (options_.judge_random_rounds && slots.size() > 1) {
    std::rotate(slots.begin(), slots.begin() + Random(static_cast<int>(slots.size())), slots.end());
  }
  WARPSMITH_ASSIGN_OR_RETURN(bool ran, Take(std::move(slots), warmups, samples, samples_ms, timing, evaluation));
  if (!ran) return false;
  samples_ms_.insert(samples_ms_.end(), samples_ms.begin(), samples_ms.end());
  Show(samples_ms_, timing);
  measure::Summary summary = measure::Summarize(samples_ms_);
  timing.set_median_ms(summary.median);
  timing.set_spread(summary.spread);
  if (options_.max_coarse_samples > 0) {
    const measure::Location location(samples_ms_);
    timing.set_median_ms(location.value());
    relative_error_ = location.relative_error();
    coarse_ = location.coarse();
  }
  timing.set_samples(summary.samples);
  return true;
}

absl::StatusOr<bool> Measurement::WarmUp(v1::Evaluation& evaluation) {
  if (options_.first_use_tolerance <= 0) return true;
  std::vector<double> samples_ms;
  v1::Timing ignored;
  int slot = validation_.layout().trials.front();
  WARPSMITH_ASSIGN_OR_RETURN(bool ran, Take({slot}, 1, 1, samples_ms, ignored, evaluation));
  if (!ran || options_.warmups <= 2 || samples_ms.empty() || samples_ms[0] > kSlowMs) return ran;
  return Take({slot}, options_.warmups - 2, 1, samples_ms, ignored, evaluation);
}

absl::StatusOr<bool> Measurement::TakeFirstUses(v1::Timing& timing, v1::Evaluation& evaluation) {
  first_uses_ms_.clear();
  for (int slot : slots_) {
    WARPSMITH_ASSIGN_OR_RETURN(bool ran, Take({slot}, 0, 1, first_uses_ms_, timing, evaluation));
    if (!ran) return false;
  }
  timing.set_first_use_ms(measure::Summarize(first_uses_ms_).median);
  return true;
}

absl::StatusOr<bool> Measurement::Screen(v1::Timing& timing, v1::Evaluation& evaluation) {
  timing.set_stage("screen");
  samples_ms_.clear();
  if (options_.first_use_tolerance <= 0) return Sample(options_.warmups, options_.screen_samples, timing, evaluation);
  WARPSMITH_ASSIGN_OR_RETURN(bool ran, TakeFirstUses(timing, evaluation));
  if (!ran) return false;
  int samples = options_.screen_samples;
  if (options_.screen_seconds > 0) {
    double fit = options_.screen_seconds * 1e3 / std::max(timing.first_use_ms(), 1e-6);
    samples = std::clamp(static_cast<int>(std::min(fit, 1e6)), kFewestScreenSamples, samples);
  }
  return Sample(0, samples, timing, evaluation);
}

bool Measurement::MuchSlowerThan(double incumbent_ms, const v1::Timing& timing) const {
  return incumbent_ms > 0 && timing.median_ms() > options_.screen_factor * incumbent_ms;
}

int Measurement::NextRound(const v1::Timing& timing, bool enough) {
  // About a fifth of the cap at a time.
  double each = std::max(timing.median_ms(), 1e-3);
  int wanted = enough ? MostSamples() : options_.min_samples;
  int more = std::min(static_cast<int>(options_.max_seconds * 200 / each), wanted - timing.samples());
  if (enough && ByCoarseClock()) {
    // The error falls with the root of the number of samples.
    const double ratio = relative_error_ / options_.target_error;
    const double due = timing.samples() * (ratio * ratio - 1);
    more = std::min(more, static_cast<int>(std::clamp(std::ceil(due), 1.0, static_cast<double>(kCoarseRound))));
  }
  int slots = static_cast<int>(slots_.size());
  if (options_.judge_random_rounds) {
    more = std::max(more, slots);
    more = more / 2 + 1 + Random(more);
    return std::min(more, MostSamples() - timing.samples());
  }
  // Every slot in turn: what is judged afterwards is each slot's last launch.
  return std::min((std::max(more, 1) + slots - 1) / slots, (MostSamples() - timing.samples()) / slots) * slots;
}

int Measurement::MostSamples() const {
  return ByCoarseClock() ? std::max(options_.max_samples, options_.max_coarse_samples) : options_.max_samples;
}

bool Measurement::IsSure(const v1::Timing& timing) const {
  if (ByCoarseClock()) return relative_error_ <= options_.target_error;
  if (timing.spread() <= options_.target_spread) return true;
  return options_.stop_at_stable_noise && measure::NoiseIsStable(samples_ms_);
}

absl::StatusOr<bool> Measurement::Measure(v1::Timing& timing, v1::Evaluation& evaluation) {
  timing.set_stage("measure");
  TimePoint started = clock_.Now();
  double spent_ms = 0;
  for (double sample : samples_ms_) spent_ms += sample;
  const double before_ms = spent_ms;
  const int first = timing.samples();
  int judged_after = options_.judge_random_rounds ? Random(3) : -1;  // which round's outputs are looked at
  for (int round = 0; timing.samples() < MostSamples(); ++round) {
    bool enough = timing.samples() >= options_.min_samples && timing.samples() > first;
    if (enough && IsSure(timing)) break;
    if (enough && spent_ms >= options_.max_seconds * 1e3) break;
    int more = NextRound(timing, enough);
    if (more <= 0) break;
    const size_t before = samples_ms_.size();
    WARPSMITH_ASSIGN_OR_RETURN(bool ran, Sample(0, more, timing, evaluation));
    if (!ran) return false;
    for (size_t i = before; i < samples_ms_.size(); ++i) spent_ms += samples_ms_[i];
    if (options_.stop_at_stable_noise) {
      // What lies between samples (flushing, poisoning) is time too.
      spent_ms = std::max(spent_ms, before_ms + ToSeconds(clock_.Now() - started) * 1e3);
    }
    if (round == judged_after) {
      int slot = slots_[static_cast<size_t>(Random(static_cast<int>(slots_.size())))];
      WARPSMITH_ASSIGN_OR_RETURN(bool passed, validation_.JudgeTimedSlot(slot, evaluation));
      if (!passed) return false;
    }
    // A candidate that takes many times the cap for the least number of samples is known well enough.
    if (spent_ms >= 4 * options_.max_seconds * 1e3) break;
  }
  WARPSMITH_ASSIGN_OR_RETURN(bool even, CompareSamples(timing, evaluation));
  if (!even) return false;
  WARPSMITH_ASSIGN_OR_RETURN(bool believed, CompareFirstUses(timing, evaluation));
  if (!believed) return false;
  return CompareClocks(timing, evaluation);
}

}  // namespace warpsmith::evaluate
