// What a time is worth: against each baseline, and against what the device's peaks allow.
// Threading: pure functions.
#ifndef WARPSMITH_GPU_WORKER_EVALUATE_RATING_H_
#define WARPSMITH_GPU_WORKER_EVALUATE_RATING_H_

#include "gpu_worker/measure/roofline.h"
#include "warpsmith/v1/evaluation.pb.h"
#include "warpsmith/v1/problem.pb.h"

namespace warpsmith::evaluate {

// Ratios to eager and to the fastest baseline of the same or a stricter class, among those of the same kind of device.
void RateAgainstBaselines(const v1::Problem& problem, bool emulated, v1::Evaluation& evaluation);

// Fills the roofline. A time below the floor of bytes makes the evaluation suspicious: false then. One below that of
// operations is flagged.
bool RateAgainstRoofline(const v1::ProblemSignature& signature, const measure::DevicePeaks& peaks, double median_ms,
                         v1::Evaluation& evaluation);

// Bytes that a right kernel must move: each input and parameter read once, each output written once; only the outputs
// of a degenerate problem, which may not depend on its inputs.
int64_t NecessaryBytes(const v1::ProblemSignature& signature);

}  // namespace warpsmith::evaluate

#endif  // WARPSMITH_GPU_WORKER_EVALUATE_RATING_H_
