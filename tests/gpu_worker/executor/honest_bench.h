// The bench with kernels.cu, for the tests of honest kernels.
// Threading: one thread.
#ifndef WARPSMITH_TESTS_GPU_WORKER_EXECUTOR_HONEST_BENCH_H_
#define WARPSMITH_TESTS_GPU_WORKER_EXECUTOR_HONEST_BENCH_H_

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/gpu_worker/executor/bench.h"

namespace warpsmith::executor {
enum Kernel : uint32_t {
  kVectorAdd,
  kBlockSum128,
  kBlockSum1024,
  kSoftmax,
  kGridSteps,
  kHistogram,
  kHalves,
  kVotes,
  kOrder,
  kIncrement,
  kIntegers,
  kPrint,
  kHeap,
  kSharedState,
  kByValue,
  kChained,
  kWrite,
  kIndex,
  kY1,
  kMath
};

inline const std::string& Code() {
  static const std::string& code =
      *new std::string(*ReadFile(std::string(WARPSMITH_SOURCE_DIR) + "/tests/gpu_worker/executor/kernels.cu"));
  return code;
}

struct HonestBench : Bench {
  HonestBench()
      : Bench(Code(),
              {"vector_add", "block_sum<128>", "block_sum<1024>", "softmax",  "grid_steps", "histogram", "halves",
               "votes",      "order",          "increment",       "integers", "print",      "heap",      "shared_state",
               "by_value",   "chained",        "write",           "index",    "y1",         "math"}) {}
  void RequireOk(const RunRequest& request = {}) {
    RunReport report = Run(request);
    INFO(report.message);
    REQUIRE(report.outcome == v1::OUTCOME_OK);
  }
};

inline RunRequest Seeded(uint64_t seed) {
  RunRequest request;
  request.order_seed = seed;
  return request;
}

inline std::vector<float> Ramp(size_t count, float scale) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = scale * static_cast<float>((i * 37 + 11) % 101) - 20 * scale;
  return values;
}

}  // namespace warpsmith::executor

#endif  // WARPSMITH_TESTS_GPU_WORKER_EXECUTOR_HONEST_BENCH_H_
