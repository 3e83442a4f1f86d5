// What a compiled module says about one kernel: enough to check a plan's arguments and launch sizes against it before
// anything runs. Filled by the compiler from cubin and PTX, or from the emulated build's descriptors.
// Threading: plain values. Units: bytes, threads, registers a thread.
#ifndef WARPSMITH_GPU_WORKER_PLAN_KERNEL_INTERFACE_H_
#define WARPSMITH_GPU_WORKER_PLAN_KERNEL_INTERFACE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace warpsmith::plan {

enum class ParameterKind {
  kUnknown,  // only the size is known: any argument of that size fits
  kPointer,  // 8 bytes; PTX cannot tell it from a 64-bit integer, the emulated build can
  kInteger,  // 1, 2, 4 or 8 bytes
  kFloat,    // f16, bf16 (2), f32 (4), f64 (8)
  kStruct,   // by value; a TMA descriptor is 128 bytes aligned to 64
};

struct KernelParameter {
  ParameterKind kind = ParameterKind::kUnknown;
  int32_t size = 0;
  int32_t offset = 0;
};

struct KernelInterface {
  std::string plan_name;  // as the plan writes it: "f" or "f<128,4>"
  std::string symbol;     // in the artifact
  std::vector<KernelParameter> parameters;
  int32_t max_threads_per_block = 1024;  // launch bounds and registers
  int32_t static_shared_bytes = 0;
  int32_t registers = 0;  // 0: unknown
  int32_t local_bytes = 0;
};

}  // namespace warpsmith::plan

#endif  // WARPSMITH_GPU_WORKER_PLAN_KERNEL_INTERFACE_H_
