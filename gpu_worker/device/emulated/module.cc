#include "gpu_worker/device/emulated/module.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "gpu_worker/device/emulated/page_size.h"

namespace warpsmith::device {
namespace {

constexpr std::string_view kInvoke = "warpsmith_invoke_";

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> Module::Load(const ModuleImage& image, int memory_file) {
  for (size_t at = 0; at < image.bytes.size();) {
    ssize_t written = write(memory_file, image.bytes.data() + at, image.bytes.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return Internal(ErrnoMessage("cannot write the module's memory file", errno));
    at += static_cast<size_t>(written);
  }
  std::string path = fmt::format("/proc/self/fd/{}", memory_file);
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* words = dlerror();
    return FailedPrecondition(fmt::format("the compiled module does not load: {}", words == nullptr ? "" : words));
  }
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) {
    return FailedPrecondition("the compiled module does not load: no link map");
  }
  return std::unique_ptr<Module>(new Module(handle, map->l_addr, image.slots));
}

absl::StatusOr<Kernel> Module::Find(const std::string& symbol) const {
  if (symbol.compare(0, kInvoke.size(), kInvoke) != 0) {
    return InvalidArgument(fmt::format("{} is not a kernel's symbol", symbol));
  }
  Kernel kernel;
  kernel.invoke = reinterpret_cast<void (*)(void**)>(dlsym(handle_, symbol.c_str()));
  std::string descriptor = "warpsmith_kernel_" + symbol.substr(kInvoke.size());
  kernel.descriptor = static_cast<const warpsmith_emulated::KernelDescriptor*>(dlsym(handle_, descriptor.c_str()));
  if (kernel.invoke == nullptr || kernel.descriptor == nullptr ||
      kernel.descriptor->magic != warpsmith_emulated::kKernelMagic ||
      kernel.descriptor->parameter_count > warpsmith_emulated::kMaxParameters) {
    return NotFound(fmt::format("the compiled module has no kernel {}", symbol));
  }
  return kernel;
}

void Module::PlaceSharedVariables(char* static_memory, char* dynamic_memory) {
  uintptr_t thread_pointer = reinterpret_cast<uintptr_t>(__builtin_thread_pointer());
  for (const SharedVariableSlot& slot : slots_) {
    uintptr_t address = base_ + slot.address;
    if (!writable_) {
      // The loader has made relocated data read-only.
      mprotect(reinterpret_cast<void*>(address & ~(kPage - 1)), kPage, PROT_READ | PROT_WRITE);
    }
    uintptr_t place = reinterpret_cast<uintptr_t>(slot.dynamic ? dynamic_memory : static_memory + slot.offset);
    *reinterpret_cast<uintptr_t*>(address) = place - thread_pointer;
  }
  writable_ = true;
}

}  // namespace warpsmith::device
