// Reads NVRTC's PTX for what a cubin does not say: the kinds of kernel parameters, and which module variables a kernel
// may write. PTX may hold anything that inline assembly puts there; whatever is not understood counts as a write.
// Threading: pure. Source: the PTX ISA's chapters on state spaces, directives and instructions.
#ifndef WARPSMITH_GPU_WORKER_COMPILE_PTX_H_
#define WARPSMITH_GPU_WORKER_COMPILE_PTX_H_

#include <string>
#include <string_view>
#include <vector>

#include "gpu_worker/plan/kernel_interface.h"

namespace warpsmith::compile {

struct PtxEntry {
  std::string symbol;
  // Sizes in bytes; offsets are not filled. An 8-byte integer that the code uses as a global address, or that the
  // kernel's mangled name says is one, is kPointer; one that neither tells is kUnknown, as are small structures,
  // since __half is one.
  std::vector<plan::KernelParameter> parameters;
};

struct PtxModule {
  std::vector<PtxEntry> entries;
  // Variables in global or constant memory that an instruction writes, or whose address goes where writes cannot be
  // followed. Constant tables and the strings of printf and assert are not among them.
  std::vector<std::string> writable_variables;
};

PtxModule ReadPtx(std::string_view text);

}  // namespace warpsmith::compile

#endif  // WARPSMITH_GPU_WORKER_COMPILE_PTX_H_
