// Makes a kernel callable by the executor: a descriptor that can be read out of the file, and a function that unpacks
// the arguments and runs the kernel for the current emulated thread.
#ifndef WARPSMITH_EMULATED_KERNEL_GLUE_H_
#define WARPSMITH_EMULATED_KERNEL_GLUE_H_

#include "device_table.h"
#include "keywords.h"

namespace warpsmith_emulated {

enum Kind : unsigned { kUnknownKind, kPointerKind, kIntegerKind, kFloatKind, kStructureKind };

template <typename T>
struct KindOf {
  static constexpr unsigned value = __is_enum(T) ? kIntegerKind : kStructureKind;
};
template <typename T>
struct KindOf<T*> {
  static constexpr unsigned value = kPointerKind;
};
#define WARPSMITH_KIND(type, kind)          \
  template <>                               \
  struct KindOf<type> {                     \
    static constexpr unsigned value = kind; \
  };
WARPSMITH_KIND(bool, kIntegerKind)
WARPSMITH_KIND(char, kIntegerKind)
WARPSMITH_KIND(signed char, kIntegerKind)
WARPSMITH_KIND(unsigned char, kIntegerKind)
WARPSMITH_KIND(short, kIntegerKind)
WARPSMITH_KIND(unsigned short, kIntegerKind)
WARPSMITH_KIND(int, kIntegerKind)
WARPSMITH_KIND(unsigned, kIntegerKind)
WARPSMITH_KIND(long, kIntegerKind)
WARPSMITH_KIND(unsigned long, kIntegerKind)
WARPSMITH_KIND(long long, kIntegerKind)
WARPSMITH_KIND(unsigned long long, kIntegerKind)
WARPSMITH_KIND(wchar_t, kIntegerKind)
WARPSMITH_KIND(char16_t, kIntegerKind)
WARPSMITH_KIND(char32_t, kIntegerKind)
WARPSMITH_KIND(float, kFloatKind)
WARPSMITH_KIND(double, kFloatKind)

template <typename... Parameters>
constexpr KernelDescriptor Describe(void (*)(Parameters...)) {
  static_assert(sizeof...(Parameters) <= kMaxParameters, "a kernel takes at most 64 parameters here");
  return KernelDescriptor{
      kKernelMagic,
      sizeof...(Parameters),
      0,
      1024,
      {{KindOf<typename RemoveConst<Parameters>::type>::value, static_cast<unsigned>(sizeof(Parameters))}...}};
}

template <int... Index>
struct Sequence {};
template <typename... Parameters, int... Index>
__attribute__((always_inline)) inline void InvokeWith(void (*kernel)(Parameters...), void** arguments,
                                                      Sequence<Index...>) {
  (void)arguments;
  kernel(*static_cast<typename RemoveConst<Parameters>::type*>(arguments[Index])...);
}
template <typename... Parameters>
__attribute__((always_inline)) inline void Invoke(void (*kernel)(Parameters...), void** arguments) {
  InvokeWith(kernel, arguments, Sequence<__integer_pack(sizeof...(Parameters))...>());
}

}  // namespace warpsmith_emulated

#define WARPSMITH_EMULATED_KERNEL(index, ...)                                                               \
  extern "C" __attribute__((visibility("default"), used))                                                   \
  const ::warpsmith_emulated::KernelDescriptor warpsmith_kernel_##index;                                    \
  constexpr ::warpsmith_emulated::KernelDescriptor warpsmith_kernel_##index =                               \
      ::warpsmith_emulated::Describe(static_cast<decltype(&::__VA_ARGS__)>(nullptr));                         \
  extern "C" __attribute__((visibility("default"), used)) void warpsmith_invoke_##index(void** arguments) { \
    ::warpsmith_emulated::Invoke(&::__VA_ARGS__, arguments);                                                  \
  }

#endif  // WARPSMITH_EMULATED_KERNEL_GLUE_H_
