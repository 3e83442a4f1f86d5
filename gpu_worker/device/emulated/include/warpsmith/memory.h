// Loads and stores with cache hints, copying and filling, the device's heap, and questions about address spaces.
#ifndef WARPSMITH_EMULATED_MEMORY_H_
#define WARPSMITH_EMULATED_MEMORY_H_

#include "device_table.h"
#include "keywords.h"

namespace warpsmith_cuda {

#define WARPSMITH_LOAD(name)        \
  template <typename T>             \
  inline T name(const T* address) { \
    return *address;                \
  }
WARPSMITH_LOAD(__ldg)
WARPSMITH_LOAD(__ldca)
WARPSMITH_LOAD(__ldcg)
WARPSMITH_LOAD(__ldcs)
WARPSMITH_LOAD(__ldlu)
#undef WARPSMITH_LOAD
template <typename T>
inline T __ldcv(const T* address) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return *address;
}
#define WARPSMITH_STORE(name)                                              \
  template <typename T>                                                    \
  inline void name(T* address, warpsmith_emulated::NoDeduction<T> value) { \
    *address = value;                                                      \
  }
WARPSMITH_STORE(__stwb)
WARPSMITH_STORE(__stcg)
WARPSMITH_STORE(__stcs)
WARPSMITH_STORE(__stwt)
#undef WARPSMITH_STORE

WARPSMITH_FUNCTION void* memcpy(void* to, const void* from, size_t bytes) { return __builtin_memcpy(to, from, bytes); }
WARPSMITH_FUNCTION void* memmove(void* to, const void* from, size_t bytes) {
  return __builtin_memmove(to, from, bytes);
}
WARPSMITH_FUNCTION void* memset(void* to, int value, size_t bytes) { return __builtin_memset(to, value, bytes); }
WARPSMITH_FUNCTION int memcmp(const void* a, const void* b, size_t bytes) { return __builtin_memcmp(a, b, bytes); }

WARPSMITH_FUNCTION void* malloc(size_t bytes) { return ::warpsmith_device.allocate(bytes); }
WARPSMITH_FUNCTION void free(void* pointer) { ::warpsmith_device.release(pointer); }

}  // namespace warpsmith_cuda

__attribute__((visibility("hidden"))) void* operator new(size_t bytes) { return ::warpsmith_device.allocate(bytes); }
__attribute__((visibility("hidden"))) void* operator new[](size_t bytes) { return ::warpsmith_device.allocate(bytes); }
__attribute__((visibility("hidden"))) void operator delete(void* pointer) noexcept {
  ::warpsmith_device.release(pointer);
}
__attribute__((visibility("hidden"))) void operator delete[](void* pointer) noexcept {
  ::warpsmith_device.release(pointer);
}
__attribute__((visibility("hidden"))) void operator delete(void* pointer, size_t) noexcept {
  ::warpsmith_device.release(pointer);
}
__attribute__((visibility("hidden"))) void operator delete[](void* pointer, size_t) noexcept {
  ::warpsmith_device.release(pointer);
}
inline void* operator new(size_t, void* place) noexcept { return place; }
inline void* operator new[](size_t, void* place) noexcept { return place; }
inline void operator delete(void*, void*) noexcept {}
inline void operator delete[](void*, void*) noexcept {}

namespace warpsmith_cuda {

WARPSMITH_FUNCTION size_t __cvta_generic_to_shared(const void* pointer) { return reinterpret_cast<size_t>(pointer); }
WARPSMITH_FUNCTION size_t __cvta_generic_to_global(const void* pointer) { return reinterpret_cast<size_t>(pointer); }
WARPSMITH_FUNCTION void* __cvta_shared_to_generic(size_t address) { return reinterpret_cast<void*>(address); }
WARPSMITH_FUNCTION void* __cvta_global_to_generic(size_t address) { return reinterpret_cast<void*>(address); }

}  // namespace warpsmith_cuda

#endif  // WARPSMITH_EMULATED_MEMORY_H_
