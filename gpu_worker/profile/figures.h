// Numbers of a profile put into words: quantities with units, warp stalls, the figures worth showing.
// Threading: pure.
#ifndef WARPSMITH_GPU_WORKER_PROFILE_FIGURES_H_
#define WARPSMITH_GPU_WORKER_PROFILE_FIGURES_H_

#include <string>
#include <string_view>
#include <vector>

#include "gpu_worker/profile/metric_set.h"
#include "warpsmith/v1/evaluation.pb.h"

namespace warpsmith::profile {

// "4.21 TB/s", "512 B": three digits and a prefix of the power of ten.
std::string Quantity(double value, std::string_view unit);

struct StallShare {
  std::string reason;  // "long_scoreboard"
  double share = 0;    // of the time that warps spend on the multiprocessor, 0 to 1
};
// Most first, without the state of issuing.
std::vector<StallShare> Stalls(const Metrics& metrics);

// Bank conflicts over all cycles of shared memory's pipe, 0 to 1.
double ConflictShare(const Metrics& metrics);
// Operations of threads of one type ("f", "h", "d"), a fused multiply-add counted as two.
double ThreadOperations(const Metrics& metrics, std::string_view type);

// Of the tensor cores, of all operands; and the peak rate of the operands that most of the work has.
double TensorOperations(const Metrics& metrics);
double TensorPeak(const Metrics& metrics);
double Seconds(const Metrics& metrics);
// Per cent of the time that a pipe is busy; chips have one or the other counter.
double TensorShare(const Metrics& metrics);
double FmaShare(const Metrics& metrics);

// Appends what the metrics have of the dozen.
void AddFigures(const Metrics& metrics, google::protobuf::RepeatedPtrField<v1::ProfileFigure>* figures);

}  // namespace warpsmith::profile

#endif  // WARPSMITH_GPU_WORKER_PROFILE_FIGURES_H_
