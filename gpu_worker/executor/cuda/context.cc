#include "gpu_worker/executor/cuda/context.h"

#include <algorithm>

#include "gpu_worker/executor/cuda/host_memory_guard.h"

namespace warpsmith::executor {
namespace {

constexpr size_t kMallocHeapBytes = 8u << 20;
constexpr size_t kPrintBytes = 1u << 20;
constexpr size_t kLeastFlushBytes = 64u << 20;
// About two microseconds of writing.
constexpr size_t kDitherWords = 2u << 20;

}  // namespace

absl::StatusOr<std::unique_ptr<CudaContext>> CudaContext::Create() {
  WARPSMITH_ASSIGN_OR_RETURN(const cuda::DriverApi* api, cuda::DriverApi::Load());
  std::unique_ptr<CudaContext> context(new CudaContext(*api));
  WARPSMITH_RETURN_IF_ERROR(context->Start());
  return context;
}

int CudaContext::Attribute(CUdevice_attribute attribute) const {
  int value = 0;
  if (api_.cuDeviceGetAttribute(&value, attribute, device_) != CUDA_SUCCESS) return 0;
  return value;
}

absl::Status CudaContext::Start() {
  KeepGpuOutOfHostMemory();
  WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(api_, api_.cuInit(0), "cuInit"));
  WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(api_, api_.cuDeviceGet(&device_, 0), "cuDeviceGet"));
  CUcontext context = nullptr;
  WARPSMITH_RETURN_IF_ERROR(
      cuda::CudaStatus(api_, api_.cuDevicePrimaryCtxRetain(&context, device_), "making a context"));
  WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(api_, api_.cuCtxSetCurrent(context), "cuCtxSetCurrent"));
  // After the context: the answer is this process's, and before it the driver may not have asked.
  if (Attribute(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS) != 0) {
    return FailedPrecondition(
        "the GPU can reach this process's ordinary memory, so a candidate could read and change what runs it; turn "
        "heterogeneous memory management off (options nvidia-uvm uvm_disable_hmm=1)");
  }
  WARPSMITH_RETURN_IF_ERROR(
      cuda::CudaStatus(api_, api_.cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, kMallocHeapBytes), "the heap's size"));
  WARPSMITH_RETURN_IF_ERROR(
      cuda::CudaStatus(api_, api_.cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, kPrintBytes), "the print buffer's size"));
  WARPSMITH_RETURN_IF_ERROR(
      cuda::CudaStatus(api_, api_.cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate"));
  int cache = std::max(Attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE), 0);
  flush_bytes_ = std::max(2 * static_cast<size_t>(cache), kLeastFlushBytes) / 4 * 4;
  WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(api_,
                                             api_.cuMemAlloc(&flush_, flush_bytes_ + kDitherWords * sizeof(uint32_t)),
                                             "memory to flush the cache with"));
  WARPSMITH_RETURN_IF_ERROR(shared_fill_.Load(Attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
                                              Attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)));
  // The first launches of a process cost more.
  WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(api_, FillShared(0), "filling shared memory"));
  WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(api_, FlushCache(), "flushing the cache"));
  return cuda::CudaStatus(api_, Synchronize(), "warming up");
}

CUresult CudaContext::ResetPersistingCache() const {
  CUresult result = api_.cuCtxResetPersistingL2Cache();
  // A device that cannot pin lines has none to release.
  return result == CUDA_ERROR_NOT_SUPPORTED ? CUDA_SUCCESS : result;
}

CUresult CudaContext::FlushCache() {
  // Knuth's MMIX generator; its upper bits are random enough.
  random_ = random_ * 6364136223846793005u + 1442695040888963407u;
  const size_t more = static_cast<size_t>(random_ >> 40) % kDitherWords;
  return api_.cuMemsetD32Async(flush_, ++flushes_, flush_bytes_ / sizeof(uint32_t) + more, stream_);
}

}  // namespace warpsmith::executor
