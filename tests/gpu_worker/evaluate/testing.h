// One real evaluator for all tests of a program, and problems taken in once.
// Threading: one thread.
#ifndef WARPSMITH_TESTS_GPU_WORKER_EVALUATE_TESTING_H_
#define WARPSMITH_TESTS_GPU_WORKER_EVALUATE_TESTING_H_

#include <filesystem>
#include <string>
#include <vector>

#include "gpu_worker/evaluate/local_evaluator.h"

namespace warpsmith::evaluate {

std::filesystem::path CorpusFolder();

// tests/problems/NAME.py, taken in by the real oracle; fails the test where it is refused.
const v1::Problem& ProblemForTest(const std::string& name);

v1::Evaluation EvaluateForTest(const std::string& problem, const std::string& candidate,
                               const std::vector<v1::PrecisionClass>& accepted = {});

// "fp32", "tf32", "bf16".
v1::PrecisionClass ClassNamed(const std::string& name);

}  // namespace warpsmith::evaluate

#endif  // WARPSMITH_TESTS_GPU_WORKER_EVALUATE_TESTING_H_
