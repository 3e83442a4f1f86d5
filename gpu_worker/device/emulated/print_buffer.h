// printf of device code: what is printed first is kept up to a bound, the rest is counted.
// Threading: one thread. Units: bytes.
#ifndef WARPSMITH_GPU_WORKER_DEVICE_EMULATED_PRINT_BUFFER_H_
#define WARPSMITH_GPU_WORKER_DEVICE_EMULATED_PRINT_BUFFER_H_

#include <cstdarg>
#include <cstddef>
#include <cstdint>

namespace warpsmith::device {

class PrintBuffer {
 public:
  static constexpr size_t kBytes = 2048;

  // The number of characters, or -1; as printf.
  int Print(const char* format, va_list arguments);
  const char* text() const { return text_; }  // ends with a NUL
  size_t size() const { return size_; }
  uint64_t dropped() const { return dropped_; }
  void Clear();

 private:
  char text_[kBytes + 1] = {};
  size_t size_ = 0;
  uint64_t dropped_ = 0;
};

}  // namespace warpsmith::device

#endif  // WARPSMITH_GPU_WORKER_DEVICE_EMULATED_PRINT_BUFFER_H_
