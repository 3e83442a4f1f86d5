// Adds up where a verdict's wall time goes. A stage entered inside another pauses the outer one, so that the sum is
// the time that passed.
// Threading: one thread. Units: seconds.
#ifndef WARPSMITH_GPU_WORKER_EVALUATE_STAGE_CLOCK_H_
#define WARPSMITH_GPU_WORKER_EVALUATE_STAGE_CLOCK_H_

#include <array>

#include "common/clock.h"
#include "warpsmith/v1/evaluation.pb.h"

namespace warpsmith::evaluate {

enum class Stage {
  kNone,
  kParse,
  kCompile,
  kQueue,
  kLoad,
  kPrepare,
  kStart,
  kInputs,
  kRun,
  kJudge,
  kMeasure,
  kReference,
  kProfile,
  kQuiet,
  kClocks,
  kCount
};

class StageClock {
 public:
  explicit StageClock(Clock& clock) : clock_(clock), since_(clock.Now()) {}

  // The stage lasts as long as the span.
  class Span {
   public:
    Span(StageClock& stages, Stage stage) : stages_(stages), outer_(stages.Change(stage)) {}
    ~Span() { stages_.Change(outer_); }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

   private:
    StageClock& stages_;
    const Stage outer_;
  };

  v1::StageSeconds Seconds() const;

 private:
  Stage Change(Stage stage);

  Clock& clock_;
  Stage current_ = Stage::kNone;
  TimePoint since_;
  std::array<double, static_cast<size_t>(Stage::kCount)> seconds_{};
};

// a += b, field by field.
void AddSeconds(const v1::StageSeconds& more, v1::StageSeconds& sum);

}  // namespace warpsmith::evaluate

#endif  // WARPSMITH_GPU_WORKER_EVALUATE_STAGE_CLOCK_H_
