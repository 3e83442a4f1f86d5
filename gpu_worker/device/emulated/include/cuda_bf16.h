// bfloat16: __nv_bfloat16 and __nv_bfloat162.
// Source of the names and definitions: CUDA Math API.
#ifndef WARPSMITH_EMULATED_CUDA_BF16_H_
#define WARPSMITH_EMULATED_CUDA_BF16_H_

#include "warpsmith/atomics.h"
#include "warpsmith/half_types.h"
#include "warpsmith/kernel_glue.h"
#include "warpsmith/math_special.h"
#include "warpsmith/warp.h"

WARPSMITH_HALF_TYPE(__nv_bfloat16, __nv_bfloat162, warpsmith_emulated::BrainFormat, __nv_bfloat16_raw,
                    __nv_bfloat162_raw)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#define WARPSMITH_H __nv_bfloat16
#define WARPSMITH_H2 __nv_bfloat162
#define WARPSMITH_FORMAT warpsmith_emulated::BrainFormat
#include "warpsmith/half_functions.inc"
#undef WARPSMITH_H
#undef WARPSMITH_H2
#undef WARPSMITH_FORMAT

// Conversions and pairs under this type's own names.
WARPSMITH_FUNCTION __nv_bfloat16 __double2bfloat16(double a) { return __nv_bfloat16(a); }
WARPSMITH_FUNCTION __nv_bfloat16 __float2bfloat16(float a) { return __nv_bfloat16(a); }
WARPSMITH_FUNCTION float __bfloat162float(__nv_bfloat16 a) { return warpsmith_emulated::Wide(a); }
WARPSMITH_FUNCTION __nv_bfloat16 __float2bfloat16_rn(float a) {
  return warpsmith_emulated::Bits(
      warpsmith_emulated::NarrowDirected<warpsmith_emulated::BrainFormat>(a, warpsmith_emulated::kNearest),
      __nv_bfloat16());
}
WARPSMITH_FUNCTION __nv_bfloat16 __float2bfloat16_rz(float a) {
  return warpsmith_emulated::Bits(
      warpsmith_emulated::NarrowDirected<warpsmith_emulated::BrainFormat>(a, warpsmith_emulated::kTowardsZero),
      __nv_bfloat16());
}
WARPSMITH_FUNCTION __nv_bfloat16 __float2bfloat16_rd(float a) {
  return warpsmith_emulated::Bits(
      warpsmith_emulated::NarrowDirected<warpsmith_emulated::BrainFormat>(a, warpsmith_emulated::kDown),
      __nv_bfloat16());
}
WARPSMITH_FUNCTION __nv_bfloat16 __float2bfloat16_ru(float a) {
  return warpsmith_emulated::Bits(
      warpsmith_emulated::NarrowDirected<warpsmith_emulated::BrainFormat>(a, warpsmith_emulated::kUp), __nv_bfloat16());
}
#define WARPSMITH_CONVERT(name, integer, mode_suffix, mode)                                               \
  WARPSMITH_FUNCTION integer __bfloat162##name##_##mode_suffix(__nv_bfloat16 a) {                         \
    return warpsmith_emulated::ToInteger<integer>(warpsmith_emulated::Wide(a), warpsmith_emulated::mode); \
  }                                                                                                       \
  WARPSMITH_FUNCTION __nv_bfloat16 __##name##2bfloat16_##mode_suffix(integer a) {                         \
    return warpsmith_emulated::Bits(warpsmith_emulated::NarrowDirected<warpsmith_emulated::BrainFormat>(  \
                                        static_cast<double>(a), warpsmith_emulated::mode),                \
                                    __nv_bfloat16());                                                     \
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
WARPSMITH_FUNCTION __nv_bfloat162 __float2bfloat162_rn(float a) {
  return __nv_bfloat162(__nv_bfloat16(a), __nv_bfloat16(a));
}
WARPSMITH_FUNCTION __nv_bfloat162 __floats2bfloat162_rn(float a, float b) {
  return __nv_bfloat162(__nv_bfloat16(a), __nv_bfloat16(b));
}
WARPSMITH_FUNCTION __nv_bfloat162 __float22bfloat162_rn(float2 a) {
  return __nv_bfloat162(__nv_bfloat16(a.x), __nv_bfloat16(a.y));
}
WARPSMITH_FUNCTION float2 __bfloat1622float2(__nv_bfloat162 a) {
  return float2{warpsmith_emulated::Wide(a.x), warpsmith_emulated::Wide(a.y)};
}
WARPSMITH_FUNCTION __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return __nv_bfloat162(a, a); }
WARPSMITH_FUNCTION __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) {
  return __nv_bfloat162(a.x, b.x);
}
WARPSMITH_FUNCTION __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) {
  return __nv_bfloat162(a.y, b.y);
}
WARPSMITH_FUNCTION __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
WARPSMITH_FUNCTION __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
WARPSMITH_FUNCTION __nv_bfloat162 __high2bfloat162(__nv_bfloat162 a) { return __nv_bfloat162(a.y, a.y); }
WARPSMITH_FUNCTION __nv_bfloat162 __low2bfloat162(__nv_bfloat162 a) { return __nv_bfloat162(a.x, a.x); }
WARPSMITH_FUNCTION __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
WARPSMITH_FUNCTION __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
WARPSMITH_FUNCTION short __bfloat16_as_short(__nv_bfloat16 a) { return static_cast<short>(a.__x); }
WARPSMITH_FUNCTION unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) { return a.__x; }
WARPSMITH_FUNCTION __nv_bfloat16 __short_as_bfloat16(short a) {
  return warpsmith_emulated::Bits(static_cast<unsigned short>(a), __nv_bfloat16());
}
WARPSMITH_FUNCTION __nv_bfloat16 __ushort_as_bfloat16(unsigned short a) {
  return warpsmith_emulated::Bits(a, __nv_bfloat16());
}

#endif  // WARPSMITH_EMULATED_CUDA_BF16_H_
