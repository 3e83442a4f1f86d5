// Integer intrinsics, minima and maxima. Source of the definitions: CUDA Math API, integer intrinsics.
#ifndef WARPSMITH_EMULATED_INTEGER_H_
#define WARPSMITH_EMULATED_INTEGER_H_

#include "keywords.h"
#include "vector_types.h"

namespace warpsmith_cuda {

#define WARPSMITH_MIN_MAX(result, first, second)                                                              \
  WARPSMITH_FUNCTION result min(first a, second b) {                                                          \
    return static_cast<result>(a) < static_cast<result>(b) ? static_cast<result>(a) : static_cast<result>(b); \
  }                                                                                                           \
  WARPSMITH_FUNCTION result max(first a, second b) {                                                          \
    return static_cast<result>(a) > static_cast<result>(b) ? static_cast<result>(a) : static_cast<result>(b); \
  }
WARPSMITH_MIN_MAX(int, int, int)
WARPSMITH_MIN_MAX(unsigned, unsigned, unsigned)
WARPSMITH_MIN_MAX(unsigned, int, unsigned)
WARPSMITH_MIN_MAX(unsigned, unsigned, int)
WARPSMITH_MIN_MAX(long, long, long)
WARPSMITH_MIN_MAX(unsigned long, unsigned long, unsigned long)
WARPSMITH_MIN_MAX(unsigned long, long, unsigned long)
WARPSMITH_MIN_MAX(unsigned long, unsigned long, long)
WARPSMITH_MIN_MAX(long long, long long, long long)
WARPSMITH_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
WARPSMITH_MIN_MAX(unsigned long long, long long, unsigned long long)
WARPSMITH_MIN_MAX(unsigned long long, unsigned long long, long long)
#undef WARPSMITH_MIN_MAX

WARPSMITH_FUNCTION int abs(int a) { return a < 0 ? static_cast<int>(0u - static_cast<unsigned>(a)) : a; }
WARPSMITH_FUNCTION long abs(long a) { return a < 0 ? static_cast<long>(0ul - static_cast<unsigned long>(a)) : a; }
WARPSMITH_FUNCTION long long abs(long long a) {
  return a < 0 ? static_cast<long long>(0ull - static_cast<unsigned long long>(a)) : a;
}
WARPSMITH_FUNCTION long labs(long a) { return abs(a); }
WARPSMITH_FUNCTION long long llabs(long long a) { return abs(a); }
WARPSMITH_FUNCTION unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
WARPSMITH_FUNCTION unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }
WARPSMITH_FUNCTION long long llmin(long long a, long long b) { return a < b ? a : b; }
WARPSMITH_FUNCTION long long llmax(long long a, long long b) { return a > b ? a : b; }
WARPSMITH_FUNCTION unsigned long long ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
WARPSMITH_FUNCTION unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a > b ? a : b; }

WARPSMITH_FUNCTION int __popc(unsigned a) { return __builtin_popcount(a); }
WARPSMITH_FUNCTION int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
WARPSMITH_FUNCTION int __clz(int a) { return a == 0 ? 32 : __builtin_clz(static_cast<unsigned>(a)); }
WARPSMITH_FUNCTION int __clzll(long long a) {
  return a == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(a));
}
WARPSMITH_FUNCTION int __ffs(int a) { return __builtin_ffs(a); }
WARPSMITH_FUNCTION int __ffsll(long long a) { return __builtin_ffsll(a); }
WARPSMITH_FUNCTION unsigned __brev(unsigned a) {
  a = ((a >> 1) & 0x55555555u) | ((a & 0x55555555u) << 1);
  a = ((a >> 2) & 0x33333333u) | ((a & 0x33333333u) << 2);
  a = ((a >> 4) & 0x0f0f0f0fu) | ((a & 0x0f0f0f0fu) << 4);
  return __builtin_bswap32(a);
}
WARPSMITH_FUNCTION unsigned long long __brevll(unsigned long long a) {
  return (static_cast<unsigned long long>(__brev(static_cast<unsigned>(a))) << 32) |
         __brev(static_cast<unsigned>(a >> 32));
}
// The n-th set bit counted from `base`, upwards for positive and downwards for negative n; all ones: none.
WARPSMITH_FUNCTION unsigned __fns(unsigned mask, unsigned base, int offset) {
  int step = offset < 0 ? -1 : 1, left = offset == 0 ? 1 : (offset < 0 ? -offset : offset);
  for (int bit = static_cast<int>(base & 31); bit >= 0 && bit < 32; bit += step) {
    if ((mask >> bit & 1) != 0 && --left == 0) return static_cast<unsigned>(bit);
    if (offset == 0) break;
  }
  return ~0u;
}
WARPSMITH_FUNCTION unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  unsigned long long bytes = (static_cast<unsigned long long>(y) << 32) | x;
  unsigned result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    unsigned pick = selector >> (4 * i);
    unsigned byte = static_cast<unsigned>(bytes >> (8 * (pick & 7))) & 0xff;
    if ((pick & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}
WARPSMITH_FUNCTION int __mulhi(int a, int b) {
  return static_cast<int>((static_cast<long long>(a) * static_cast<long long>(b)) >> 32);
}
WARPSMITH_FUNCTION unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) * b) >> 32);
}
WARPSMITH_FUNCTION long long __mul64hi(long long a, long long b) {
  return static_cast<long long>((static_cast<__int128>(a) * b) >> 64);
}
WARPSMITH_FUNCTION unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>((static_cast<unsigned __int128>(a) * b) >> 64);
}
WARPSMITH_FUNCTION int __mul24(int a, int b) {
  return static_cast<int>(static_cast<unsigned>(static_cast<int>(static_cast<unsigned>(a) << 8) >> 8) *
                          static_cast<unsigned>(static_cast<int>(static_cast<unsigned>(b) << 8) >> 8));
}
WARPSMITH_FUNCTION unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
WARPSMITH_FUNCTION int __hadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b) >> 1); }
WARPSMITH_FUNCTION int __rhadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b + 1) >> 1); }
WARPSMITH_FUNCTION unsigned __uhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) + b) >> 1);
}
WARPSMITH_FUNCTION unsigned __urhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) + b + 1) >> 1);
}
WARPSMITH_FUNCTION unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
WARPSMITH_FUNCTION unsigned __sad(int a, int b, unsigned c) {
  return (a > b ? static_cast<unsigned>(a) - static_cast<unsigned>(b)
                : static_cast<unsigned>(b) - static_cast<unsigned>(a)) +
         c;
}
WARPSMITH_FUNCTION unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  unsigned long long both = (static_cast<unsigned long long>(high) << 32) | low;
  return static_cast<unsigned>(both << (shift & 31) >> 32);
}
WARPSMITH_FUNCTION unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  unsigned long long both = (static_cast<unsigned long long>(high) << 32) | low;
  return static_cast<unsigned>(both >> (shift & 31));
}
WARPSMITH_FUNCTION unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
WARPSMITH_FUNCTION unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

// Dot products of four bytes, and of two 16-bit numbers with two of four bytes.
#define WARPSMITH_DOT(result, byte, half_word, bytes4, halves2)                                          \
  WARPSMITH_FUNCTION result __dp4a(result a, result b, result c) {                                       \
    unsigned sum = static_cast<unsigned>(c);                                                             \
    for (int i = 0; i < 4; ++i) {                                                                        \
      sum += static_cast<unsigned>(static_cast<int>(static_cast<byte>(a >> (8 * i))) *                   \
                                   static_cast<int>(static_cast<byte>(b >> (8 * i))));                   \
    }                                                                                                    \
    return static_cast<result>(sum);                                                                     \
  }                                                                                                      \
  WARPSMITH_FUNCTION result __dp4a(bytes4 a, bytes4 b, result c) {                                       \
    return __dp4a(warpsmith_emulated::BitCast<result>(a), warpsmith_emulated::BitCast<result>(b), c);    \
  }                                                                                                      \
  WARPSMITH_FUNCTION result __dp2a_lo(result a, result b, result c) {                                    \
    unsigned sum = static_cast<unsigned>(c);                                                             \
    for (int i = 0; i < 2; ++i) {                                                                        \
      sum += static_cast<unsigned>(static_cast<half_word>(a >> (16 * i))) *                              \
             static_cast<unsigned>(static_cast<byte>(b >> (8 * i)));                                     \
    }                                                                                                    \
    return static_cast<result>(sum);                                                                     \
  }                                                                                                      \
  WARPSMITH_FUNCTION result __dp2a_hi(result a, result b, result c) {                                    \
    return __dp2a_lo(a, static_cast<result>(static_cast<unsigned>(b) >> 16), c);                         \
  }                                                                                                      \
  WARPSMITH_FUNCTION result __dp2a_lo(halves2 a, bytes4 b, result c) {                                   \
    return __dp2a_lo(warpsmith_emulated::BitCast<result>(a), warpsmith_emulated::BitCast<result>(b), c); \
  }                                                                                                      \
  WARPSMITH_FUNCTION result __dp2a_hi(halves2 a, bytes4 b, result c) {                                   \
    return __dp2a_hi(warpsmith_emulated::BitCast<result>(a), warpsmith_emulated::BitCast<result>(b), c); \
  }
WARPSMITH_DOT(int, signed char, short, char4, short2)
WARPSMITH_DOT(unsigned, unsigned char, unsigned short, uchar4, ushort2)
#undef WARPSMITH_DOT

// Lanes of two 16-bit or four 8-bit numbers in a word.
#define WARPSMITH_LANES(name, bits, lane, expression)                              \
  WARPSMITH_FUNCTION unsigned name(unsigned x, unsigned y) {                       \
    unsigned result = 0;                                                           \
    for (int shift = 0; shift < 32; shift += bits) {                               \
      int a = static_cast<lane>(x >> shift), b = static_cast<lane>(y >> shift);    \
      result |= (static_cast<unsigned>(expression) & ((1u << bits) - 1)) << shift; \
    }                                                                              \
    return result;                                                                 \
  }
#define WARPSMITH_LANES_BOTH(name, sign, expression)   \
  WARPSMITH_LANES(name##2, 16, sign short, expression) \
  WARPSMITH_LANES(name##4, 8, sign char, expression)
WARPSMITH_LANES_BOTH(__vadd, unsigned, a + b)
WARPSMITH_LANES_BOTH(__vsub, unsigned, a - b)
WARPSMITH_LANES_BOTH(__vmaxs, signed, a > b ? a : b)
WARPSMITH_LANES_BOTH(__vmins, signed, a < b ? a : b)
WARPSMITH_LANES_BOTH(__vmaxu, unsigned, a > b ? a : b)
WARPSMITH_LANES_BOTH(__vminu, unsigned, a < b ? a : b)
WARPSMITH_LANES_BOTH(__vabsdiffu, unsigned, a > b ? a - b : b - a)
WARPSMITH_LANES_BOTH(__vavgu, unsigned, (a + b + 1) >> 1)
WARPSMITH_LANES_BOTH(__vcmpeq, unsigned, a == b ? -1 : 0)
WARPSMITH_LANES_BOTH(__vcmpne, unsigned, a != b ? -1 : 0)
WARPSMITH_LANES_BOTH(__vcmpgts, signed, a > b ? -1 : 0)
WARPSMITH_LANES_BOTH(__vcmpgtu, unsigned, a > b ? -1 : 0)
#undef WARPSMITH_LANES_BOTH
#undef WARPSMITH_LANES

}  // namespace warpsmith_cuda

#endif  // WARPSMITH_EMULATED_INTEGER_H_
