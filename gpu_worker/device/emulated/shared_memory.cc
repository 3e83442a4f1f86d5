#include "gpu_worker/device/emulated/shared_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "gpu_worker/device/emulated/page_size.h"

namespace warpsmith::device {
namespace {

// Of the static variables' start and the dynamic array's: enough for every vector type and for bulk copies.
constexpr size_t kAlignment = 128;

size_t RoundUp(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

absl::StatusOr<SharedMemory::Area> SharedMemory::Map(size_t bytes) {
  size_t usable = RoundUp(std::max<size_t>(bytes, 1), kPage);
  void* mapped = mmap(nullptr, usable + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED || mprotect(static_cast<char*>(mapped) + kPage, usable, PROT_READ | PROT_WRITE) != 0) {
    return ResourceExhausted(fmt::format("no memory for {} bytes of shared memory", bytes));
  }
  Area area;
  area.end = static_cast<char*>(mapped) + kPage + usable;
  Place(area, 0, kAlignment);
  return area;
}

void SharedMemory::Place(Area& area, size_t bytes, size_t alignment) {
  area.bytes = RoundUp(bytes, alignment);
  area.begin = area.end - area.bytes;
}

absl::StatusOr<std::unique_ptr<SharedMemory>> SharedMemory::Create(size_t static_bytes, size_t static_alignment,
                                                                   size_t max_dynamic_bytes) {
  auto memory = std::unique_ptr<SharedMemory>(new SharedMemory);
  WARPSMITH_ASSIGN_OR_RETURN(memory->static_, Map(static_bytes));
  Place(memory->static_, static_bytes, std::max(kAlignment, static_alignment));
  WARPSMITH_ASSIGN_OR_RETURN(memory->dynamic_, Map(max_dynamic_bytes));
  return memory;
}

void SharedMemory::Resize(size_t dynamic_bytes) { Place(dynamic_, dynamic_bytes, kAlignment); }

void SharedMemory::Fill(uint32_t pattern) {
  for (const Area* area : {&static_, &dynamic_}) {
    auto* words = reinterpret_cast<uint32_t*>(area->begin);
    std::fill(words, words + area->bytes / sizeof(uint32_t), pattern);
  }
}

void SharedMemory::Save(std::vector<char>& to) const {
  to.resize(bytes());
  if (static_.bytes > 0) std::memcpy(to.data(), static_.begin, static_.bytes);
  if (dynamic_.bytes > 0) std::memcpy(to.data() + static_.bytes, dynamic_.begin, dynamic_.bytes);
}

void SharedMemory::Restore(const std::vector<char>& from) {
  if (from.size() != bytes()) return;
  if (static_.bytes > 0) std::memcpy(static_.begin, from.data(), static_.bytes);
  if (dynamic_.bytes > 0) std::memcpy(dynamic_.begin, from.data() + static_.bytes, dynamic_.bytes);
}

}  // namespace warpsmith::device
