#include "gpu_worker/device/emulated/print_buffer.h"

#include <algorithm>
#include <cstdio>

namespace warpsmith::device {

int PrintBuffer::Print(const char* format, va_list arguments) {
  if (size_ == kBytes) {
    // Nothing of it would be kept: the format is not even looked at.
    ++dropped_;
    return 0;
  }
  int wanted = std::vsnprintf(text_ + size_, kBytes - size_ + 1, format, arguments);
  if (wanted < 0) return wanted;
  size_t kept = std::min(static_cast<size_t>(wanted), kBytes - size_);
  size_ += kept;
  dropped_ += static_cast<size_t>(wanted) - kept;
  return wanted;
}

void PrintBuffer::Clear() {
  size_ = 0;
  dropped_ = 0;
  text_[0] = '\0';
}

}  // namespace warpsmith::device
