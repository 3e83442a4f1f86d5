// Reads a shared object of the emulated device without loading it.
//
// For kernel i the header's macro WARPSMITH_EMULATED_KERNEL(i, name) defines two visible symbols: `warpsmith_kernel_i`,
// a constant of the layout below in read-only memory, and `warpsmith_invoke_i`, a function that calls the kernel for
// the current emulated thread. Emulated shared memory lies in the section .warpsmith_shared or in thread-local
// storage, constant memory in .warpsmith_constant.
// Threading: pure. Units: bytes. Errors: InvalidArgument where the object is not of that form.
#ifndef WARPSMITH_GPU_WORKER_COMPILE_HOST_OBJECT_H_
#define WARPSMITH_GPU_WORKER_COMPILE_HOST_OBJECT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "gpu_worker/compile/compile.pb.h"

namespace warpsmith::compile {

struct KernelDescriptor {
  static constexpr uint32_t kMagic = 0x574b4431;
  static constexpr uint32_t kMaxParameters = 64;

  uint32_t magic;
  uint32_t parameter_count;
  uint32_t static_shared_bytes;  // 0: unknown
  uint32_t max_threads;          // 0: no bound given
  struct {
    uint32_t kind;  // plan::ParameterKind
    uint32_t size;
  } parameters[kMaxParameters];
};

struct HostObject {
  std::vector<wire::Kernel> kernels;            // plan_name not filled
  std::vector<std::string> writable_variables;  // best effort: what lies in .data and .bss
  std::vector<std::string> foreign_functions;   // that no CUDA device has: the object asks the host for them
  bool runs_at_load = false;                    // constructors, destructors or indirect functions
  uint64_t memory_bytes = 0;                    // of all loaded segments, shared variables included
};

absl::StatusOr<HostObject> ReadHostObject(std::string_view bytes, int kernel_count);

}  // namespace warpsmith::compile

#endif  // WARPSMITH_GPU_WORKER_COMPILE_HOST_OBJECT_H_
