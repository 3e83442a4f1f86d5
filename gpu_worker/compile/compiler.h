// Turns a candidate's CUDA source into something a device can load, or says why not: cubins by NVRTC, or a shared
// object for the emulated device by the host's g++. Nothing of a candidate is loaded or run here.
// Threading: implementations of Compiler are safe from any thread.
// Units: bytes, seconds of wall time. Errors: what is the candidate's fault is a CompileResult; a Status only where
// not even that could be made.
#ifndef WARPSMITH_GPU_WORKER_COMPILE_COMPILER_H_
#define WARPSMITH_GPU_WORKER_COMPILE_COMPILER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/status.h"
#include "gpu_worker/plan/kernel_interface.h"
#include "warpsmith/v1/evaluation.pb.h"

namespace warpsmith::compile {

struct CompileRequest {
  std::string code;
  std::vector<std::string> kernel_names;   // as the plan writes them: "f", "f<128,4>"
  std::vector<std::string> options;        // already checked against the plan's allow-list, -D included
  std::vector<std::string> architectures;  // "sm_89", "sm_90a"; may be empty where `emulated` is set
  bool emulated = false;
  int64_t budget_module_bytes = 1ll << 30;  // module variables and code, together
};

struct CompileResult {
  // OK, COMPILE_ERROR, PLAN_ERROR, NEEDS_GPU, OUT_OF_MEMORY or INFRA_ERROR.
  v1::Outcome outcome = v1::OUTCOME_UNSPECIFIED;
  // COMPILE_ERROR: source, time, memory, size. PLAN_ERROR: names, module_state. OUT_OF_MEMORY: module_size.
  // NEEDS_GPU: the feature. Else empty.
  std::string reason;
  std::string message;                         // the first errors, for people and for a repair prompt
  std::string log;                             // at most 16 KiB of UTF-8, without paths of this machine
  std::vector<plan::KernelInterface> kernels;  // in the order of CompileRequest.kernel_names
  std::string artifact;                        // cubin of the first architecture, or the emulated shared object
  std::map<std::string, std::string> cubins;   // by architecture
  double seconds = 0;
  bool cached = false;
  bool toolkit_checked = false;  // NVRTC has seen the source
  std::string nvrtc_version;     // "13.0"; empty where there is no NVRTC
};

class Compiler {
 public:
  virtual ~Compiler() = default;
  virtual absl::StatusOr<CompileResult> Compile(const CompileRequest& request) = 0;
  // Everything besides the request that an artifact depends on: versions of compilers, headers and of this code.
  virtual std::string Fingerprint() = 0;
};

}  // namespace warpsmith::compile

#endif  // WARPSMITH_GPU_WORKER_COMPILE_COMPILER_H_
