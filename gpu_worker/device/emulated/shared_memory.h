// A block's shared memory: the module's static variables and the launch's dynamic array, each ending at an unmapped
// page. One block's contents are in place at a time; others are kept aside.
// Threading: one thread. Units: bytes.
#ifndef WARPSMITH_GPU_WORKER_DEVICE_EMULATED_SHARED_MEMORY_H_
#define WARPSMITH_GPU_WORKER_DEVICE_EMULATED_SHARED_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/status.h"

namespace warpsmith::device {

class SharedMemory {
 public:
  // ResourceExhausted where the memory cannot be mapped.
  static absl::StatusOr<std::unique_ptr<SharedMemory>> Create(size_t static_bytes, size_t static_alignment,
                                                              size_t max_dynamic_bytes);

  // Sets the size of the dynamic array, at most max_dynamic_bytes.
  void Resize(size_t dynamic_bytes);
  char* static_memory() const { return static_.begin; }
  char* dynamic_memory() const { return dynamic_.begin; }
  size_t bytes() const { return static_.bytes + dynamic_.bytes; }

  void Fill(uint32_t pattern);
  void Save(std::vector<char>& to) const;
  void Restore(const std::vector<char>& from);

 private:
  struct Area {
    char* end = nullptr;  // an unmapped page starts here
    char* begin = nullptr;
    size_t bytes = 0;  // from begin to end
  };
  SharedMemory() = default;
  static absl::StatusOr<Area> Map(size_t bytes);
  static void Place(Area& area, size_t bytes, size_t alignment);

  Area static_;
  Area dynamic_;
};

}  // namespace warpsmith::device

#endif  // WARPSMITH_GPU_WORKER_DEVICE_EMULATED_SHARED_MEMORY_H_
