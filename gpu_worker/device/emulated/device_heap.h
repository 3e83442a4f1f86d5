// malloc and free of device code: an arena of fixed size, handed out in powers of two.
// Threading: one thread. Units: bytes.
#ifndef WARPSMITH_GPU_WORKER_DEVICE_EMULATED_DEVICE_HEAP_H_
#define WARPSMITH_GPU_WORKER_DEVICE_EMULATED_DEVICE_HEAP_H_

#include <array>
#include <cstddef>

namespace warpsmith::device {

class DeviceHeap {
 public:
  static constexpr size_t kBytes = 8u << 20;  // CUDA's default

  // Null where the heap has no room, as on a GPU.
  void* Allocate(size_t bytes);
  // Ignores what the heap has not handed out.
  void Release(void* pointer);
  void Clear();

 private:
  struct Header;
  static constexpr int kClasses = 24;  // 32 bytes to 8 MiB, and more than there can be
  char* arena_ = nullptr;
  size_t used_ = 0;
  std::array<Header*, kClasses> free_{};
};

}  // namespace warpsmith::device

#endif  // WARPSMITH_GPU_WORKER_DEVICE_EMULATED_DEVICE_HEAP_H_
