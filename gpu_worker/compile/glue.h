// The translation unit that makes a candidate into a shared object of the emulated device: our header, the candidate,
// and one registration a kernel.
// Threading: pure. The agreement with the emulation headers is in this folder's host_object.h.
#ifndef WARPSMITH_GPU_WORKER_COMPILE_GLUE_H_
#define WARPSMITH_GPU_WORKER_COMPILE_GLUE_H_

#include <string>
#include <vector>

#include "gpu_worker/compile/compile.pb.h"

namespace warpsmith::compile {

// The name under which errors in registrations appear; line i + 1 is kernel i.
inline constexpr char kRegistrationUnit[] = "kernel_names";

// Kernel names must have passed CheckKernelName.
std::string MakeGlue(const wire::Job& job);

// Flags for g++ that follow from the candidate's own options. The language standard is NVRTC's: C++17 unless asked for.
std::vector<std::string> HostFlags(const wire::Job& job);
std::string DefaultStandardFlag();

// The linker's version script: nothing but the registrations is visible.
std::string ExportScript();

}  // namespace warpsmith::compile

#endif  // WARPSMITH_GPU_WORKER_COMPILE_GLUE_H_
