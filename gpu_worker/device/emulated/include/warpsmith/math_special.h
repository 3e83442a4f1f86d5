// Mathematical functions of CUDA's that the C library has not.
// Source of the definitions: CUDA Math API.
#ifndef WARPSMITH_EMULATED_MATH_SPECIAL_H_
#define WARPSMITH_EMULATED_MATH_SPECIAL_H_

#include "keywords.h"
#include "math.h"

namespace warpsmith_emulated {

constexpr double kPi = 3.14159265358979323846;
constexpr double kSqrt2 = 1.41421356237309504880;
constexpr double kTwoOverSqrtPi = 1.12837916709551257390;

// sin(pi x) and cos(pi x), reduced exactly to |r| <= 1/4 of a turn.
inline double SinPi(double x) {
  if (!__builtin_isfinite(x)) return __builtin_nan("");
  double r = x - 2 * __builtin_rint(x / 2);
  if (r == 0 || r == 1 || r == -1) return __builtin_copysign(0.0, x);
  return __builtin_sin(kPi * r);
}
inline double CosPi(double x) {
  if (!__builtin_isfinite(x)) return __builtin_nan("");
  double r = __builtin_fabs(x - 2 * __builtin_rint(x / 2));
  if (r == 0.5) return 0;
  return __builtin_cos(kPi * r);
}

// The inverse of erfc on (0, 2) by Halley's method on a first guess from the tail's asymptotic form.
inline double InverseErfc(double y) {
  if (y != y || y < 0 || y > 2) return __builtin_nan("");
  if (y == 0) return __builtin_inf();
  if (y == 2) return -__builtin_inf();
  if (y > 1) return -InverseErfc(2 - y);
  double t = __builtin_sqrt(-2 * __builtin_log(y / 2));
  double x = (t - (2.30753 + t * 0.27061) / (1 + t * (0.99229 + t * 0.04481))) / kSqrt2;
  for (int i = 0; i < 4; ++i) {
    double error = __builtin_erfc(x) - y;
    double slope = -kTwoOverSqrtPi * __builtin_exp(-x * x);
    if (slope == 0) break;
    double step = error / slope;
    x -= step / (1 + x * step);
  }
  return x;
}
inline double InverseErf(double y) {
  if (y != y || y < -1 || y > 1) return __builtin_nan("");
  if (__builtin_fabs(y) > 0.5) return y > 0 ? InverseErfc(1 - y) : -InverseErfc(1 + y);
  double x = y / kTwoOverSqrtPi;
  for (int i = 0; i < 6; ++i) {
    double step = (__builtin_erf(x) - y) / (kTwoOverSqrtPi * __builtin_exp(-x * x));
    x -= step / (1 + x * step);
  }
  return x;
}
inline double ScaledErfc(double x) {
  if (x < 25) return __builtin_exp(x * x) * __builtin_erfc(x);
  double s = 1 / (2 * x * x);
  return (1 - s * (1 - 3 * s * (1 - 5 * s))) / (x * __builtin_sqrt(kPi));
}
// The modified Bessel functions of order 0 and 1, by their power series; beyond 700 they overflow.
inline double BesselI(int order, double x) {
  double quarter = x * x / 4, term = order == 0 ? 1 : x / 2, sum = term;
  for (int k = 1; k < 2000; ++k) {
    term *= quarter / (static_cast<double>(k) * (k + order));
    sum += term;
    if (__builtin_fabs(term) < 1e-17 * __builtin_fabs(sum)) break;
  }
  return sum;
}

}  // namespace warpsmith_emulated

namespace warpsmith_cuda {

#define WARPSMITH_SPECIAL_1(name, expression) \
  WARPSMITH_FUNCTION double name(double v) {  \
    double x = v;                             \
    return expression;                        \
  }                                           \
  WARPSMITH_FUNCTION float name##f(float v) { \
    double x = v;                             \
    return static_cast<float>(expression);    \
  }                                           \
  WARPSMITH_FUNCTION float name(float v) { return name##f(v); }
WARPSMITH_SPECIAL_1(rcbrt, 1 / __builtin_cbrt(x))
WARPSMITH_SPECIAL_1(sinpi, warpsmith_emulated::SinPi(x))
WARPSMITH_SPECIAL_1(cospi, warpsmith_emulated::CosPi(x))
WARPSMITH_SPECIAL_1(erfinv, warpsmith_emulated::InverseErf(x))
WARPSMITH_SPECIAL_1(erfcinv, warpsmith_emulated::InverseErfc(x))
WARPSMITH_SPECIAL_1(erfcx, warpsmith_emulated::ScaledErfc(x))
WARPSMITH_SPECIAL_1(normcdf, 0.5 * __builtin_erfc(-x / warpsmith_emulated::kSqrt2))
WARPSMITH_SPECIAL_1(normcdfinv, -warpsmith_emulated::kSqrt2* warpsmith_emulated::InverseErfc(2 * x))
WARPSMITH_SPECIAL_1(cyl_bessel_i0, warpsmith_emulated::BesselI(0, x))
WARPSMITH_SPECIAL_1(cyl_bessel_i1, warpsmith_emulated::BesselI(1, x))
#undef WARPSMITH_SPECIAL_1

WARPSMITH_FUNCTION float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
WARPSMITH_FUNCTION float rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }
WARPSMITH_FUNCTION double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
WARPSMITH_FUNCTION float fdividef(float x, float y) { return x / y; }
WARPSMITH_FUNCTION float fdivide(float x, float y) { return x / y; }
WARPSMITH_FUNCTION void sincospif(float x, float* sine, float* cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}
WARPSMITH_FUNCTION void sincospi(float x, float* sine, float* cosine) { sincospif(x, sine, cosine); }
WARPSMITH_FUNCTION void sincospi(double x, double* sine, double* cosine) {
  *sine = sinpi(x);
  *cosine = cospi(x);
}

// Norms, in double, so that no square of a float overflows.
#define WARPSMITH_NORM(type, suffix)                                                                              \
  WARPSMITH_FUNCTION type rhypot##suffix(type a, type b) { return static_cast<type>(1 / __builtin_hypot(a, b)); } \
  WARPSMITH_FUNCTION type norm3d##suffix(type a, type b, type c) {                                                \
    return static_cast<type>(__builtin_hypot(__builtin_hypot(a, b), c));                                          \
  }                                                                                                               \
  WARPSMITH_FUNCTION type rnorm3d##suffix(type a, type b, type c) {                                               \
    return static_cast<type>(1 / __builtin_hypot(__builtin_hypot(a, b), c));                                      \
  }                                                                                                               \
  WARPSMITH_FUNCTION type norm4d##suffix(type a, type b, type c, type d) {                                        \
    return static_cast<type>(__builtin_hypot(__builtin_hypot(a, b), __builtin_hypot(c, d)));                      \
  }                                                                                                               \
  WARPSMITH_FUNCTION type rnorm4d##suffix(type a, type b, type c, type d) {                                       \
    return static_cast<type>(1 / __builtin_hypot(__builtin_hypot(a, b), __builtin_hypot(c, d)));                  \
  }                                                                                                               \
  WARPSMITH_FUNCTION type norm##suffix(int n, const type* v) {                                                    \
    double sum = 0;                                                                                               \
    for (int i = 0; i < n; ++i) sum = __builtin_hypot(sum, v[i]);                                                 \
    return static_cast<type>(sum);                                                                                \
  }                                                                                                               \
  WARPSMITH_FUNCTION type rnorm##suffix(int n, const type* v) { return static_cast<type>(1 / norm##suffix(n, v)); }
WARPSMITH_NORM(float, f)
WARPSMITH_NORM(double, )
#undef WARPSMITH_NORM

}  // namespace warpsmith_cuda

#endif  // WARPSMITH_EMULATED_MATH_SPECIAL_H_
