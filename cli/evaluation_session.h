// Evaluations on this machine, many with one set of parts: what `warpsmith evaluate --batch` works with.
// Threading: safe from any thread; kernels compile side by side and take turns on the device.
// Errors: what this machine lacks, with the remedy; a refused problem is InvalidArgument.
#ifndef WARPSMITH_CLI_EVALUATION_SESSION_H_
#define WARPSMITH_CLI_EVALUATION_SESSION_H_

#include <stop_token>
#include <string>
#include <vector>

#include "common/status.h"
#include "warpsmith/v1/evaluation.pb.h"
#include "warpsmith/v1/problem.pb.h"
#include "warpsmith/v1/worker.pb.h"

namespace warpsmith::cli {

class EvaluationSession {
 public:
  virtual ~EvaluationSession() = default;
  virtual const v1::DeviceDescription& device() const = 0;
  // Once for a source: the answer is kept.
  virtual absl::StatusOr<v1::Problem> TakeIn(const std::string& name, const std::string& source) = 0;
  // `accepted` empty: the session's own.
  virtual v1::Evaluation Evaluate(const v1::Problem& problem, const std::string& kernel,
                                  const std::vector<v1::PrecisionClass>& accepted, std::stop_token stop) = 0;
};

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_EVALUATION_SESSION_H_
