// IEEE half precision: __half and __half2.
// Source of the names and definitions: CUDA Math API.
#ifndef WARPSMITH_EMULATED_CUDA_FP16_H_
#define WARPSMITH_EMULATED_CUDA_FP16_H_

#include "warpsmith/atomics.h"
#include "warpsmith/half_types.h"
#include "warpsmith/kernel_glue.h"
#include "warpsmith/math_special.h"
#include "warpsmith/warp.h"

WARPSMITH_HALF_TYPE(__half, __half2, warpsmith_emulated::HalfFormat, __half_raw, __half2_raw)
typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half nv_half;
typedef __half2 nv_half2;

#define WARPSMITH_H __half
#define WARPSMITH_H2 __half2
#define WARPSMITH_FORMAT warpsmith_emulated::HalfFormat
#include "warpsmith/half_functions.inc"
#undef WARPSMITH_H
#undef WARPSMITH_H2
#undef WARPSMITH_FORMAT

// Conversions and pairs under this type's own names.
WARPSMITH_FUNCTION __half __double2half(double a) { return __half(a); }
WARPSMITH_FUNCTION __half __float2half(float a) { return __half(a); }
WARPSMITH_FUNCTION float __half2float(__half a) { return warpsmith_emulated::Wide(a); }
WARPSMITH_FUNCTION __half __float2half_rn(float a) {
  return warpsmith_emulated::Bits(
      warpsmith_emulated::NarrowDirected<warpsmith_emulated::HalfFormat>(a, warpsmith_emulated::kNearest), __half());
}
WARPSMITH_FUNCTION __half __float2half_rz(float a) {
  return warpsmith_emulated::Bits(
      warpsmith_emulated::NarrowDirected<warpsmith_emulated::HalfFormat>(a, warpsmith_emulated::kTowardsZero),
      __half());
}
WARPSMITH_FUNCTION __half __float2half_rd(float a) {
  return warpsmith_emulated::Bits(
      warpsmith_emulated::NarrowDirected<warpsmith_emulated::HalfFormat>(a, warpsmith_emulated::kDown), __half());
}
WARPSMITH_FUNCTION __half __float2half_ru(float a) {
  return warpsmith_emulated::Bits(
      warpsmith_emulated::NarrowDirected<warpsmith_emulated::HalfFormat>(a, warpsmith_emulated::kUp), __half());
}
#define WARPSMITH_CONVERT(name, integer, mode_suffix, mode)                                               \
  WARPSMITH_FUNCTION integer __half2##name##_##mode_suffix(__half a) {                                    \
    return warpsmith_emulated::ToInteger<integer>(warpsmith_emulated::Wide(a), warpsmith_emulated::mode); \
  }                                                                                                       \
  WARPSMITH_FUNCTION __half __##name##2half_##mode_suffix(integer a) {                                    \
    return warpsmith_emulated::Bits(warpsmith_emulated::NarrowDirected<warpsmith_emulated::HalfFormat>(   \
                                        static_cast<double>(a), warpsmith_emulated::mode),                \
                                    __half());                                                            \
  }
#define WARPSMITH_CONVERT_ALL(name, integer)         \
  WARPSMITH_CONVERT(name, integer, rn, kNearest)     \
  WARPSMITH_CONVERT(name, integer, rz, kTowardsZero) \
  WARPSMITH_CONVERT(name, integer, rd, kDown)        \
  WARPSMITH_CONVERT(name, integer, ru, kUp)
WARPSMITH_CONVERT_ALL(int, int)
WARPSMITH_CONVERT_ALL(uint, unsigned)
WARPSMITH_CONVERT_ALL(short, short)
WARPSMITH_CONVERT_ALL(ushort, unsigned short)
WARPSMITH_CONVERT_ALL(ll, long long)
WARPSMITH_CONVERT_ALL(ull, unsigned long long)
#undef WARPSMITH_CONVERT_ALL
#undef WARPSMITH_CONVERT
WARPSMITH_FUNCTION __half2 __float2half2_rn(float a) { return __half2(__half(a), __half(a)); }
WARPSMITH_FUNCTION __half2 __floats2half2_rn(float a, float b) { return __half2(__half(a), __half(b)); }
WARPSMITH_FUNCTION __half2 __float22half2_rn(float2 a) { return __half2(__half(a.x), __half(a.y)); }
WARPSMITH_FUNCTION float2 __half22float2(__half2 a) {
  return float2{warpsmith_emulated::Wide(a.x), warpsmith_emulated::Wide(a.y)};
}
WARPSMITH_FUNCTION __half2 __half2half2(__half a) { return __half2(a, a); }
WARPSMITH_FUNCTION __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
WARPSMITH_FUNCTION __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
WARPSMITH_FUNCTION __half __high2half(__half2 a) { return a.y; }
WARPSMITH_FUNCTION __half __low2half(__half2 a) { return a.x; }
WARPSMITH_FUNCTION __half2 __high2half2(__half2 a) { return __half2(a.y, a.y); }
WARPSMITH_FUNCTION __half2 __low2half2(__half2 a) { return __half2(a.x, a.x); }
WARPSMITH_FUNCTION __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
WARPSMITH_FUNCTION __half2 make_half2(__half a, __half b) { return __half2(a, b); }
WARPSMITH_FUNCTION short __half_as_short(__half a) { return static_cast<short>(a.__x); }
WARPSMITH_FUNCTION unsigned short __half_as_ushort(__half a) { return a.__x; }
WARPSMITH_FUNCTION __half __short_as_half(short a) {
  return warpsmith_emulated::Bits(static_cast<unsigned short>(a), __half());
}
WARPSMITH_FUNCTION __half __ushort_as_half(unsigned short a) { return warpsmith_emulated::Bits(a, __half()); }

#endif  // WARPSMITH_EMULATED_CUDA_FP16_H_
