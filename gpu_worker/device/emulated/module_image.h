// A candidate's shared object, prepared so that the executor places its shared variables itself. They are thread-local
// variables of the initial-exec model: the code finds each through a slot that holds its distance from the thread
// pointer. Preparing takes the thread-local segment and the relocations of those slots out of the file; the loader's
// user fills the slots in.
// Threading: pure. Units: bytes. Errors: ResourceExhausted where the static variables are out of all proportion,
// InvalidArgument where the file is not of that form; the file is a model's, so
// everything in it is checked before it is used.
// Source of the method: ELF-64 and its thread-local storage ABI for x86-64.
#ifndef WARPSMITH_GPU_WORKER_DEVICE_EMULATED_MODULE_IMAGE_H_
#define WARPSMITH_GPU_WORKER_DEVICE_EMULATED_MODULE_IMAGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/status.h"

namespace warpsmith::device {

struct SharedVariableSlot {
  uint64_t address = 0;  // of the slot, before relocation
  bool dynamic = false;  // the launch's dynamic array; else a static variable at `offset`
  uint64_t offset = 0;
};

struct ModuleImage {
  std::string bytes;
  std::vector<SharedVariableSlot> slots;
  uint64_t static_shared_bytes = 0;  // of all kernels of the module together
  uint64_t shared_alignment = 1;
};

absl::StatusOr<ModuleImage> PrepareModule(std::string file);

}  // namespace warpsmith::device

#endif  // WARPSMITH_GPU_WORKER_DEVICE_EMULATED_MODULE_IMAGE_H_
