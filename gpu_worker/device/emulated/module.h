// A loaded candidate: its kernels' entry points and the slots of its shared variables. Loading runs whatever the file
// has as constructors, so only a locked-down process loads one.
// Threading: one thread.
#ifndef WARPSMITH_GPU_WORKER_DEVICE_EMULATED_MODULE_H_
#define WARPSMITH_GPU_WORKER_DEVICE_EMULATED_MODULE_H_

#include <memory>
#include <string>

#include "common/status.h"
#include "gpu_worker/device/emulated/include/warpsmith/device_table.h"
#include "gpu_worker/device/emulated/module_image.h"

namespace warpsmith::device {

struct Kernel {
  void (*invoke)(void** arguments) = nullptr;
  const warpsmith_emulated::KernelDescriptor* descriptor = nullptr;
};

class Module {
 public:
  // Writes the image into `memory_file` (an empty memfd) and loads it from there. FailedPrecondition with the loader's
  // words; the module stays loaded.
  static absl::StatusOr<std::unique_ptr<Module>> Load(const ModuleImage& image, int memory_file);

  // `symbol` is warpsmith_invoke_<i>.
  absl::StatusOr<Kernel> Find(const std::string& symbol) const;

  // Points the slots at the static variables and the dynamic array.
  void PlaceSharedVariables(char* static_memory, char* dynamic_memory);

 private:
  Module(void* handle, uintptr_t base, std::vector<SharedVariableSlot> slots)
      : handle_(handle), base_(base), slots_(std::move(slots)) {}

  void* handle_;
  uintptr_t base_;
  std::vector<SharedVariableSlot> slots_;
  bool writable_ = false;
};

}  // namespace warpsmith::device

#endif  // WARPSMITH_GPU_WORKER_DEVICE_EMULATED_MODULE_H_
