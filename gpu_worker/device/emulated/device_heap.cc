#include "gpu_worker/device/emulated/device_heap.h"

#include <sys/mman.h>

#include <cstdint>

namespace warpsmith::device {

struct alignas(16) DeviceHeap::Header {
  static constexpr uint32_t kHandedOut = 0x48454150;
  Header* next;
  uint32_t size_class;
  uint32_t mark;
};

void* DeviceHeap::Allocate(size_t bytes) {
  if (bytes == 0 || bytes > kBytes) return nullptr;
  if (arena_ == nullptr) {
    void* mapped = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    arena_ = static_cast<char*>(mapped);
  }
  size_t room = 32;
  uint32_t size_class = 0;
  while (room < bytes) {
    room *= 2;
    ++size_class;
  }
  size_t whole = sizeof(Header) + room;
  Header* header = free_[size_class];
  if (header != nullptr) {
    free_[size_class] = header->next;
  } else {
    if (kBytes - used_ < whole) return nullptr;
    header = reinterpret_cast<Header*>(arena_ + used_);
    used_ += whole;
  }
  *header = Header{nullptr, size_class, Header::kHandedOut};
  return header + 1;
}

void DeviceHeap::Release(void* pointer) {
  char* at = static_cast<char*>(pointer);
  if (arena_ == nullptr || at < arena_ + sizeof(Header) || at >= arena_ + used_) return;
  if (reinterpret_cast<uintptr_t>(at) % alignof(Header) != 0) return;
  Header* header = static_cast<Header*>(pointer) - 1;
  if (header->mark != Header::kHandedOut || header->size_class >= kClasses) return;
  header->mark = 0;
  header->next = free_[header->size_class];
  free_[header->size_class] = header;
}

void DeviceHeap::Clear() {
  used_ = 0;
  free_.fill(nullptr);
}

}  // namespace warpsmith::device
