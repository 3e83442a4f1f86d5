"""Where an intake's seconds go, stage by stage."""

import time


class Watch:
    """Seconds by stage, in the order in which the stages began; a stage that comes again adds up."""

    def __init__(self, clock=time.perf_counter):
        self.seconds, self._clock = {}, clock
        self._last = clock()

    def lap(self, stage):
        now = self._clock()
        self.seconds[stage] = round(self.seconds.get(stage, 0.0) + now - self._last, 4)
        self._last = now


def table(name, seconds):
    """A line for people: "softmax: 1.84 s = import 1.21 + build 0.02 + ...", without what took less than a
    millisecond. The baseline is told beside the sum, not in it."""
    stages = {stage: value for stage, value in seconds.items() if stage != "baseline"}
    parts = [f"{stage} {value:.3f}" for stage, value in stages.items() if value >= 0.001]
    text = f"{name}: {sum(stages.values()):.3f} s = {' + '.join(parts) or 'nothing'}"
    return text + (f"; baseline {seconds['baseline']:.3f}" if seconds.get("baseline", 0) >= 0.001 else "")
