// NVRTC's library, loaded at run time through prototypes of our own, so that no CUDA header is needed to build.
// Threading: one thread. Source: NVRTC's documented C interface, the same from CUDA 11.2 to 13.
#ifndef WARPSMITH_GPU_WORKER_COMPILE_NVRTC_API_H_
#define WARPSMITH_GPU_WORKER_COMPILE_NVRTC_API_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace warpsmith::compile {

// One program for one architecture.
struct NvrtcOutput {
  int result = 0;  // nvrtcResult: 0 success, 1 out of memory, 5 invalid option, 6 compilation
  std::string log;
  std::string ptx;
  std::string cubin;
  std::vector<std::string> lowered_names;  // in the order of the name expressions; filled on success
};

class NvrtcApi {
 public:
  static constexpr int kSuccess = 0, kOutOfMemory = 1, kInvalidOption = 5, kCompilation = 6;

  // Loads the library and, so that nothing is left to be opened later, the builtins library that it asks for by name.
  // NotFound names the file.
  static absl::StatusOr<std::unique_ptr<NvrtcApi>> Load(const std::string& library, const std::string& builtins);

  const std::string& version() const { return version_; }  // "13.0"
  // The source is shown as candidate.cu. Internal for a library that behaves as none should.
  absl::StatusOr<NvrtcOutput> Compile(const std::string& code, const std::vector<std::string>& options,
                                      const std::vector<std::string>& names);

 private:
  using Program = struct OpaqueProgram*;
  NvrtcApi() = default;

  int (*create_)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*destroy_)(Program*) = nullptr;
  int (*compile_)(Program, int, const char* const*) = nullptr;
  int (*add_name_)(Program, const char*) = nullptr;
  int (*lowered_name_)(Program, const char*, const char**) = nullptr;
  int (*log_size_)(Program, size_t*) = nullptr;
  int (*log_)(Program, char*) = nullptr;
  int (*ptx_size_)(Program, size_t*) = nullptr;
  int (*ptx_)(Program, char*) = nullptr;
  int (*cubin_size_)(Program, size_t*) = nullptr;
  int (*cubin_)(Program, char*) = nullptr;
  std::string version_;
};

}  // namespace warpsmith::compile

#endif  // WARPSMITH_GPU_WORKER_COMPILE_NVRTC_API_H_
