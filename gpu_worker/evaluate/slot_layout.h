// Which slot of buffers which launch uses. With enough slots each trial's inputs keep a slot of their own, and timed
// launches have others, so that nothing is made again from one candidate to the next.
// Threading: plain values.
#ifndef WARPSMITH_GPU_WORKER_EVALUATE_SLOT_LAYOUT_H_
#define WARPSMITH_GPU_WORKER_EVALUATE_SLOT_LAYOUT_H_

#include <algorithm>
#include <vector>

namespace warpsmith::evaluate {

struct SlotLayout {
  std::vector<int> trials;
  std::vector<int> timing;
  bool dedicated = false;

  // All slots for everything, trials in turn: where slots are files that are made anew for each candidate.
  static SlotLayout Shared(int slots) {
    SlotLayout layout;
    for (int slot = 0; slot < slots; ++slot) {
      layout.trials.push_back(slot);
      layout.timing.push_back(slot);
    }
    return layout;
  }

  // Two slots for timing where there are four or more, one where there are two; a single one serves both.
  static SlotLayout Dedicated(int slots) {
    if (slots <= 1) return Shared(1);
    SlotLayout layout;
    layout.dedicated = true;
    int timing = slots >= 4 ? 2 : 1;
    for (int slot = 0; slot < slots; ++slot) {
      (slot < slots - timing ? layout.trials : layout.timing).push_back(slot);
    }
    return layout;
  }

  // Trials 0 and 1 are the same inputs with two poisons. Where slots are short, the first ones keep theirs and the rest
  // share the last: then most inputs of a slice still stay.
  int TrialSlot(int number) const {
    if (!dedicated) return trials[static_cast<size_t>(number) % trials.size()];
    return trials[std::min(static_cast<size_t>(std::max(number - 1, 0)), trials.size() - 1)];
  }
};

}  // namespace warpsmith::evaluate

#endif  // WARPSMITH_GPU_WORKER_EVALUATE_SLOT_LAYOUT_H_
