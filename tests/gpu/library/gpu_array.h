// Arrays on the GPU with their values on the host, rounded to the array's type, for comparing with sums in float64.
// Threading: one thread, with the context current. Errors end the program: these are tests of what uses the driver.
#ifndef WARPSMITH_TESTS_GPU_LIBRARY_GPU_ARRAY_H_
#define WARPSMITH_TESTS_GPU_LIBRARY_GPU_ARRAY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gpu_worker/device/cuda/driver_api.h"

namespace warpsmith::library {

// Ends the program with a message where `status` is none of success.
void Require(const absl::Status& status);

class Gpu {
 public:
  Gpu();  // device 0 and its primary context
  const cuda::DriverApi& api() const { return *api_; }
  CUstream stream() const { return stream_; }
  const std::string& name() const { return name_; }
  void Check(CUresult result, const char* what) const { Require(cuda::CudaStatus(*api_, result, what)); }
  void Wait() const { Check(api_->cuStreamSynchronize(stream_), "waiting"); }
  size_t FreeBytes() const;

 private:
  const cuda::DriverApi* api_ = nullptr;
  CUstream stream_ = nullptr;
  std::string name_;
};

class GpuArray {
 public:
  // `count` pseudo-random values of about unit scale, the same for the same seed.
  GpuArray(const Gpu& gpu, const std::string& dtype, int64_t count, uint64_t seed);
  ~GpuArray() { gpu_.api().cuMemFree(address_); }
  GpuArray(const GpuArray&) = delete;
  GpuArray& operator=(const GpuArray&) = delete;

  CUdeviceptr address() const { return address_; }
  const std::string& dtype() const { return dtype_; }
  // As uploaded, after rounding; empty for more than 4 Mi elements, which are for timing only.
  const std::vector<double>& values() const { return values_; }
  std::vector<double> Download() const;
  void Restore() const;  // what was uploaded

 private:
  const Gpu& gpu_;
  std::string dtype_;
  CUdeviceptr address_ = 0;
  std::vector<char> bytes_;
  std::vector<double> values_;
};

}  // namespace warpsmith::library

#endif  // WARPSMITH_TESTS_GPU_LIBRARY_GPU_ARRAY_H_
