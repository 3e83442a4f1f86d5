#include "tests/gpu/library/gpu_array.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace warpsmith::library {
namespace {

constexpr int64_t kLargest = 4 << 20;  // elements
constexpr int64_t kPeriod = 1048573;   // no power of two, so that rows differ

int64_t Size(const std::string& dtype) { return dtype == "float32" ? 4 : 2; }

void Encode(const std::string& dtype, float value, char* target) {
  if (dtype == "float32") {
    std::memcpy(target, &value, sizeof value);
  } else if (dtype == "float16") {
    const __half half = __float2half(value);
    std::memcpy(target, &half, sizeof half);
  } else {
    const __nv_bfloat16 half = __float2bfloat16(value);
    std::memcpy(target, &half, sizeof half);
  }
}

double Decode(const std::string& dtype, const char* source) {
  if (dtype == "float32") {
    float value = 0;
    std::memcpy(&value, source, sizeof value);
    return value;
  }
  if (dtype == "float16") {
    __half half;
    std::memcpy(&half, source, sizeof half);
    return __half2float(half);
  }
  __nv_bfloat16 half;
  std::memcpy(&half, source, sizeof half);
  return __bfloat162float(half);
}

}  // namespace

void Require(const absl::Status& status) {
  if (status.ok()) return;
  std::printf("FAILED %s\n", Message(status).c_str());
  std::exit(1);
}

Gpu::Gpu() {
  auto api = cuda::DriverApi::Load();
  Require(api.status());
  api_ = *api;
  Check(api_->cuInit(0), "cuInit");
  CUdevice device = 0;
  Check(api_->cuDeviceGet(&device, 0), "device 0");
  char name[128] = {};
  Check(api_->cuDeviceGetName(name, sizeof name - 1, device), "the device's name");
  name_ = name;
  CUcontext context = nullptr;
  Check(api_->cuDevicePrimaryCtxRetain(&context, device), "the primary context");
  Check(api_->cuCtxSetCurrent(context), "the context");
  Check(api_->cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "a stream");
}

size_t Gpu::FreeBytes() const {
  size_t free = 0, total = 0;
  Check(api_->cuMemGetInfo(&free, &total), "free memory");
  return free;
}

GpuArray::GpuArray(const Gpu& gpu, const std::string& dtype, int64_t count, uint64_t seed) : gpu_(gpu), dtype_(dtype) {
  const int64_t size = Size(dtype);
  bytes_.resize(static_cast<size_t>(count * size));
  // A large array repeats its beginning, and is not to be compared.
  const int64_t distinct = count > kLargest ? kPeriod : count;
  values_.resize(count > kLargest ? 0 : static_cast<size_t>(count));
  uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (int64_t i = 0; i < distinct; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const float value = static_cast<float>(static_cast<int32_t>(state >> 33) - (1 << 30)) / static_cast<float>(1 << 29);
    Encode(dtype, value, &bytes_[static_cast<size_t>(i * size)]);
    if (!values_.empty()) values_[static_cast<size_t>(i)] = Decode(dtype, &bytes_[static_cast<size_t>(i * size)]);
  }
  const size_t period = static_cast<size_t>(distinct * size);
  for (size_t done = period; done < bytes_.size(); done += period) {
    std::memcpy(&bytes_[done], bytes_.data(), std::min(period, bytes_.size() - done));
  }
  gpu.Check(gpu.api().cuMemAlloc(&address_, bytes_.size()), "an array");
  Restore();
}

void GpuArray::Restore() const {
  gpu_.Check(gpu_.api().cuMemcpyHtoD(address_, bytes_.data(), bytes_.size()), "an upload");
}

std::vector<double> GpuArray::Download() const {
  std::vector<char> bytes(bytes_.size());
  gpu_.Check(gpu_.api().cuMemcpyDtoH(bytes.data(), address_, bytes.size()), "a download");
  std::vector<double> values(values_.size());
  for (size_t i = 0; i < values.size(); ++i) values[i] = Decode(dtype_, &bytes[i * static_cast<size_t>(Size(dtype_))]);
  return values;
}

}  // namespace warpsmith::library
