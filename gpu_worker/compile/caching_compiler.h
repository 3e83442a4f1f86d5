// A Compiler that keeps what another one made, on disk, by everything that the result depends on.
// Verdicts that may differ next time (the machine's faults, time, memory) are not kept. An entry that is damaged is as
// good as none. Several processes may share a folder: entries are written whole or not at all.
// Threading: safe from any thread. Units: bytes.
#ifndef WARPSMITH_GPU_WORKER_COMPILE_CACHING_COMPILER_H_
#define WARPSMITH_GPU_WORKER_COMPILE_CACHING_COMPILER_H_

#include <filesystem>
#include <mutex>
#include <string>

#include "gpu_worker/compile/compiler.h"

namespace warpsmith::compile {

class CachingCompiler final : public Compiler {
 public:
  // `inner` must outlive this. Over `max_bytes` the entries that were not used for longest go.
  CachingCompiler(Compiler& inner, std::filesystem::path folder, uint64_t max_bytes = 2ull << 30)
      : inner_(inner), folder_(std::move(folder)), max_bytes_(max_bytes) {}

  absl::StatusOr<CompileResult> Compile(const CompileRequest& request) override;
  std::string Fingerprint() override { return inner_.Fingerprint(); }

 private:
  std::string Key(const CompileRequest& request);
  void Store(const std::filesystem::path& path, const CompileResult& result);
  void MakeRoom();

  Compiler& inner_;
  const std::filesystem::path folder_;
  const uint64_t max_bytes_;
  std::mutex mutex_;  // guards what follows
  std::string fingerprint_;
  uint64_t written_since_sweep_ = 0;
  bool swept_ = false;
};

}  // namespace warpsmith::compile

#endif  // WARPSMITH_GPU_WORKER_COMPILE_CACHING_COMPILER_H_
