// What an evaluator is told once, and what it is asked each time.
// Threading: plain values. Units: milliseconds and seconds where named so, bytes.
#ifndef WARPSMITH_GPU_WORKER_EVALUATE_EVALUATOR_OPTIONS_H_
#define WARPSMITH_GPU_WORKER_EVALUATE_EVALUATOR_OPTIONS_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "gpu_worker/evaluate/confirmation.h"
#include "gpu_worker/evaluate/evaluation_observer.h"
#include "gpu_worker/evaluate/measurement.h"
#include "gpu_worker/evaluate/slices.h"
#include "gpu_worker/measure/roofline.h"
#include "gpu_worker/plan/device_limits.h"
#include "warpsmith/v1/evaluation.pb.h"
#include "warpsmith/v1/problem.pb.h"
#include "warpsmith/v1/worker.pb.h"

namespace warpsmith::evaluate {

struct EvaluateRequest {
  v1::Problem problem;  // id, name, source, signature and baselines filled
  v1::IntakeSettings settings;
  std::string candidate;                     // the file
  std::vector<v1::PrecisionClass> accepted;  // empty: fp32 only
  double incumbent_ms = 0;                   // 0: none
  std::string incumbent;                     // the file that a confirmation compares with; empty: none
  std::string stage = "measure";             // or confirm
  // Of the inputs on the emulated device. On a GPU a slice's own seed is used, unless `reproduce` asks for this one.
  int64_t seed = 0;
  bool reproduce = false;
  bool frozen_weights = false;
  bool profile_winner = false;  // the same, only where it beats the incumbent or there is none
  bool profile = false;         // a valid candidate's hardware counters too, where they can be had
};

struct EvaluatorOptions {
  v1::DeviceDescription device;
  std::optional<plan::DeviceLimits> limits;  // a GPU's own; unset: by compute capability
  measure::DevicePeaks peaks;
  std::string worker_id;
  std::filesystem::path shared_memory = "/dev/shm";  // of the emulated device's buffers
  size_t max_tune_variants = 4;
  int64_t candidate_memory_bytes = int64_t{4} << 30;  // address space of the executor beyond its own
  double run_limit_seconds = 20;                      // one run of the plan
  double evaluation_limit_seconds = 240;              // everything after compiling, a tuning variant
  double anchor_seconds = 0.2;                        // of each look at the module's own time
  int plain_trials = 5;
  int slice_candidates = 32;  // on a GPU: how many meet the same inputs
  Duration slice_age = std::chrono::minutes(5);
  MeasurementOptions measurement;
  ConfirmationOptions confirmation;
  Entropy entropy;                                             // unset: the system's
  EvaluationObserver* observer = &EvaluationObserver::None();  // outlives the evaluator

  // On a GPU the plan's time limit follows the module's own time: a hang is found out in seconds.
  double shortest_run_limit_seconds = 2;
  double run_limit_of_eager = 200;  // times eager's time
};

}  // namespace warpsmith::evaluate

#endif  // WARPSMITH_GPU_WORKER_EVALUATE_EVALUATOR_OPTIONS_H_
