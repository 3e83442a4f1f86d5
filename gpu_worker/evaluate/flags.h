// Flags of an evaluation, each once. Threading: pure.
#ifndef WARPSMITH_GPU_WORKER_EVALUATE_FLAGS_H_
#define WARPSMITH_GPU_WORKER_EVALUATE_FLAGS_H_

#include <algorithm>
#include <string>

#include "warpsmith/v1/evaluation.pb.h"

namespace warpsmith::evaluate {

inline bool HasFlag(const v1::Evaluation& evaluation, const std::string& flag) {
  return std::find(evaluation.flags().begin(), evaluation.flags().end(), flag) != evaluation.flags().end();
}

inline void AddFlag(v1::Evaluation& evaluation, const std::string& flag) {
  if (!HasFlag(evaluation, flag)) evaluation.add_flags(flag);
}

}  // namespace warpsmith::evaluate

#endif  // WARPSMITH_GPU_WORKER_EVALUATE_FLAGS_H_
