// The executor on a GPU: executor_gpu_test [EXECUTOR_PROGRAM]; without it, the one in ../bin. One line a check; exit
// status 1 where one failed.
#include <fmt/format.h>

#include <cstdio>

#include "common/log.h"
#include "common/sandbox.h"
#include "tests/gpu/executor/checks.h"

int main(int count, char** arguments) {
  using namespace warpsmith::executor;
  warpsmith::InitLogging("executor_gpu_test");
  Stopwatch watch;
  auto program = warpsmith::FindProgram("warpsmith-executor");
  Require(count > 1 || program.ok(), warpsmith::Message(program.status()));
  Gpu gpu(count > 1 ? arguments[1] : program->string());
  std::printf("device %s, sm_%d, pageable memory access %d in this process, Landlock ABI %d\n", gpu.name().c_str(),
              gpu.capability(), gpu.Attribute(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS), warpsmith::LandlockAbi());
  CheckStarts(gpu);
  {
    ProcessExecutorFactory factory(gpu.Options(3));
    CheckPlans(gpu, factory);
    CheckFaults(gpu, factory);
    CheckTimes(gpu, factory);
    CheckMany(gpu, factory);
  }
  std::printf("executor: %d failures in %.1f s\n", gpu.failures(), watch.Milliseconds() / 1e3);
  return gpu.failures() == 0 ? 0 : 1;
}
