// Memory on the GPU that frees itself. Threading: one thread, with the context current. Units: bytes.
// Errors: ResourceExhausted names what the memory was for.
#ifndef WARPSMITH_GPU_WORKER_LIBRARY_DEVICE_BUFFER_H_
#define WARPSMITH_GPU_WORKER_LIBRARY_DEVICE_BUFFER_H_

#include <string_view>
#include <utility>

#include "gpu_worker/device/cuda/driver_api.h"

namespace warpsmith::library {

class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(DeviceBuffer&& other) noexcept { *this = std::move(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(api_, other.api_);
    std::swap(address_, other.address_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~DeviceBuffer() {
    if (address_ != 0) api_->cuMemFree(address_);
  }

  static absl::StatusOr<DeviceBuffer> Allocate(const cuda::DriverApi& api, size_t bytes, std::string_view what) {
    DeviceBuffer buffer;
    if (bytes == 0) return buffer;
    WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(api, api.cuMemAlloc(&buffer.address_, bytes), what));
    buffer.api_ = &api;
    buffer.bytes_ = bytes;
    return buffer;
  }

  CUdeviceptr address() const { return address_; }
  void* pointer() const { return reinterpret_cast<void*>(address_); }
  size_t bytes() const { return bytes_; }

 private:
  const cuda::DriverApi* api_ = nullptr;
  CUdeviceptr address_ = 0;
  size_t bytes_ = 0;
};

}  // namespace warpsmith::library

#endif  // WARPSMITH_GPU_WORKER_LIBRARY_DEVICE_BUFFER_H_
