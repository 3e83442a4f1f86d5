#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "gpu_worker/device/cuda/device_query.h"
#include "gpu_worker/device/cuda/driver_api.h"
#include "gpu_worker/device/cuda/nvml_api.h"

namespace warpsmith::cuda {
namespace {

absl::Status ReadAttributes(const DriverApi& api, CUdevice device, GpuDevice& gpu) {
  int major = 0, minor = 0, l2 = 0, persisting = 0, shared = 0, opt_in = 0, per_sm = 0, reserved = 0, pageable = 0;
  const std::array<std::pair<CUdevice_attribute, int*>, 16> wanted = {{
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor},
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &gpu.sm_count},
      {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &l2},
      {CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE, &persisting},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, &shared},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &opt_in},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, &per_sm},
      {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, &reserved},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, &gpu.threads_per_sm},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, &gpu.blocks_per_sm},
      {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, &gpu.registers_per_sm},
      {CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, &pageable},
      {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &gpu.clock_khz},
      {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, &gpu.memory_clock_khz},
      {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, &gpu.memory_bus_bits},
  }};
  for (const auto& [attribute, value] : wanted) {
    WARPSMITH_RETURN_IF_ERROR(CudaStatus(api, api.cuDeviceGetAttribute(value, attribute, device),
                                         fmt::format("attribute {} of GPU {}", static_cast<int>(attribute), device)));
  }
  gpu.compute_capability = 10 * major + minor;
  gpu.l2_bytes = l2;
  gpu.persisting_l2_bytes = persisting;
  gpu.static_shared_bytes = shared;
  gpu.shared_opt_in_bytes = opt_in;
  gpu.shared_per_sm_bytes = per_sm;
  gpu.shared_reserved_bytes = reserved;
  gpu.pageable_memory_access = pageable != 0;
  return absl::OkStatus();
}

absl::StatusOr<GpuDevice> ReadGpu(const DriverApi& api, int index) {
  GpuDevice gpu;
  CUdevice device = 0;
  WARPSMITH_RETURN_IF_ERROR(CudaStatus(api, api.cuDeviceGet(&device, index), fmt::format("GPU {}", index)));
  char text[256] = "";
  WARPSMITH_RETURN_IF_ERROR(CudaStatus(api, api.cuDeviceGetName(text, sizeof text - 1, device), "a GPU's name"));
  gpu.name = text;
  WARPSMITH_RETURN_IF_ERROR(CudaStatus(api, api.cuDeviceGetPCIBusId(text, sizeof text - 1, device), "a GPU's PCI id"));
  gpu.pci_bus_id = text;
  CUuuid uuid{};
  WARPSMITH_RETURN_IF_ERROR(CudaStatus(api, api.cuDeviceGetUuid(&uuid, device), "a GPU's UUID"));
  gpu.uuid = UuidText(uuid);
  size_t bytes = 0;
  WARPSMITH_RETURN_IF_ERROR(CudaStatus(api, api.cuDeviceTotalMem(&bytes, device), "a GPU's memory"));
  gpu.memory_bytes = static_cast<int64_t>(bytes);
  WARPSMITH_RETURN_IF_ERROR(ReadAttributes(api, device, gpu));
  return gpu;
}

}  // namespace

absl::StatusOr<std::vector<GpuDevice>> ListGpus() {
  WARPSMITH_ASSIGN_OR_RETURN(const DriverApi* api, DriverApi::Load());
  const CUresult started = api->cuInit(0);
  if (started == CUDA_ERROR_NO_DEVICE) return std::vector<GpuDevice>();
  WARPSMITH_RETURN_IF_ERROR(CudaStatus(*api, started, "starting the NVIDIA driver (cuInit)"));
  int count = 0;
  int cuda_version = 0;
  WARPSMITH_RETURN_IF_ERROR(CudaStatus(*api, api->cuDeviceGetCount(&count), "counting GPUs"));
  WARPSMITH_RETURN_IF_ERROR(CudaStatus(*api, api->cuDriverGetVersion(&cuda_version), "the driver's CUDA version"));
  const std::string driver = DriverVersion();
  std::vector<GpuDevice> gpus;
  for (int i = 0; i < count; ++i) {
    WARPSMITH_ASSIGN_OR_RETURN(GpuDevice gpu, ReadGpu(*api, i));
    gpu.cuda_version = cuda_version;
    gpu.driver_version = driver;
    gpu.power_limit_w = PowerLimitWatts(gpu.uuid);
    gpus.push_back(std::move(gpu));
  }
  // The driver counts the fastest first unless it is told otherwise; nvidia-smi, and so people, count by PCI id.
  std::stable_sort(gpus.begin(), gpus.end(),
                   [](const GpuDevice& a, const GpuDevice& b) { return a.pci_bus_id < b.pci_bus_id; });
  for (size_t i = 0; i < gpus.size(); ++i) gpus[i].ordinal = static_cast<int>(i);
  return gpus;
}

}  // namespace warpsmith::cuda
