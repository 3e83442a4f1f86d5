#include "gpu_worker/evaluate/stage_clock.h"

namespace warpsmith::evaluate {

Stage StageClock::Change(Stage stage) {
  TimePoint now = clock_.Now();
  seconds_[static_cast<size_t>(current_)] += ToSeconds(now - since_);
  since_ = now;
  Stage outer = current_;
  current_ = stage;
  return outer;
}

v1::StageSeconds StageClock::Seconds() const {
  auto of = [this](Stage stage) { return seconds_[static_cast<size_t>(stage)]; };
  v1::StageSeconds seconds;
  seconds.set_parse(of(Stage::kParse));
  seconds.set_compile(of(Stage::kCompile));
  seconds.set_queue(of(Stage::kQueue));
  seconds.set_load(of(Stage::kLoad));
  seconds.set_prepare(of(Stage::kPrepare));
  seconds.set_start(of(Stage::kStart));
  seconds.set_inputs(of(Stage::kInputs));
  seconds.set_run(of(Stage::kRun));
  seconds.set_judge(of(Stage::kJudge));
  seconds.set_measure(of(Stage::kMeasure));
  seconds.set_reference(of(Stage::kReference));
  seconds.set_profile(of(Stage::kProfile));
  seconds.set_quiet(of(Stage::kQuiet));
  seconds.set_clocks(of(Stage::kClocks));
  return seconds;
}

void AddSeconds(const v1::StageSeconds& more, v1::StageSeconds& sum) {
  sum.set_parse(sum.parse() + more.parse());
  sum.set_compile(sum.compile() + more.compile());
  sum.set_queue(sum.queue() + more.queue());
  sum.set_load(sum.load() + more.load());
  sum.set_prepare(sum.prepare() + more.prepare());
  sum.set_start(sum.start() + more.start());
  sum.set_inputs(sum.inputs() + more.inputs());
  sum.set_run(sum.run() + more.run());
  sum.set_judge(sum.judge() + more.judge());
  sum.set_measure(sum.measure() + more.measure());
  sum.set_reference(sum.reference() + more.reference());
  sum.set_profile(sum.profile() + more.profile());
  sum.set_quiet(sum.quiet() + more.quiet());
  sum.set_clocks(sum.clocks() + more.clocks());
}

}  // namespace warpsmith::evaluate
