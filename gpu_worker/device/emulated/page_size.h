// The size of a page of memory, to which guards around what a candidate may write are laid out.
// Threading: a constant. Units: bytes.
#ifndef WARPSMITH_GPU_WORKER_DEVICE_EMULATED_PAGE_SIZE_H_
#define WARPSMITH_GPU_WORKER_DEVICE_EMULATED_PAGE_SIZE_H_

#include <cstddef>

namespace warpsmith::device {

constexpr size_t kPage = 4096;

}  // namespace warpsmith::device

#endif  // WARPSMITH_GPU_WORKER_DEVICE_EMULATED_PAGE_SIZE_H_
