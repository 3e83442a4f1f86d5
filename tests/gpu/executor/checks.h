// The executor's GPU checks, in groups. Each prints its lines.
#ifndef WARPSMITH_TESTS_GPU_EXECUTOR_CHECKS_H_
#define WARPSMITH_TESTS_GPU_EXECUTOR_CHECKS_H_

#include "tests/gpu/executor/gpu_bench.h"

namespace warpsmith::executor {

void CheckStarts(Gpu& gpu);
void CheckPlans(Gpu& gpu, ExecutorFactory& factory);
void CheckFaults(Gpu& gpu, ExecutorFactory& factory);
void CheckTimes(Gpu& gpu, ExecutorFactory& factory);
void CheckMany(Gpu& gpu, ExecutorFactory& factory);

}  // namespace warpsmith::executor

#endif  // WARPSMITH_TESTS_GPU_EXECUTOR_CHECKS_H_
