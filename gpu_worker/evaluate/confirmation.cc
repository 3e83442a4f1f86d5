#include "gpu_worker/evaluate/confirmation.h"

#include <fmt/format.h>

#include <algorithm>

#include "gpu_worker/evaluate/flags.h"
#include "gpu_worker/measure/bootstrap.h"
#include "gpu_worker/measure/location.h"

namespace warpsmith::evaluate {
namespace {

using Rounds = std::vector<std::vector<double>>;

double FigureOf(const Rounds& rounds) {
  std::vector<double> all;
  for (const std::vector<double>& round : rounds) all.insert(all.end(), round.begin(), round.end());
  return measure::Location(std::move(all)).value();
}

}  // namespace

Confirmation::Confirmation(ConfirmationOptions options, executor::Executor& candidate, executor::Executor* incumbent,
                           reference::Oracle& oracle, Validation& validation, ThrottleGate& gate)
    : options_(options),
      candidate_(candidate),
      incumbent_(incumbent),
      oracle_(oracle),
      validation_(validation),
      gate_(gate) {}

double Confirmation::ChunkSeconds() const {
  int parties = incumbent_ != nullptr ? 3 : 2;
  return options_.seconds / (2.0 * std::max(options_.rounds, 1) * parties);
}

executor::TimeRequest Confirmation::Request(double each_ms) const {
  executor::TimeRequest request;
  request.slots = validation_.layout().timing;
  request.warmups = 1;  // another process had the device
  double fit = ChunkSeconds() * 1e3 / std::max(each_ms, 1e-6);
  request.samples = std::clamp(static_cast<int>(std::min(fit, 1e6)), options_.fewest_samples,
                               coarse_ ? options_.most_coarse_samples : options_.most_samples);
  request.samples = std::max(request.samples, static_cast<int>(request.slots.size()));
  request.limit_seconds = validation_.RunLimit(request.warmups + request.samples);
  return request;
}

absl::StatusOr<bool> Confirmation::TimeCandidate(Round& round, v1::Evaluation& evaluation) {
  StageClock::Span span(validation_.stages(), Stage::kMeasure);
  executor::RunReport report = candidate_.Time(Request(candidate_ms_));
  if (!validation_.Ran(report, "timed_launch", evaluation)) return false;
  for (double seconds : report.samples) round.candidate.push_back(seconds * 1e3);
  return true;
}

absl::Status Confirmation::TimeReference(Round& round) {
  StageClock::Span span(validation_.stages(), Stage::kReference);
  WARPSMITH_ASSIGN_OR_RETURN(reference::ReferenceTime time, oracle_.TimeReference(ChunkSeconds()));
  if (time.samples_ms.empty()) time.samples_ms.assign(static_cast<size_t>(std::max(time.samples, 1)), time.median_ms);
  round.reference.insert(round.reference.end(), time.samples_ms.begin(), time.samples_ms.end());
  return absl::OkStatus();
}

void Confirmation::TimeIncumbent(Round& round, v1::Confirmation& confirmation) {
  if (incumbent_ == nullptr) return;
  StageClock::Span span(validation_.stages(), Stage::kMeasure);
  executor::RunReport report = incumbent_->Time(Request(candidate_ms_));
  if (report.outcome != v1::OUTCOME_OK) {
    confirmation.set_incumbent_error(report.message);
    incumbent_ = nullptr;
    return;
  }
  for (double seconds : report.samples) round.incumbent.push_back(seconds * 1e3);
}

absl::StatusOr<bool> Confirmation::TakeRound(Round& round, v1::Confirmation& confirmation, v1::Evaluation& evaluation) {
  WARPSMITH_RETURN_IF_ERROR(validation_.BeginTimed(/*poison=*/true, /*new_inputs=*/true));
  WARPSMITH_ASSIGN_OR_RETURN(bool ran, TimeCandidate(round, evaluation));
  if (!ran) return false;
  WARPSMITH_RETURN_IF_ERROR(TimeReference(round));
  TimeIncumbent(round, confirmation);
  TimeIncumbent(round, confirmation);
  WARPSMITH_RETURN_IF_ERROR(TimeReference(round));
  return TimeCandidate(round, evaluation);
}

absl::StatusOr<bool> Confirmation::Run(v1::Timing& timing, uint64_t seed, v1::Confirmation& confirmation,
                                       v1::Evaluation& evaluation) {
  candidate_ms_ = timing.median_ms();
  coarse_ = measure::Location({timing.sample_ms().begin(), timing.sample_ms().end()}).coarse();
  Rounds candidate, reference, incumbent;
  while (static_cast<int>(candidate.size()) < options_.rounds) {
    gate_.Begin();
    Round round;
    WARPSMITH_ASSIGN_OR_RETURN(bool ran, TakeRound(round, confirmation, evaluation));
    if (!ran) return false;
    ThrottleGate::Verdict verdict = gate_.End();
    if (verdict == ThrottleGate::Verdict::kTakeAgain) {
      timing.set_throttled_samples(timing.throttled_samples() + static_cast<int>(round.candidate.size()));
      continue;
    }
    if (verdict == ThrottleGate::Verdict::kGaveUp) AddFlag(evaluation, "throttled");
    candidate.push_back(std::move(round.candidate));
    reference.push_back(std::move(round.reference));
    incumbent.push_back(std::move(round.incumbent));
  }
  // The candidate came last in the last round.
  WARPSMITH_ASSIGN_OR_RETURN(bool passed, validation_.JudgeTimed(evaluation));
  if (!passed) return false;

  measure::BootstrapOptions bootstrap;
  bootstrap.resamples = options_.resamples;
  bootstrap.seed = seed;
  measure::Interval interval = measure::RatioOfMedians(reference, candidate, bootstrap);
  confirmation.set_ratio_to_reference(interval.value);
  confirmation.set_reference_low(interval.low);
  confirmation.set_reference_high(interval.high);
  if (incumbent_ != nullptr) {
    interval = measure::RatioOfMedians(incumbent, candidate, bootstrap);
    confirmation.set_ratio_to_incumbent(interval.value);
    confirmation.set_incumbent_low(interval.low);
    confirmation.set_incumbent_high(interval.high);
    confirmation.set_incumbent_ms(FigureOf(incumbent));
  }
  confirmation.set_rounds(static_cast<int>(candidate.size()));
  int samples = 0;
  for (const std::vector<double>& round : candidate) samples += static_cast<int>(round.size());
  confirmation.set_samples(samples);
  confirmation.set_candidate_ms(FigureOf(candidate));
  confirmation.set_reference_ms(FigureOf(reference));
  return true;
}

}  // namespace warpsmith::evaluate
