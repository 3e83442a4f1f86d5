// What the tests of the compiler share: compilers with and without a toolkit, and a skip that says why.
#ifndef WARPSMITH_TESTS_GPU_WORKER_COMPILE_TESTING_H_
#define WARPSMITH_TESTS_GPU_WORKER_COMPILE_TESTING_H_

#include <cstdio>
#include <string>
#include <vector>

#include "gpu_worker/compile/child_compiler.h"

namespace warpsmith::compile {

inline std::string StandInFolder() { return WARPSMITH_SOURCE_DIR "/tests/gpu_worker/compile/stand_in"; }

inline bool HaveToolkit(const char* test) {
  static const bool have = !ChildCompiler().NvrtcVersion().empty();
  if (!have) std::printf("SKIPPED %s: no NVRTC on this machine (WARPSMITH_CUDA_PATH, /usr/local/cuda)\n", test);
  return have;
}

inline ChildCompilerOptions Options(bool toolkit, bool stand_in = true) {
  ChildCompilerOptions options;
  options.use_toolkit = toolkit;
  if (stand_in) options.header_folder = StandInFolder();
  return options;
}

// One compiler a kind for all tests, so that the header is precompiled once.
inline ChildCompiler& WithToolkit() {
  static ChildCompiler compiler(Options(true));
  return compiler;
}
inline ChildCompiler& WithoutToolkit() {
  static ChildCompiler compiler(Options(false));
  return compiler;
}

inline CompileRequest Emulated(std::string code, std::vector<std::string> names) {
  CompileRequest request;
  request.code = std::move(code);
  request.kernel_names = std::move(names);
  request.emulated = true;
  return request;
}

inline CompileRequest ForGpu(std::string code, std::vector<std::string> names,
                             std::vector<std::string> architectures = {"sm_89"}) {
  CompileRequest request = Emulated(std::move(code), std::move(names));
  request.emulated = false;
  request.architectures = std::move(architectures);
  return request;
}

inline bool Holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace warpsmith::compile

#endif  // WARPSMITH_TESTS_GPU_WORKER_COMPILE_TESTING_H_
