// The GPU as an executor child has it: device 0 with a context, a stream, and what is needed to put caches and shared
// memory into a known state.
// Threading: one thread. Units: bytes.
// Errors: with the driver's word; FailedPrecondition where the GPU can reach this process's ordinary memory, in which a
// candidate could then write.
#ifndef WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_CONTEXT_H_
#define WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_CONTEXT_H_

#include <cstdint>
#include <memory>

#include "gpu_worker/device/cuda/driver_api.h"
#include "gpu_worker/executor/cuda/shared_fill.h"

namespace warpsmith::executor {

class CudaContext {
 public:
  static absl::StatusOr<std::unique_ptr<CudaContext>> Create();

  const cuda::DriverApi& api() const { return api_; }
  CUstream stream() const { return stream_; }
  int Attribute(CUdevice_attribute attribute) const;

  // Ends what an earlier launch pinned in the second-level cache. Not in stream order: call it when the stream is idle.
  CUresult ResetPersistingCache() const;
  // In stream order: pushes everything else out of that cache. Takes a little longer at one time than at another, by up
  // to some ticks of an event's clock, so that what is timed behind it begins at any place within a tick.
  CUresult FlushCache();
  // In stream order: every multiprocessor's shared memory holds `word`.
  CUresult FillShared(uint32_t word) { return shared_fill_.Launch(word, stream_); }
  CUresult Synchronize() const { return api_.cuStreamSynchronize(stream_); }

 private:
  explicit CudaContext(const cuda::DriverApi& api) : api_(api), shared_fill_(api) {}
  absl::Status Start();

  const cuda::DriverApi& api_;
  CUdevice device_ = 0;
  CUstream stream_ = nullptr;
  CUdeviceptr flush_ = 0;
  size_t flush_bytes_ = 0;
  uint32_t flushes_ = 0;
  uint64_t random_ = 0;
  SharedFill shared_fill_;
};

}  // namespace warpsmith::executor

#endif  // WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_CONTEXT_H_
