// What a cubin says about its kernels and about the memory that loading it takes. The file may be hostile.
// Threading: pure. Units: bytes, registers a thread.
// Source: the attribute records of .nv.info sections as the CUDA tools (cuobjdump -elf) name them; compared with
// cuFuncGetAttribute and cuFuncGetParamInfo on a GPU.
#ifndef WARPSMITH_GPU_WORKER_COMPILE_CUBIN_H_
#define WARPSMITH_GPU_WORKER_COMPILE_CUBIN_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace warpsmith::compile {

struct CubinParameter {
  int32_t offset = 0;
  int32_t size = 0;
};

struct CubinKernel {
  std::string symbol;
  std::vector<CubinParameter> parameters;
  int32_t max_threads_per_block = 1024;
  int32_t static_shared_bytes = 0;
  int32_t registers = 0;
  int32_t local_bytes = 0;
};

struct Cubin {
  std::vector<CubinKernel> kernels;
  uint64_t module_bytes = 0;  // all that is allocated when it is loaded
};

// InvalidArgument for a file that is not a cubin or contradicts itself.
absl::StatusOr<Cubin> ReadCubin(std::string_view bytes);

}  // namespace warpsmith::compile

#endif  // WARPSMITH_GPU_WORKER_COMPILE_CUBIN_H_
