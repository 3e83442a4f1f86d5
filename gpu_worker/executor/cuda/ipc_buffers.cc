#include "gpu_worker/executor/cuda/ipc_buffers.h"

#include <fmt/format.h>

#include <cstring>

namespace warpsmith::executor {

absl::StatusOr<CUdeviceptr> IpcBuffers::OpenHandle(const cuda::DriverApi& api, const wire::Buffer& buffer) {
  if (auto known = opened_.find(buffer.ipc_handle()); known != opened_.end()) return known->second;
  CUipcMemHandle handle;
  if (buffer.ipc_handle().size() != sizeof handle) {
    return InvalidArgument(fmt::format("a handle of {} bytes", buffer.ipc_handle().size()));
  }
  std::memcpy(&handle, buffer.ipc_handle().data(), sizeof handle);
  CUdeviceptr address = 0;
  WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(
      api, api.cuIpcOpenMemHandle(&address, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), "cuIpcOpenMemHandle"));
  opened_[buffer.ipc_handle()] = address;
  return address;
}

absl::Status IpcBuffers::Open(const cuda::DriverApi& api, const wire::Spec& spec) {
  for (const wire::Slot& slot : spec.slots()) {
    std::vector<CUdeviceptr>& payloads = payloads_.emplace_back();
    for (const wire::Buffer& buffer : slot.buffers()) {
      absl::StatusOr<CUdeviceptr> address = OpenHandle(api, buffer);
      if (!address.ok()) return Annotate(address.status(), fmt::format("opening buffer {}", payloads.size()));
      CUdeviceptr base = 0;
      size_t bytes = 0;
      WARPSMITH_RETURN_IF_ERROR(
          cuda::CudaStatus(api, api.cuMemGetAddressRange(&base, &bytes, *address), "cuMemGetAddressRange"));
      auto end = static_cast<uint64_t>(buffer.payload_offset()) + static_cast<uint64_t>(buffer.payload_bytes());
      if (*address - base + end > bytes) {
        return Internal(fmt::format("buffer {} ends at {} of an allocation of {} bytes", payloads.size(), end, bytes));
      }
      payloads.push_back(*address + static_cast<uint64_t>(buffer.payload_offset()));
    }
  }
  return absl::OkStatus();
}

}  // namespace warpsmith::executor
