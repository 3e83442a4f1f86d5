// The 16-bit floating types: a value is kept as its bits, arithmetic goes through float and is rounded once.
// Source of the formats: IEEE 754 binary16; bfloat16 is the upper half of a binary32.
#ifndef WARPSMITH_EMULATED_HALF_TYPES_H_
#define WARPSMITH_EMULATED_HALF_TYPES_H_

#include "keywords.h"
#include "math_intrinsics.h"
#include "vector_types.h"

namespace warpsmith_emulated {

struct HalfFormat {
  static constexpr unsigned short kQuietNan = 0x7fff;
  static constexpr unsigned short kInfinity = 0x7c00;
  static float Widen(unsigned short bits) { return static_cast<float>(BitCast<_Float16>(bits)); }
  static unsigned short Narrow(float value) {
    if (value != value) return kQuietNan;
    return BitCast<unsigned short>(static_cast<_Float16>(value));
  }
  static unsigned short Narrow(double value) {
    if (value != value) return kQuietNan;
    return BitCast<unsigned short>(static_cast<_Float16>(value));
  }
};

struct BrainFormat {
  static constexpr unsigned short kQuietNan = 0x7fff;
  static constexpr unsigned short kInfinity = 0x7f80;
  static float Widen(unsigned short bits) { return BitCast<float>(static_cast<unsigned>(bits) << 16); }
  static unsigned short Narrow(float value) {
    if (value != value) return kQuietNan;
    unsigned bits = BitCast<unsigned>(value);
    return static_cast<unsigned short>((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);
  }
  // Through a float rounded to odd, so that the second rounding sees what the first left over.
  static unsigned short Narrow(double value) {
    float nearest = static_cast<float>(value);
    if (static_cast<double>(nearest) != value && __builtin_isfinite(nearest)) {
      bool above = __builtin_fabs(static_cast<double>(nearest)) > __builtin_fabs(value);
      unsigned bits = BitCast<unsigned>(nearest) - (above ? 1u : 0u);
      nearest = BitCast<float>(bits | 1u);
    }
    return Narrow(nearest);
  }
};

// The neighbour of a 16-bit float, towards plus or minus infinity.
inline unsigned short NextUp(unsigned short bits) {
  if ((bits & 0x7fff) == 0) return 1;
  return static_cast<unsigned short>((bits & 0x8000) != 0 ? bits - 1 : bits + 1);
}
inline unsigned short NextDown(unsigned short bits) {
  return static_cast<unsigned short>(NextUp(bits ^ 0x8000) ^ 0x8000);
}

template <typename Format>
inline unsigned short NarrowDirected(double value, Rounding mode) {
  unsigned short bits = Format::Narrow(value);
  double got = Format::Widen(bits);
  if (mode == kNearest || got == value || value != value || !__builtin_isfinite(value)) return bits;
  bool down = mode == kDown || (mode == kTowardsZero && value > 0);
  if (down && got > value) return NextDown(bits);
  if (!down && got < value) return NextUp(bits);
  return bits;
}

}  // namespace warpsmith_emulated

// name, name of the pair, format, and the names of the plain-data forms
#define WARPSMITH_HALF_TYPE(H, H2, Format, Raw, Raw2)     \
  struct __attribute__((aligned(2))) Raw {                \
    unsigned short x;                                     \
  };                                                      \
  struct __attribute__((aligned(4))) Raw2 {               \
    unsigned short x, y;                                  \
  };                                                      \
  struct __attribute__((aligned(2))) H {                  \
    unsigned short __x;                                   \
    H() = default;                                        \
    H(const Raw& raw) : __x(raw.x) {}                     \
    H& operator=(const Raw& raw) {                        \
      __x = raw.x;                                        \
      return *this;                                       \
    }                                                     \
    operator Raw() const { return Raw{__x}; }             \
    H(float v) : __x(Format::Narrow(v)) {}                \
    H(double v) : __x(Format::Narrow(v)) {}               \
    operator float() const { return Format::Widen(__x); } \
    H& operator=(float v) {                               \
      __x = Format::Narrow(v);                            \
      return *this;                                       \
    }                                                     \
    H& operator=(double v) {                              \
      __x = Format::Narrow(v);                            \
      return *this;                                       \
    }                                                     \
    WARPSMITH_HALF_INTEGER(H, Format, short)              \
    WARPSMITH_HALF_INTEGER(H, Format, unsigned short)     \
    WARPSMITH_HALF_INTEGER(H, Format, int)                \
    WARPSMITH_HALF_INTEGER(H, Format, unsigned)           \
    WARPSMITH_HALF_INTEGER(H, Format, long)               \
    WARPSMITH_HALF_INTEGER(H, Format, unsigned long)      \
    WARPSMITH_HALF_INTEGER(H, Format, long long)          \
    WARPSMITH_HALF_INTEGER(H, Format, unsigned long long) \
    WARPSMITH_HALF_CONVERSION(Format, char)               \
    WARPSMITH_HALF_CONVERSION(Format, signed char)        \
    WARPSMITH_HALF_CONVERSION(Format, unsigned char)      \
    operator bool() const { return (__x & 0x7fff) != 0; } \
  };                                                      \
  struct __attribute__((aligned(4))) H2 {                 \
    H x, y;                                               \
    H2() = default;                                       \
    H2(const H2&) = default;                              \
    H2(H2&&) = default;                                   \
    H2& operator=(const H2&) = default;                   \
    H2& operator=(H2&&) = default;                        \
    H2(const H& a, const H& b) : x(a), y(b) {}            \
    H2(const Raw2& raw) : x(Raw{raw.x}), y(Raw{raw.y}) {} \
    H2& operator=(const Raw2& raw) {                      \
      x = Raw{raw.x};                                     \
      y = Raw{raw.y};                                     \
      return *this;                                       \
    }                                                     \
    operator Raw2() const { return Raw2{x.__x, y.__x}; }  \
  };

#define WARPSMITH_HALF_CONVERSION(Format, integer)                                                       \
  operator integer() const {                                                                             \
    return warpsmith_emulated::ToInteger<integer>(Format::Widen(__x), warpsmith_emulated::kTowardsZero); \
  }
#define WARPSMITH_HALF_INTEGER(H, Format, integer)                                                               \
  H(integer v)                                                                                                   \
      : __x(warpsmith_emulated::NarrowDirected<Format>(static_cast<double>(v), warpsmith_emulated::kNearest)) {} \
  H& operator=(integer v) { return *this = H(v); }                                                               \
  WARPSMITH_HALF_CONVERSION(Format, integer)

#endif  // WARPSMITH_EMULATED_HALF_TYPES_H_
