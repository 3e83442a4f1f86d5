// The arguments of one launch as cuLaunchKernelEx wants them: literals laid out once, addresses and tensor maps filled
// in for the slot at hand. Threading: a value used from one thread. Units: bytes. Errors: InvalidArgument names the
// argument.
#ifndef WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_KERNEL_ARGUMENTS_H_
#define WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_KERNEL_ARGUMENTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "common/status.h"
#include "warpsmith/v1/execution.pb.h"

namespace warpsmith::executor {

class KernelArguments {
 public:
  // Where a view's buffer begins in the slot at hand.
  using Address = std::function<uint64_t(uint32_t buffer)>;
  // Writes the 128 bytes of a descriptor.
  using Encode = std::function<absl::Status(const v1::TensorMap& map, void* descriptor)>;

  // `launch` outlives it.
  explicit KernelArguments(const v1::KernelLaunch& launch);
  KernelArguments(KernelArguments&&) = default;

  const std::vector<size_t>& sizes() const { return sizes_; }
  // Compares with the sizes that the compiled kernel has.
  absl::Status CheckAgainst(const std::vector<size_t>& parameters) const;
  // The pointers are good until the next call.
  absl::StatusOr<void**> Resolve(const Address& address, const Encode& encode);

 private:
  // A descriptor wants to start at a multiple of 64.
  struct alignas(64) Block {
    unsigned char bytes[64];
  };
  unsigned char* At(size_t argument) { return blocks_[offsets_[argument]].bytes; }

  const v1::KernelLaunch* launch_;
  std::vector<size_t> sizes_;
  std::vector<size_t> offsets_;  // in blocks
  std::vector<Block> blocks_;
  std::vector<void*> pointers_;
};

}  // namespace warpsmith::executor

#endif  // WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_KERNEL_ARGUMENTS_H_
