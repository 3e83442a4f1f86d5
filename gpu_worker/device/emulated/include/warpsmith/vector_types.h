// CUDA's vector types, with CUDA's alignment, and the functions that make them.
#ifndef WARPSMITH_EMULATED_VECTOR_TYPES_H_
#define WARPSMITH_EMULATED_VECTOR_TYPES_H_

#include "index_types.h"
#include "keywords.h"

// name, element, alignment of two and of four elements
#define WARPSMITH_VECTORS_123(name, element, align2)                           \
  struct name##1 {                                                             \
    element x;                                                                 \
  };                                                                           \
  struct __attribute__((aligned(align2))) name##2 {                            \
    element x, y;                                                              \
  };                                                                           \
  WARPSMITH_FUNCTION name##1 make_##name##1(element x) { return name##1 {x}; } \
  WARPSMITH_FUNCTION name##2 make_##name##2(element x, element y) { return name##2 {x, y}; }
#define WARPSMITH_VECTOR_3(name, element) \
  struct name##3 {                        \
    element x, y, z;                      \
  };
#define WARPSMITH_MAKE_3(name, element) \
  WARPSMITH_FUNCTION name##3 make_##name##3(element x, element y, element z) { return name##3 {x, y, z}; }
#define WARPSMITH_VECTOR_4(type, element, alignment) \
  struct __attribute__((aligned(alignment))) type {  \
    element x, y, z, w;                              \
  };                                                 \
  WARPSMITH_FUNCTION type make_##type(element x, element y, element z, element w) { return type{x, y, z, w}; }

WARPSMITH_VECTORS_123(char, signed char, 2)
WARPSMITH_VECTOR_3(char, signed char)
WARPSMITH_MAKE_3(char, signed char)
WARPSMITH_VECTOR_4(char4, signed char, 4)
WARPSMITH_VECTORS_123(uchar, unsigned char, 2)
WARPSMITH_VECTOR_3(uchar, unsigned char)
WARPSMITH_MAKE_3(uchar, unsigned char)
WARPSMITH_VECTOR_4(uchar4, unsigned char, 4)
WARPSMITH_VECTORS_123(short, short, 4)
WARPSMITH_VECTOR_3(short, short)
WARPSMITH_MAKE_3(short, short)
WARPSMITH_VECTOR_4(short4, short, 8)
WARPSMITH_VECTORS_123(ushort, unsigned short, 4)
WARPSMITH_VECTOR_3(ushort, unsigned short)
WARPSMITH_MAKE_3(ushort, unsigned short)
WARPSMITH_VECTOR_4(ushort4, unsigned short, 8)
WARPSMITH_VECTORS_123(int, int, 8)
WARPSMITH_VECTOR_3(int, int)
WARPSMITH_MAKE_3(int, int)
WARPSMITH_VECTOR_4(int4, int, 16)
WARPSMITH_VECTORS_123(uint, unsigned, 8)
WARPSMITH_MAKE_3(uint, unsigned)
WARPSMITH_VECTOR_4(uint4, unsigned, 16)
WARPSMITH_VECTORS_123(long, long, 16)
WARPSMITH_VECTOR_3(long, long)
WARPSMITH_MAKE_3(long, long)
WARPSMITH_VECTOR_4(long4, long, 16)
WARPSMITH_VECTOR_4(long4_16a, long, 16)
WARPSMITH_VECTOR_4(long4_32a, long, 32)
WARPSMITH_VECTORS_123(ulong, unsigned long, 16)
WARPSMITH_VECTOR_3(ulong, unsigned long)
WARPSMITH_MAKE_3(ulong, unsigned long)
WARPSMITH_VECTOR_4(ulong4, unsigned long, 16)
WARPSMITH_VECTOR_4(ulong4_16a, unsigned long, 16)
WARPSMITH_VECTOR_4(ulong4_32a, unsigned long, 32)
WARPSMITH_VECTORS_123(longlong, long long, 16)
WARPSMITH_VECTOR_3(longlong, long long)
WARPSMITH_MAKE_3(longlong, long long)
WARPSMITH_VECTOR_4(longlong4, long long, 16)
WARPSMITH_VECTOR_4(longlong4_16a, long long, 16)
WARPSMITH_VECTOR_4(longlong4_32a, long long, 32)
WARPSMITH_VECTORS_123(ulonglong, unsigned long long, 16)
WARPSMITH_VECTOR_3(ulonglong, unsigned long long)
WARPSMITH_MAKE_3(ulonglong, unsigned long long)
WARPSMITH_VECTOR_4(ulonglong4, unsigned long long, 16)
WARPSMITH_VECTOR_4(ulonglong4_16a, unsigned long long, 16)
WARPSMITH_VECTOR_4(ulonglong4_32a, unsigned long long, 32)
WARPSMITH_VECTORS_123(float, float, 8)
WARPSMITH_VECTOR_3(float, float)
WARPSMITH_MAKE_3(float, float)
WARPSMITH_VECTOR_4(float4, float, 16)
WARPSMITH_VECTORS_123(double, double, 16)
WARPSMITH_VECTOR_3(double, double)
WARPSMITH_MAKE_3(double, double)
WARPSMITH_VECTOR_4(double4, double, 16)
WARPSMITH_VECTOR_4(double4_16a, double, 16)
WARPSMITH_VECTOR_4(double4_32a, double, 32)

#undef WARPSMITH_VECTORS_123
#undef WARPSMITH_VECTOR_3
#undef WARPSMITH_MAKE_3
#undef WARPSMITH_VECTOR_4

#endif  // WARPSMITH_EMULATED_VECTOR_TYPES_H_
