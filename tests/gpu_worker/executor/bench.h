// What the executor's tests share: building a .cu file for the emulated device with the host's g++, buffers in shared
// memory between guards, plans step by step, and real executor processes.
// Threading: one thread.
#ifndef WARPSMITH_TESTS_GPU_WORKER_EXECUTOR_BENCH_H_
#define WARPSMITH_TESTS_GPU_WORKER_EXECUTOR_BENCH_H_

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "common/file.h"
#include "gpu_worker/executor/process_executor.h"

namespace warpsmith::executor {

// The shared object's path; the test fails where g++ does. `kernels` are registered in this order. Equal calls give
// equal paths.
std::string Build(const std::string& code, const std::vector<std::string>& kernels);
// g++'s output where the code does not compile; empty where it does.
std::string BuildErrors(const std::string& code, const std::vector<std::string>& kernels);

ExecutorFactory& Factory();

class Bench {
 public:
  Bench(const std::string& code, const std::vector<std::string>& kernels);
  ~Bench();
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  // Adds a buffer; every slot has one of its own with the same contents.
  template <typename T>
  uint32_t Add(const std::vector<T>& contents) {
    return AddBytes(reinterpret_cast<const char*>(contents.data()), contents.size() * sizeof(T));
  }
  template <typename T>
  std::vector<T> Read(uint32_t buffer, int slot = 0) const {
    std::string bytes = ReadBytes(buffer, slot);
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
  }
  bool GuardsIntact(uint32_t buffer, int slot = 0) const;

  struct Argument {
    v1::KernelArgument value;
  };
  static Argument Tensor(uint32_t buffer, int64_t offset_bytes = 0);
  template <typename T>
  static Argument Value(const T& value) {
    Argument argument;
    argument.value.set_literal(std::string(reinterpret_cast<const char*>(&value), sizeof value));
    return argument;
  }

  v1::KernelLaunch& Launch(uint32_t kernel, uint32_t grid, uint32_t block, const std::vector<Argument>& arguments);
  v1::ExecutionPlan& plan() { return plan_; }
  void set_slots(int slots) { slots_ = slots; }
  void set_address_space(int64_t bytes) { address_space_ = bytes; }

  // The executor is started at first use.
  Executor& executor();
  RunReport Run(const RunRequest& request = {});

 private:
  uint32_t AddBytes(const char* data, size_t bytes);
  std::string ReadBytes(uint32_t buffer, int slot) const;
  std::string Path(uint32_t buffer, int slot) const;

  TemporaryDirectory folder_;
  v1::ExecutionPlan plan_;
  std::string artifact_;
  std::vector<std::string> contents_;
  std::unique_ptr<Executor> executor_;
  int slots_ = 1;
  int64_t address_space_ = 0;
};

}  // namespace warpsmith::executor

#endif  // WARPSMITH_TESTS_GPU_WORKER_EXECUTOR_BENCH_H_
