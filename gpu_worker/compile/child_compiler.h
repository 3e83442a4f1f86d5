// A Compiler that runs the program warpsmith-compiler for each request: with no environment, in its sandbox, stopped
// at its deadline.
// Threading: safe from any thread; requests run side by side. Units: seconds, bytes.
// Errors: INFRA_ERROR results for what this machine lacks; they name the remedy.
#ifndef WARPSMITH_GPU_WORKER_COMPILE_CHILD_COMPILER_H_
#define WARPSMITH_GPU_WORKER_COMPILE_CHILD_COMPILER_H_

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

#include "common/child_process.h"
#include "common/file.h"
#include "gpu_worker/compile/compiler.h"
#include "gpu_worker/compile/cuda_toolkit.h"
#include "gpu_worker/compile/host_toolchain.h"

namespace warpsmith::compile {

struct ChildCompilerOptions {
  std::filesystem::path cache_folder;   // for the precompiled header; empty: a temporary one
  std::filesystem::path header_folder;  // emulation headers; empty: the ones that ship with warpsmith
  std::string host_compiler = "g++";
  bool use_toolkit = true;  // false: as if there were no NVRTC
  bool precompile_header = true;
  uint64_t cpu_seconds = 20;  // of each stage
  uint64_t memory_bytes = 4ull << 30;
  uint64_t artifact_bytes = 64ull << 20;
};

class ChildCompiler final : public Compiler {
 public:
  explicit ChildCompiler(ChildCompilerOptions options = {}) : options_(std::move(options)) {}

  absl::StatusOr<CompileResult> Compile(const CompileRequest& request) override;
  std::string Fingerprint() override;

  // "13.0"; empty where there is no NVRTC that works.
  std::string NvrtcVersion();

 private:
  struct Toolkit {
    CudaToolkit files;
    std::string version;
  };

  wire::Report CompileRequestToReport(const CompileRequest& request);
  wire::Report RunNvrtc(const CompileRequest& request, const Toolkit& toolkit);
  wire::Report RunHost(const CompileRequest& request, bool toolkit_checked);
  wire::Report RunChildJob(const wire::Job& job);
  wire::Job NewJob(wire::Mode mode, const CompileRequest& request) const;
  wire::Report Explain(const ChildExit& exit) const;

  const std::optional<Toolkit>& FindToolkit();
  absl::StatusOr<HostToolchain> FindHost();

  const ChildCompilerOptions options_;
  std::mutex mutex_;  // guards what follows
  bool toolkit_searched_ = false;
  std::optional<Toolkit> toolkit_;  // does not change once searched
  std::string toolkit_problem_;
  std::optional<HostToolchain> host_;
  std::optional<TemporaryDirectory> own_cache_;
};

}  // namespace warpsmith::compile

#endif  // WARPSMITH_GPU_WORKER_COMPILE_CHILD_COMPILER_H_
