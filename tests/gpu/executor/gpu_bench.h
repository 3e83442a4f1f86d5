// What the executor's GPU tests share: the oracle's part played in this process (allocations between guards, handed
// over by CUDA IPC), candidates compiled by NVRTC, plans step by step, real executor processes, one line a check.
// Threading: one thread, with the GPU's context current.
#ifndef WARPSMITH_TESTS_GPU_EXECUTOR_GPU_BENCH_H_
#define WARPSMITH_TESTS_GPU_EXECUTOR_GPU_BENCH_H_

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/file.h"
#include "gpu_worker/compile/nvrtc_api.h"
#include "gpu_worker/device/cuda/driver_api.h"
#include "gpu_worker/executor/process_executor.h"

namespace warpsmith::executor {

// Ends the program where something of the test's own fails.
void Require(bool good, const std::string& what);

class Gpu {
 public:
  explicit Gpu(std::string executor_program);
  const cuda::DriverApi& api() const { return *api_; }
  void Check(CUresult result, const std::string& what) const;
  int Attribute(CUdevice_attribute attribute) const;
  int capability() const { return capability_; }
  const std::string& name() const { return name_; }
  int64_t FreeBytes() const;
  ProcessExecutorOptions Options(int idle) const;
  // The cubin's path; `kernels` as a plan writes them, `symbols` as the cubin names them.
  std::string Compile(const std::string& code, const std::vector<std::string>& kernels,
                      std::vector<std::string>& symbols);
  const std::filesystem::path& folder() const { return folder_.path(); }

  // Checks.
  void Report(bool passed, const std::string& name, const std::string& figures = "");
  int failures() const { return failures_; }

 private:
  const cuda::DriverApi* api_ = nullptr;
  std::string program_;
  std::string uuid_;
  std::string name_;
  int capability_ = 0;
  TemporaryDirectory folder_;
  std::unique_ptr<compile::NvrtcApi> nvrtc_;
  std::vector<std::string> include_options_;
  int failures_ = 0;
  int files_ = 0;
};

class Candidate {
 public:
  // `slots` sets of buffers.
  Candidate(Gpu& gpu, const std::string& code, const std::vector<std::string>& kernels, int slots = 1);
  ~Candidate();
  Candidate(const Candidate&) = delete;
  Candidate& operator=(const Candidate&) = delete;

  // Every slot has one with the same contents.
  template <typename T>
  uint32_t Add(const std::vector<T>& contents, v1::BufferKind kind = v1::BUFFER_KIND_READ_ONLY,
               bool persistent = false) {
    uint32_t buffer = AddBytes(static_cast<int64_t>(contents.size() * sizeof(T)), kind, persistent);
    for (int slot = 0; slot < slots_; ++slot) Write(buffer, contents, slot);
    return buffer;
  }
  // Without contents.
  uint32_t AddBytes(int64_t bytes, v1::BufferKind kind, bool persistent = false);
  template <typename T>
  void Write(uint32_t buffer, const std::vector<T>& contents, int slot = 0) {
    WriteBytes(buffer, slot, contents.data(), contents.size() * sizeof(T));
  }
  template <typename T>
  std::vector<T> Read(uint32_t buffer, int slot = 0) const {
    std::vector<T> values(static_cast<size_t>(plan.buffers(static_cast<int>(buffer)).bytes()) / sizeof(T));
    ReadBytes(buffer, slot, values.data(), values.size() * sizeof(T));
    return values;
  }
  bool GuardsIntact() const;

  static v1::KernelArgument View(uint32_t buffer, int64_t offset_bytes = 0);
  template <typename T>
  static v1::KernelArgument Value(const T& value) {
    v1::KernelArgument argument;
    argument.set_literal(std::string(reinterpret_cast<const char*>(&value), sizeof value));
    return argument;
  }
  v1::KernelLaunch& Launch(uint32_t kernel, uint32_t grid, uint32_t block,
                           const std::vector<v1::KernelArgument>& arguments, bool prepare = false);

  absl::StatusOr<std::unique_ptr<Executor>> Start(ExecutorFactory& factory) const;

  v1::ExecutionPlan plan;

 private:
  struct Memory {
    CUdeviceptr start = 0;
    int64_t bytes = 0;  // of the allocation
    std::string handle;
  };
  void WriteBytes(uint32_t buffer, int slot, const void* data, size_t bytes);
  void ReadBytes(uint32_t buffer, int slot, void* data, size_t bytes) const;
  const Memory& At(uint32_t buffer, int slot) const { return memory_[static_cast<size_t>(slot)][buffer]; }

  Gpu& gpu_;
  const int slots_;
  std::string cubin_;
  std::vector<std::vector<Memory>> memory_;  // [slot][buffer]
};

// Wall time since a moment, in milliseconds.
class Stopwatch {
 public:
  Stopwatch() : start_(RealClock().Now()) {}
  double Milliseconds() const { return 1e3 * ToSeconds(RealClock().Now() - start_); }

 private:
  TimePoint start_;
};

double Median(std::vector<double> values);
const char* Name(v1::Outcome outcome);

}  // namespace warpsmith::executor

#endif  // WARPSMITH_TESTS_GPU_EXECUTOR_GPU_BENCH_H_
