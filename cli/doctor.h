// `warpsmith doctor`: what this machine has and lacks, a line each, with the remedy.
// Threading: one thread. Each check is independent; none changes
// anything.
#ifndef WARPSMITH_CLI_DOCTOR_H_
#define WARPSMITH_CLI_DOCTOR_H_

#include <string>
#include <vector>

#include "cli/context.h"
#include "common/json.h"
#include "gpu_worker/device/cuda/gpu_probe.h"

namespace warpsmith::cli {

struct Finding {
  enum Level { kOk, kWarn, kFail };  // kWarn: something is missing that most can do without
  Level level = kOk;
  std::string check;  // postgresql, python, ...
  std::string found;
  std::string remedy;  // empty where kOk
};

struct Diagnosis {
  std::vector<Finding> findings;
  Json gpus;  // a list: each GPU as the driver describes it, its state and its canary's figures
};

Diagnosis Diagnose(const std::string& data_directory, cuda::GpuProbe& probe);
std::string FindingsText(const std::vector<Finding>& findings);

// 1 if any check failed.
int RunDoctor(Context& context);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_DOCTOR_H_
