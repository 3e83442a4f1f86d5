// The host's g++ as the emulated device uses it: where it lies, what it must be able to read inside the sandbox, its
// flags, the directives that take the host's macros away, and the precompiled emulation header.
// Only our own header is compiled here, never a candidate. Threading: safe from any thread. Units: seconds.
// Errors: FailedPrecondition or NotFound name what is missing and the remedy.
#ifndef WARPSMITH_GPU_WORKER_COMPILE_HOST_TOOLCHAIN_H_
#define WARPSMITH_GPU_WORKER_COMPILE_HOST_TOOLCHAIN_H_

#include <filesystem>
#include <string>
#include <vector>

#include "common/status.h"
#include "gpu_worker/compile/compile.pb.h"

namespace warpsmith::compile {

// The header that stands for CUDA, in the folder that holds it.
// A file compile_flags.txt beside it holds the flags that it needs, one a line.
inline constexpr char kEmulationHeader[] = "warpsmith_emulated.h";

struct HostToolchain {
  wire::HostTools tools;
  std::string version;      // g++'s own first line
  std::string headers_sha;  // of everything in the header folder
};

// `compiler` is "g++" or a path.
absl::StatusOr<HostToolchain> FindHostToolchain(const std::string& compiler,
                                                const std::filesystem::path& header_folder);

// Builds the precompiled header once for this compiler, these flags and headers, in a folder under `cache_folder`, and
// tells the toolchain about it. Several processes may call it at once: one builds, the others wait.
absl::Status AddPrecompiledHeader(const std::filesystem::path& cache_folder, HostToolchain& toolchain);

// Macros that tell a host compiler from NVRTC, out of the output of g++ -dM; those that headers need for the sizes and
// ranges of types are not among them.
std::vector<std::string> HostMacros(std::string_view macro_definitions);

}  // namespace warpsmith::compile

#endif  // WARPSMITH_GPU_WORKER_COMPILE_HOST_TOOLCHAIN_H_
