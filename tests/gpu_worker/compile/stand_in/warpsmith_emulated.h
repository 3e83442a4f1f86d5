// The least that a candidate needs to be compiled for the host: stands for the emulation headers where a test is about
// the compiler and not about them.
#ifndef WARPSMITH_EMULATED_H_
#define WARPSMITH_EMULATED_H_

#define __global__
#define __device__
#define __shared__ thread_local
#define __constant__ __attribute__((section(".warpsmith_constant")))
#define __launch_bounds__(...)
#define asm _Pragma("GCC error \"WARPSMITH_NEEDS_GPU inline assembly\"")

struct Index {
  unsigned x, y, z;
};
extern "C" Index warpsmith_stand_in_thread;
#define threadIdx warpsmith_stand_in_thread

namespace warpsmith_stand_in {

template <typename T>
struct Kind {
  static constexpr unsigned value = 4;
};
template <typename T>
struct Kind<T*> {
  static constexpr unsigned value = 1;
};
template <>
struct Kind<int> {
  static constexpr unsigned value = 2;
};
template <>
struct Kind<long long> {
  static constexpr unsigned value = 2;
};
template <>
struct Kind<float> {
  static constexpr unsigned value = 3;
};

struct Parameter {
  unsigned kind, size;
};
struct Descriptor {
  unsigned magic, count, shared, threads;
  Parameter parameters[64];
};
template <typename... P>
constexpr Descriptor Describe(void (*)(P...)) {
  return {0x574b4431, sizeof...(P), 0, 1024, {{Kind<P>::value, sizeof(P)}...}};
}
template <typename... P, unsigned... I>
void Call(void (*kernel)(P...), void** arguments) {
  unsigned i = sizeof...(P);
  (void)i;
  kernel(*static_cast<P*>(arguments[--i])...);
}

}  // namespace warpsmith_stand_in

#define WARPSMITH_EMULATED_KERNEL(index, ...)                                                      \
  extern "C" {                                                                                     \
  __attribute__((visibility("default"),                                                            \
                 used)) extern constexpr warpsmith_stand_in::Descriptor warpsmith_kernel_##index = \
      warpsmith_stand_in::Describe(__VA_ARGS__);                                                   \
  __attribute__((visibility("default"), used)) void warpsmith_invoke_##index(void** arguments) {   \
    warpsmith_stand_in::Call(__VA_ARGS__, arguments);                                              \
  }                                                                                                \
  }

#endif  // WARPSMITH_EMULATED_H_
