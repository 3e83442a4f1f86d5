// CUDA's keywords as the host compiler takes them, and the macros the other headers are written with.
#ifndef WARPSMITH_EMULATED_KEYWORDS_H_
#define WARPSMITH_EMULATED_KEYWORDS_H_

#define WARPSMITH_TEXT_(...) #__VA_ARGS__
#define WARPSMITH_TEXT(...) WARPSMITH_TEXT_(__VA_ARGS__)
#define WARPSMITH_PRAGMA_(...) _Pragma(#__VA_ARGS__)
#define WARPSMITH_PRAGMA(...) WARPSMITH_PRAGMA_(__VA_ARGS__)
// An error at compile time that the compiler's caller recognises.
#define WARPSMITH_GPU_ONLY(...) WARPSMITH_PRAGMA(GCC error WARPSMITH_TEXT(WARPSMITH_NEEDS_GPU __VA_ARGS__))

// A function of CUDA's: a template, so that a candidate's own function of that signature is the better match.
#define WARPSMITH_FUNCTION   \
  template <typename = void> \
  __attribute__((always_inline)) inline

#define __global__
#define __device__
#define __host__
#define __forceinline__ __attribute__((always_inline)) inline
#define __noinline__ __attribute__((noinline))
#define __inline_hint__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...) WARPSMITH_GPU_ONLY(thread block clusters)
#define __grid_constant__
#define __managed__ WARPSMITH_GPU_ONLY(managed variables)
#define __shared__ thread_local
#define __align__(...) __attribute__((aligned(__VA_ARGS__)))
#define __builtin_align__(...) __attribute__((aligned(__VA_ARGS__)))
#define __nv_pure__ __attribute__((pure))
// The host compiler refuses the keyword in the middle of a declaration, where CUDA's takes it.
#define alignas(...) __attribute__((aligned(__VA_ARGS__)))
// Constants have a section each, so that const and other variables mix and none is taken for a module's state.
#define __constant__ __attribute__((section(".warpsmith_constant." WARPSMITH_TEXT(__COUNTER__))))

#ifndef NULL
#define NULL __null
#endif
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef long clock_t;

#define __builtin_assume(...) ((void)0)
#define __builtin_assume__(...) ((void)0)

namespace warpsmith_emulated {

template <typename T>
struct Identity {
  typedef T type;
};
// A parameter that takes no part in deduction.
template <typename T>
using NoDeduction = typename Identity<T>::type;

template <typename T>
struct RemoveReference {
  typedef T type;
};
template <typename T>
struct RemoveReference<T&> {
  typedef T type;
};
template <typename T>
struct RemoveReference<T&&> {
  typedef T type;
};
template <typename T>
struct RemoveConst {
  typedef T type;
};
template <typename T>
struct RemoveConst<const T> {
  typedef T type;
};

template <typename To, typename From>
__attribute__((always_inline)) inline To BitCast(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "bit patterns of different sizes");
  To to;
  __builtin_memcpy(&to, &from, sizeof(To));
  return to;
}

}  // namespace warpsmith_emulated

// CUDA's functions live here and are seen everywhere, so that ::name is the candidate's own where it has one.
namespace warpsmith_cuda {}
using namespace warpsmith_cuda;

// NVRTC knows these two without a header.
namespace std {
template <typename T>
constexpr typename warpsmith_emulated::RemoveReference<T>::type&& move(T&& value) noexcept {
  return static_cast<typename warpsmith_emulated::RemoveReference<T>::type&&>(value);
}
template <typename T>
constexpr T&& forward(typename warpsmith_emulated::RemoveReference<T>::type& value) noexcept {
  return static_cast<T&&>(value);
}
template <typename T>
constexpr T&& forward(typename warpsmith_emulated::RemoveReference<T>::type&& value) noexcept {
  return static_cast<T&&>(value);
}
}  // namespace std

#endif  // WARPSMITH_EMULATED_KEYWORDS_H_
