// An evaluator on a GPU of scripted parts.
// Threading: one test at a time. Times are the fake world's.
#ifndef WARPSMITH_TESTS_GPU_WORKER_EVALUATE_EVALUATOR_FIXTURE_H_
#define WARPSMITH_TESTS_GPU_WORKER_EVALUATE_EVALUATOR_FIXTURE_H_

#include <memory>
#include <random>
#include <utility>

#include "gpu_worker/evaluate/evaluator.h"
#include "tests/gpu_worker/evaluate/fakes.h"

namespace warpsmith::evaluate {

inline EvaluatorOptions GpuOptions() {
  EvaluatorOptions options;
  options.device.set_name("NVIDIA H200");
  options.device.set_compute_capability(90);
  options.device.set_memory_bytes(int64_t{141} << 30);
  options.measurement = MeasurementOptions::ForGpu();
  options.anchor_seconds = 0.05;
  options.entropy = [random = std::make_shared<std::mt19937_64>(5)] { return (*random)(); };
  return options;
}

struct Fixture {
  Fixture() : Fixture(GpuOptions()) {}
  explicit Fixture(EvaluatorOptions options, GpuServices more = {})
      : evaluator(std::move(options), compiler, executors, oracle, world.clock, Services(more)) {
    request.problem = ProblemNamed("p");
    request.candidate = CandidateNamed("candidate");
  }
  GpuServices Services(GpuServices services) {
    services.guard = &guard;
    return services;
  }
  v1::Evaluation Evaluate() { return evaluator.Evaluate(request, {}); }

  World world;
  FakeCompiler compiler;
  FakeExecutorFactory executors{world};
  FakeOracle oracle{world};
  FakeGuard guard;
  Evaluator evaluator;
  EvaluateRequest request;
};

}  // namespace warpsmith::evaluate

#endif  // WARPSMITH_TESTS_GPU_WORKER_EVALUATE_EVALUATOR_FIXTURE_H_
