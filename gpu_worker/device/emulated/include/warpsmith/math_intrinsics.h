// Fast approximations (here as exact as the C library), arithmetic with a stated rounding, and conversions.
// Source of the definitions: CUDA Math API, intrinsics and type casting.
#ifndef WARPSMITH_EMULATED_MATH_INTRINSICS_H_
#define WARPSMITH_EMULATED_MATH_INTRINSICS_H_

#include "keywords.h"
#include "math.h"

WARPSMITH_FUNCTION float __expf(float x) { return __builtin_expf(x); }
WARPSMITH_FUNCTION float __exp10f(float x) { return __builtin_exp10f(x); }
WARPSMITH_FUNCTION float __logf(float x) { return __builtin_logf(x); }
WARPSMITH_FUNCTION float __log2f(float x) { return __builtin_log2f(x); }
WARPSMITH_FUNCTION float __log10f(float x) { return __builtin_log10f(x); }
WARPSMITH_FUNCTION float __powf(float x, float y) { return __builtin_exp2f(y * __builtin_log2f(x)); }
WARPSMITH_FUNCTION float __sinf(float x) { return __builtin_sinf(x); }
WARPSMITH_FUNCTION float __cosf(float x) { return __builtin_cosf(x); }
WARPSMITH_FUNCTION float __tanf(float x) { return __builtin_tanf(x); }
WARPSMITH_FUNCTION float __tanhf(float x) { return __builtin_tanhf(x); }
WARPSMITH_FUNCTION void __sincosf(float x, float* sine, float* cosine) {
  *sine = __builtin_sinf(x);
  *cosine = __builtin_cosf(x);
}
WARPSMITH_FUNCTION float __fdividef(float x, float y) {
  float magnitude = __builtin_fabsf(y);
  if (magnitude > 8.507059173e37f && magnitude <= 3.402823466e38f) return x * 0.0f;
  return x / y;
}
WARPSMITH_FUNCTION float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
WARPSMITH_FUNCTION float __frsqrt_rn(float x) { return static_cast<float>(1 / __builtin_sqrt(static_cast<double>(x))); }

namespace warpsmith_emulated {

enum Rounding { kNearest, kTowardsZero, kUp, kDown };

inline float Next(float x, float towards) { return __builtin_nextafterf(x, towards); }
inline double Next(double x, double towards) { return __builtin_nextafter(x, towards); }

// `nearest` is the result to nearest and `error` has the sign of what was left over: exact minus nearest.
template <typename T>
inline T Directed(T nearest, double error, Rounding mode) {
  if (error == 0 || error != error || nearest != nearest) return nearest;
  T infinity = static_cast<T>(__builtin_inf());
  bool down = mode == kDown || (mode == kTowardsZero && nearest > 0);
  bool up = mode == kUp || (mode == kTowardsZero && nearest < 0);
  if (down && error < 0) return Next(nearest, -infinity);
  if (up && error > 0) return Next(nearest, infinity);
  return nearest;
}
template <typename T>
inline T Add(T a, T b, Rounding mode) {
  volatile T sum = a + b;
  volatile T b_part = sum - a;
  volatile T a_part = sum - b_part;
  volatile T left_a = a - a_part, left_b = b - b_part;
  return Directed<T>(sum, static_cast<double>(left_a) + static_cast<double>(left_b), mode);
}
inline float FusedMultiplyAdd(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double FusedMultiplyAdd(double a, double b, double c) { return __builtin_fma(a, b, c); }
template <typename T>
inline T Multiply(T a, T b, Rounding mode) {
  volatile T product = a * b;
  return Directed<T>(product, FusedMultiplyAdd(a, b, -product), mode);
}
template <typename T>
inline T Divide(T a, T b, Rounding mode) {
  volatile T quotient = a / b;
  T rest = FusedMultiplyAdd(-quotient, b, a);
  return Directed<T>(quotient, b < 0 ? -rest : rest, mode);
}
inline float Root(float x, Rounding mode) {
  volatile float root = __builtin_sqrtf(x);
  return Directed<float>(root, __builtin_fmaf(-root, root, x), mode);
}
inline double Root(double x, Rounding mode) {
  volatile double root = __builtin_sqrt(x);
  return Directed<double>(root, __builtin_fma(-root, root, x), mode);
}
inline float MultiplyAdd(float a, float b, float c, Rounding mode) {
  float nearest = __builtin_fmaf(a, b, c);
  return Directed<float>(nearest, __builtin_fma(a, b, c) - static_cast<double>(nearest), mode);
}
inline double MultiplyAdd(double a, double b, double c, Rounding mode) {
  double nearest = __builtin_fma(a, b, c);
  long double exact = static_cast<long double>(a) * b + c;
  return Directed<double>(nearest, static_cast<double>(exact - nearest), mode);
}
template <typename Float, typename From>
inline Float FromWide(From value, Rounding mode) {
  Float nearest = static_cast<Float>(value);
  long double error = static_cast<long double>(value) - static_cast<long double>(nearest);
  return Directed<Float>(nearest, static_cast<double>(error), mode);
}
// Out of range saturates. NaN is 0 where a float becomes 32 bits or fewer, and the sign bit alone else, as measured on
// an H200.
template <typename Integer>
inline Integer ToInteger(double value, Rounding mode, bool from_double = false) {
  constexpr bool is_signed = static_cast<Integer>(-1) < static_cast<Integer>(0);
  constexpr int bits = static_cast<int>(sizeof(Integer)) * 8 - (is_signed ? 1 : 0);
  constexpr unsigned long long top = bits == 64 ? ~0ull : (1ull << (bits & 63)) - 1;
  constexpr Integer largest = static_cast<Integer>(top);
  constexpr Integer least = is_signed ? static_cast<Integer>(-largest - 1) : Integer{0};
  if (value != value) {
    if (sizeof(Integer) == 8) return static_cast<Integer>(1ull << 63);
    return from_double && sizeof(Integer) == 4 ? static_cast<Integer>(0x80000000u) : Integer{0};
  }
  double whole = mode == kNearest       ? __builtin_rint(value)
                 : mode == kTowardsZero ? __builtin_trunc(value)
                 : mode == kUp          ? __builtin_ceil(value)
                                        : __builtin_floor(value);
  double limit = 2.0 * static_cast<double>(1ull << (bits - 1));
  if (whole >= limit) return largest;
  if (whole < (is_signed ? -limit : 0.0)) return least;
  return static_cast<Integer>(whole);
}

}  // namespace warpsmith_emulated

namespace warpsmith_cuda {

#define WARPSMITH_ROUNDED(prefix, type, mode_suffix, mode)                                                     \
  WARPSMITH_FUNCTION type __##prefix##add_##mode_suffix(type a, type b) {                                      \
    return warpsmith_emulated::Add(a, b, mode);                                                                \
  }                                                                                                            \
  WARPSMITH_FUNCTION type __##prefix##sub_##mode_suffix(type a, type b) {                                      \
    return warpsmith_emulated::Add(a, -b, mode);                                                               \
  }                                                                                                            \
  WARPSMITH_FUNCTION type __##prefix##mul_##mode_suffix(type a, type b) {                                      \
    return warpsmith_emulated::Multiply(a, b, mode);                                                           \
  }                                                                                                            \
  WARPSMITH_FUNCTION type __##prefix##div_##mode_suffix(type a, type b) {                                      \
    return warpsmith_emulated::Divide(a, b, mode);                                                             \
  }                                                                                                            \
  WARPSMITH_FUNCTION type __##prefix##sqrt_##mode_suffix(type a) { return warpsmith_emulated::Root(a, mode); } \
  WARPSMITH_FUNCTION type __##prefix##rcp_##mode_suffix(type a) {                                              \
    return warpsmith_emulated::Divide(static_cast<type>(1), a, mode);                                          \
  }
#define WARPSMITH_ALL_ROUNDINGS(macro, ...)                                                                     \
  macro(__VA_ARGS__, rn, warpsmith_emulated::kNearest) macro(__VA_ARGS__, rz, warpsmith_emulated::kTowardsZero) \
      macro(__VA_ARGS__, ru, warpsmith_emulated::kUp) macro(__VA_ARGS__, rd, warpsmith_emulated::kDown)
// To nearest needs no correction, and is what kernels use.
#define WARPSMITH_NEAREST(prefix, type)                                        \
  WARPSMITH_FUNCTION type __##prefix##add_rn(type a, type b) {                 \
    volatile type r = a + b;                                                   \
    return r;                                                                  \
  }                                                                            \
  WARPSMITH_FUNCTION type __##prefix##sub_rn(type a, type b) {                 \
    volatile type r = a - b;                                                   \
    return r;                                                                  \
  }                                                                            \
  WARPSMITH_FUNCTION type __##prefix##mul_rn(type a, type b) {                 \
    volatile type r = a * b;                                                   \
    return r;                                                                  \
  }                                                                            \
  WARPSMITH_FUNCTION type __##prefix##div_rn(type a, type b) { return a / b; } \
  WARPSMITH_FUNCTION type __##prefix##sqrt_rn(type a) { return sqrt(a); }      \
  WARPSMITH_FUNCTION type __##prefix##rcp_rn(type a) { return static_cast<type>(1) / a; }
WARPSMITH_NEAREST(f, float)
WARPSMITH_NEAREST(d, double)
WARPSMITH_ROUNDED(f, float, rz, warpsmith_emulated::kTowardsZero)
WARPSMITH_ROUNDED(f, float, ru, warpsmith_emulated::kUp)
WARPSMITH_ROUNDED(f, float, rd, warpsmith_emulated::kDown)
WARPSMITH_ROUNDED(d, double, rz, warpsmith_emulated::kTowardsZero)
WARPSMITH_ROUNDED(d, double, ru, warpsmith_emulated::kUp)
WARPSMITH_ROUNDED(d, double, rd, warpsmith_emulated::kDown)
#undef WARPSMITH_NEAREST
#undef WARPSMITH_ROUNDED

#define WARPSMITH_FMA(name, type, mode_suffix, mode)                     \
  WARPSMITH_FUNCTION type name##_##mode_suffix(type a, type b, type c) { \
    return warpsmith_emulated::MultiplyAdd(a, b, c, mode);               \
  }
WARPSMITH_FUNCTION float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
WARPSMITH_FUNCTION float __fmaf_ieee_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
WARPSMITH_FUNCTION double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
WARPSMITH_FMA(__fmaf, float, rz, warpsmith_emulated::kTowardsZero)
WARPSMITH_FMA(__fmaf, float, ru, warpsmith_emulated::kUp)
WARPSMITH_FMA(__fmaf, float, rd, warpsmith_emulated::kDown)
WARPSMITH_FMA(__fma, double, rz, warpsmith_emulated::kTowardsZero)
WARPSMITH_FMA(__fma, double, ru, warpsmith_emulated::kUp)
WARPSMITH_FMA(__fma, double, rd, warpsmith_emulated::kDown)
#undef WARPSMITH_FMA

#define WARPSMITH_FLOAT_TO_INTEGER(name, type, integer, mode_suffix, mode)     \
  WARPSMITH_FUNCTION integer name##_##mode_suffix(type x) {                    \
    return warpsmith_emulated::ToInteger<integer>(x, mode, sizeof(type) == 8); \
  }
#define WARPSMITH_INTEGER_TO_FLOAT(name, type, source, mode_suffix, mode) \
  WARPSMITH_FUNCTION type name##_##mode_suffix(source x) { return warpsmith_emulated::FromWide<type>(x, mode); }
WARPSMITH_ALL_ROUNDINGS(WARPSMITH_FLOAT_TO_INTEGER, __float2int, float, int)
WARPSMITH_ALL_ROUNDINGS(WARPSMITH_FLOAT_TO_INTEGER, __float2uint, float, unsigned)
WARPSMITH_ALL_ROUNDINGS(WARPSMITH_FLOAT_TO_INTEGER, __float2ll, float, long long)
WARPSMITH_ALL_ROUNDINGS(WARPSMITH_FLOAT_TO_INTEGER, __float2ull, float, unsigned long long)
WARPSMITH_ALL_ROUNDINGS(WARPSMITH_FLOAT_TO_INTEGER, __double2int, double, int)
WARPSMITH_ALL_ROUNDINGS(WARPSMITH_FLOAT_TO_INTEGER, __double2uint, double, unsigned)
WARPSMITH_ALL_ROUNDINGS(WARPSMITH_FLOAT_TO_INTEGER, __double2ll, double, long long)
WARPSMITH_ALL_ROUNDINGS(WARPSMITH_FLOAT_TO_INTEGER, __double2ull, double, unsigned long long)
WARPSMITH_ALL_ROUNDINGS(WARPSMITH_INTEGER_TO_FLOAT, __int2float, float, int)
WARPSMITH_ALL_ROUNDINGS(WARPSMITH_INTEGER_TO_FLOAT, __uint2float, float, unsigned)
WARPSMITH_ALL_ROUNDINGS(WARPSMITH_INTEGER_TO_FLOAT, __ll2float, float, long long)
WARPSMITH_ALL_ROUNDINGS(WARPSMITH_INTEGER_TO_FLOAT, __ull2float, float, unsigned long long)
WARPSMITH_ALL_ROUNDINGS(WARPSMITH_INTEGER_TO_FLOAT, __ll2double, double, long long)
WARPSMITH_ALL_ROUNDINGS(WARPSMITH_INTEGER_TO_FLOAT, __ull2double, double, unsigned long long)
WARPSMITH_ALL_ROUNDINGS(WARPSMITH_INTEGER_TO_FLOAT, __double2float, float, double)
#undef WARPSMITH_FLOAT_TO_INTEGER
#undef WARPSMITH_INTEGER_TO_FLOAT
#undef WARPSMITH_ALL_ROUNDINGS
WARPSMITH_FUNCTION double __int2double_rn(int x) { return x; }
WARPSMITH_FUNCTION double __uint2double_rn(unsigned x) { return x; }

#define WARPSMITH_ROUND_TO(name, type, integer, rounded)                                  \
  WARPSMITH_FUNCTION integer name(type x) {                                               \
    return warpsmith_emulated::ToInteger<integer>(rounded, warpsmith_emulated::kNearest); \
  }
WARPSMITH_ROUND_TO(lroundf, float, long, __builtin_roundf(x))
WARPSMITH_ROUND_TO(lround, float, long, __builtin_roundf(x))
WARPSMITH_ROUND_TO(lround, double, long, __builtin_round(x))
WARPSMITH_ROUND_TO(llroundf, float, long long, __builtin_roundf(x))
WARPSMITH_ROUND_TO(llround, float, long long, __builtin_roundf(x))
WARPSMITH_ROUND_TO(llround, double, long long, __builtin_round(x))
WARPSMITH_ROUND_TO(lrintf, float, long, x)
WARPSMITH_ROUND_TO(lrint, float, long, x)
WARPSMITH_ROUND_TO(lrint, double, long, x)
WARPSMITH_ROUND_TO(llrintf, float, long long, x)
WARPSMITH_ROUND_TO(llrint, float, long long, x)
WARPSMITH_ROUND_TO(llrint, double, long long, x)
#undef WARPSMITH_ROUND_TO

WARPSMITH_FUNCTION int __float_as_int(float x) { return warpsmith_emulated::BitCast<int>(x); }
WARPSMITH_FUNCTION unsigned __float_as_uint(float x) { return warpsmith_emulated::BitCast<unsigned>(x); }
WARPSMITH_FUNCTION float __int_as_float(int x) { return warpsmith_emulated::BitCast<float>(x); }
WARPSMITH_FUNCTION float __uint_as_float(unsigned x) { return warpsmith_emulated::BitCast<float>(x); }
WARPSMITH_FUNCTION long long __double_as_longlong(double x) { return warpsmith_emulated::BitCast<long long>(x); }
WARPSMITH_FUNCTION double __longlong_as_double(long long x) { return warpsmith_emulated::BitCast<double>(x); }
WARPSMITH_FUNCTION int __double2hiint(double x) {
  return static_cast<int>(warpsmith_emulated::BitCast<unsigned long long>(x) >> 32);
}
WARPSMITH_FUNCTION int __double2loint(double x) {
  return static_cast<int>(warpsmith_emulated::BitCast<unsigned long long>(x));
}
WARPSMITH_FUNCTION double __hiloint2double(int high, int low) {
  return warpsmith_emulated::BitCast<double>((static_cast<unsigned long long>(static_cast<unsigned>(high)) << 32) |
                                             static_cast<unsigned>(low));
}

}  // namespace warpsmith_cuda

#endif  // WARPSMITH_EMULATED_MATH_INTRINSICS_H_
