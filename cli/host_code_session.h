// Candidates in Python (`class ModelNew`) on this machine, each in a locked-down process of its own.
// Threading: one thread. Errors: what this machine lacks, with the remedy; a refused problem is InvalidArgument. What
// is wrong with a candidate is in its row.
#ifndef WARPSMITH_CLI_HOST_CODE_SESSION_H_
#define WARPSMITH_CLI_HOST_CODE_SESSION_H_

#include <string>
#include <vector>

#include "common/status.h"
#include "warpsmith/v1/evaluation.pb.h"
#include "warpsmith/v1/problem.pb.h"

namespace warpsmith::cli {

struct HostCodeSettings {
  std::string device = "auto";  // auto, cpu, N, cuda:N
  v1::IntakeSettings intake;
  std::vector<v1::PrecisionClass> accepted;  // empty: fp32 only
  bool frozen_weights = false;
  double run_limit_seconds = 20;
};

struct HostCodeRow {
  v1::Evaluation evaluation;  // timing.anchor_ms: the module itself, run the same way
  std::string weights;        // how it got the module's: name, order, seed, none; empty: it did not come to that
  int calls = 0;              // of one timed batch
  int batches = 0;
  double request_ms = 0;        // subtracted from each batch
  double reference_spread = 0;  // interquartile range over median
};

class HostCodeSession {
 public:
  virtual ~HostCodeSession() = default;
  virtual absl::StatusOr<v1::Problem> TakeIn(const std::string& name, const std::string& source) = 0;
  virtual absl::StatusOr<HostCodeRow> Evaluate(const v1::Problem& problem, const std::string& source) = 0;
};

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_HOST_CODE_SESSION_H_
