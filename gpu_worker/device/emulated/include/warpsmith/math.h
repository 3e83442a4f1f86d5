// CUDA's mathematical functions on float and double that the C library has. Names with and without f, and the
// unsuffixed ones overloaded for float, as in CUDA C++. Source of the definitions: CUDA Math API, single and double
// precision functions.
#ifndef WARPSMITH_EMULATED_MATH_H_
#define WARPSMITH_EMULATED_MATH_H_

#include "keywords.h"

namespace warpsmith_cuda {

#define WARPSMITH_MATH_1(name)                                                 \
  WARPSMITH_FUNCTION float name##f(float x) { return __builtin_##name##f(x); } \
  WARPSMITH_FUNCTION float name(float x) { return __builtin_##name##f(x); }    \
  WARPSMITH_FUNCTION double name(double x) { return __builtin_##name(x); }
WARPSMITH_MATH_1(exp)
WARPSMITH_MATH_1(exp2)
WARPSMITH_MATH_1(exp10)
WARPSMITH_MATH_1(expm1)
WARPSMITH_MATH_1(log)
WARPSMITH_MATH_1(log2)
WARPSMITH_MATH_1(log10)
WARPSMITH_MATH_1(log1p)
WARPSMITH_MATH_1(logb)
WARPSMITH_MATH_1(sin)
WARPSMITH_MATH_1(cos)
WARPSMITH_MATH_1(tan)
WARPSMITH_MATH_1(asin)
WARPSMITH_MATH_1(acos)
WARPSMITH_MATH_1(atan)
WARPSMITH_MATH_1(sinh)
WARPSMITH_MATH_1(cosh)
WARPSMITH_MATH_1(tanh)
WARPSMITH_MATH_1(asinh)
WARPSMITH_MATH_1(acosh)
WARPSMITH_MATH_1(atanh)
WARPSMITH_MATH_1(sqrt)
WARPSMITH_MATH_1(cbrt)
WARPSMITH_MATH_1(ceil)
WARPSMITH_MATH_1(floor)
WARPSMITH_MATH_1(trunc)
WARPSMITH_MATH_1(round)
WARPSMITH_MATH_1(rint)
WARPSMITH_MATH_1(nearbyint)
WARPSMITH_MATH_1(fabs)
WARPSMITH_MATH_1(erf)
WARPSMITH_MATH_1(erfc)
WARPSMITH_MATH_1(tgamma)
WARPSMITH_MATH_1(lgamma)
WARPSMITH_MATH_1(j0)
WARPSMITH_MATH_1(j1)
WARPSMITH_MATH_1(y0)
WARPSMITH_MATH_1(y1)
#undef WARPSMITH_MATH_1

#define WARPSMITH_MATH_2(name)                                                             \
  WARPSMITH_FUNCTION float name##f(float x, float y) { return __builtin_##name##f(x, y); } \
  WARPSMITH_FUNCTION float name(float x, float y) { return __builtin_##name##f(x, y); }    \
  WARPSMITH_FUNCTION double name(double x, double y) { return __builtin_##name(x, y); }
WARPSMITH_MATH_2(pow)
WARPSMITH_MATH_2(atan2)
WARPSMITH_MATH_2(fmod)
WARPSMITH_MATH_2(remainder)
WARPSMITH_MATH_2(hypot)
WARPSMITH_MATH_2(copysign)
WARPSMITH_MATH_2(fdim)
WARPSMITH_MATH_2(nextafter)
#undef WARPSMITH_MATH_2

WARPSMITH_FUNCTION float pow(float x, int y) { return __builtin_powf(x, static_cast<float>(y)); }
WARPSMITH_FUNCTION double pow(double x, int y) { return __builtin_pow(x, y); }
WARPSMITH_FUNCTION float powif(float x, int y) { return __builtin_powf(x, static_cast<float>(y)); }
WARPSMITH_FUNCTION double powi(double x, int y) { return __builtin_pow(x, y); }
WARPSMITH_FUNCTION float abs(float x) { return __builtin_fabsf(x); }
WARPSMITH_FUNCTION double abs(double x) { return __builtin_fabs(x); }
WARPSMITH_FUNCTION float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
WARPSMITH_FUNCTION float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
WARPSMITH_FUNCTION double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }

// Minimum and maximum: a NaN loses against a number, and -0 is less than +0.
#define WARPSMITH_MIN_MAX(type, suffix)                  \
  WARPSMITH_FUNCTION type fmin##suffix(type a, type b) { \
    if (a == b) return __builtin_signbit(a) ? a : b;     \
    return a < b || b != b ? a : b;                      \
  }                                                      \
  WARPSMITH_FUNCTION type fmax##suffix(type a, type b) { \
    if (a == b) return __builtin_signbit(a) ? b : a;     \
    return a > b || b != b ? a : b;                      \
  }
WARPSMITH_MIN_MAX(float, f)
WARPSMITH_MIN_MAX(double, )
#undef WARPSMITH_MIN_MAX
WARPSMITH_FUNCTION float fmin(float a, float b) { return fminf(a, b); }
WARPSMITH_FUNCTION float fmax(float a, float b) { return fmaxf(a, b); }
WARPSMITH_FUNCTION float min(float a, float b) { return fminf(a, b); }
WARPSMITH_FUNCTION float max(float a, float b) { return fmaxf(a, b); }
WARPSMITH_FUNCTION double min(double a, double b) { return fmin(a, b); }
WARPSMITH_FUNCTION double max(double a, double b) { return fmax(a, b); }
WARPSMITH_FUNCTION double min(float a, double b) { return fmin(static_cast<double>(a), b); }
WARPSMITH_FUNCTION double max(float a, double b) { return fmax(static_cast<double>(a), b); }
WARPSMITH_FUNCTION double min(double a, float b) { return fmin(a, static_cast<double>(b)); }
WARPSMITH_FUNCTION double max(double a, float b) { return fmax(a, static_cast<double>(b)); }

#define WARPSMITH_CLASSIFY(type)                                             \
  WARPSMITH_FUNCTION bool isnan(type x) { return __builtin_isnan(x); }       \
  WARPSMITH_FUNCTION bool isinf(type x) { return __builtin_isinf(x); }       \
  WARPSMITH_FUNCTION bool isfinite(type x) { return __builtin_isfinite(x); } \
  WARPSMITH_FUNCTION bool signbit(type x) { return __builtin_signbit(x); }
WARPSMITH_CLASSIFY(float)
WARPSMITH_CLASSIFY(double)
#undef WARPSMITH_CLASSIFY

#define WARPSMITH_SCALE(type, suffix, name, integer) \
  WARPSMITH_FUNCTION type name(type x, integer n) { return __builtin_scalbln##suffix(x, n); }
WARPSMITH_SCALE(float, f, ldexpf, int)
WARPSMITH_SCALE(float, f, ldexp, int)
WARPSMITH_SCALE(double, , ldexp, int)
WARPSMITH_SCALE(float, f, scalbnf, int)
WARPSMITH_SCALE(float, f, scalbn, int)
WARPSMITH_SCALE(double, , scalbn, int)
WARPSMITH_SCALE(float, f, scalblnf, long)
WARPSMITH_SCALE(double, , scalbln, long)
#undef WARPSMITH_SCALE

WARPSMITH_FUNCTION float frexpf(float x, int* exponent) { return __builtin_frexpf(x, exponent); }
WARPSMITH_FUNCTION float frexp(float x, int* exponent) { return __builtin_frexpf(x, exponent); }
WARPSMITH_FUNCTION double frexp(double x, int* exponent) { return __builtin_frexp(x, exponent); }
WARPSMITH_FUNCTION float modff(float x, float* whole) { return __builtin_modff(x, whole); }
WARPSMITH_FUNCTION float modf(float x, float* whole) { return __builtin_modff(x, whole); }
WARPSMITH_FUNCTION double modf(double x, double* whole) { return __builtin_modf(x, whole); }
WARPSMITH_FUNCTION float remquof(float x, float y, int* quotient) { return __builtin_remquof(x, y, quotient); }
WARPSMITH_FUNCTION double remquo(double x, double y, int* quotient) { return __builtin_remquo(x, y, quotient); }
WARPSMITH_FUNCTION void sincosf(float x, float* sine, float* cosine) {
  *sine = __builtin_sinf(x);
  *cosine = __builtin_cosf(x);
}
WARPSMITH_FUNCTION void sincos(float x, float* sine, float* cosine) { sincosf(x, sine, cosine); }
WARPSMITH_FUNCTION void sincos(double x, double* sine, double* cosine) {
  *sine = __builtin_sin(x);
  *cosine = __builtin_cos(x);
}
WARPSMITH_FUNCTION int ilogbf(float x) { return __builtin_ilogbf(x); }
WARPSMITH_FUNCTION int ilogb(float x) { return __builtin_ilogbf(x); }
WARPSMITH_FUNCTION int ilogb(double x) { return __builtin_ilogb(x); }
WARPSMITH_FUNCTION float nanf(const char*) { return __builtin_nanf(""); }
WARPSMITH_FUNCTION double nan(const char*) { return __builtin_nan(""); }
WARPSMITH_FUNCTION float jnf(int n, float x) { return __builtin_jnf(n, x); }
WARPSMITH_FUNCTION double jn(int n, double x) { return __builtin_jn(n, x); }
WARPSMITH_FUNCTION float ynf(int n, float x) { return __builtin_ynf(n, x); }
WARPSMITH_FUNCTION double yn(int n, double x) { return __builtin_yn(n, x); }

}  // namespace warpsmith_cuda

#endif  // WARPSMITH_EMULATED_MATH_H_
