#include "gpu_worker/executor/cuda/host_memory_guard.h"

#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdint>

namespace {

std::atomic<bool> guarding{false};

constexpr unsigned long kInitialize = 0x30000001;
constexpr uint64_t kDisableHmm = 1;

struct InitializeParameters {
  alignas(8) uint64_t flags;
  uint32_t status;
};

int Forward(int descriptor, unsigned long request, void* argument) {
  return static_cast<int>(syscall(SYS_ioctl, descriptor, request, argument));
}

}  // namespace

// Takes the C library's place for every library of the process.
extern "C" int ioctl(int descriptor, unsigned long request, ...) noexcept {
  va_list rest;
  va_start(rest, request);
  void* argument = va_arg(rest, void*);
  va_end(rest);
  if (!guarding || request != kInitialize || argument == nullptr) return Forward(descriptor, request, argument);
  auto* parameters = static_cast<InitializeParameters*>(argument);
  const uint64_t wanted = parameters->flags;
  parameters->flags = wanted | kDisableHmm;
  int result = Forward(descriptor, request, argument);
  // A memory manager that does not know the flag takes the call without it.
  if (result != 0 || parameters->status != 0) {
    parameters->flags = wanted;
    parameters->status = 0;
    result = Forward(descriptor, request, argument);
  }
  return result;
}

namespace warpsmith::executor {

void KeepGpuOutOfHostMemory() { guarding = true; }

}  // namespace warpsmith::executor
