#include "gpu_worker/executor/cuda/kernel_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace warpsmith::executor {
namespace {

constexpr size_t kDescriptorBytes = 128;

size_t SizeOf(const v1::KernelArgument& argument) {
  if (argument.has_view()) return sizeof(uint64_t);
  return argument.has_tensor_map() ? kDescriptorBytes : argument.literal().size();
}

}  // namespace

KernelArguments::KernelArguments(const v1::KernelLaunch& launch) : launch_(&launch) {
  size_t blocks = 0;
  for (const v1::KernelArgument& argument : launch.arguments()) {
    sizes_.push_back(SizeOf(argument));
    offsets_.push_back(blocks);
    blocks += std::max<size_t>(1, (sizes_.back() + sizeof(Block) - 1) / sizeof(Block));
  }
  blocks_.resize(blocks);
  for (size_t i = 0; i < sizes_.size(); ++i) {
    const std::string& literal = launch.arguments(static_cast<int>(i)).literal();
    if (!literal.empty()) std::memcpy(At(i), literal.data(), literal.size());
  }
}

absl::Status KernelArguments::CheckAgainst(const std::vector<size_t>& parameters) const {
  if (parameters.size() != sizes_.size()) {
    return InvalidArgument(fmt::format("{} arguments for a kernel that takes {}", sizes_.size(), parameters.size()));
  }
  for (size_t i = 0; i < sizes_.size(); ++i) {
    if (parameters[i] == sizes_[i]) continue;
    return InvalidArgument(
        fmt::format("argument {} has {} bytes, the kernel's parameter {}", i, sizes_[i], parameters[i]));
  }
  return absl::OkStatus();
}

absl::StatusOr<void**> KernelArguments::Resolve(const Address& address, const Encode& encode) {
  pointers_.resize(sizes_.size());
  for (size_t i = 0; i < sizes_.size(); ++i) {
    const v1::KernelArgument& argument = launch_->arguments(static_cast<int>(i));
    if (argument.has_view()) {
      uint64_t value = address(argument.view().buffer()) + static_cast<uint64_t>(argument.view().offset_bytes());
      std::memcpy(At(i), &value, sizeof value);
    } else if (argument.has_tensor_map()) {
      WARPSMITH_RETURN_IF_ERROR(
          Annotate(encode(argument.tensor_map(), At(i)), fmt::format("argument {} (tensor_map)", i)));
    }
    pointers_[i] = At(i);
  }
  return pointers_.data();
}

}  // namespace warpsmith::executor
