// What the lanes of a warp do together. Every lane named in the mask must take part; lanes that have ended count as
// arrived. A value from a lane that does not take part is all ones: CUDA leaves it undefined.
#ifndef WARPSMITH_EMULATED_WARP_H_
#define WARPSMITH_EMULATED_WARP_H_

#include "device_table.h"
#include "keywords.h"

namespace warpsmith_emulated {

template <typename T>
__attribute__((always_inline)) inline unsigned long long Pattern(const T& value) {
  static_assert(sizeof(T) <= 8, "a shuffle moves at most eight bytes");
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <typename T>
__attribute__((always_inline)) inline T Exchange(unsigned operation, unsigned mask, const T& value, unsigned operand,
                                                 unsigned width) {
  unsigned long long bits = ::warpsmith_device.warp(operation, mask, Pattern(value), operand, width);
  typename RemoveConst<T>::type result;
  __builtin_memcpy(&result, &bits, sizeof(T));
  return result;
}
__attribute__((always_inline)) inline unsigned long long Vote(unsigned operation, unsigned mask,
                                                              unsigned long long value) {
  return ::warpsmith_device.warp(operation, mask, value, 0, 32);
}

}  // namespace warpsmith_emulated

namespace warpsmith_cuda {

WARPSMITH_FUNCTION void __syncwarp(unsigned mask = 0xffffffffu) {
  warpsmith_emulated::Vote(warpsmith_emulated::kWarpSync, mask, 0);
}
WARPSMITH_FUNCTION unsigned __activemask() {
  return static_cast<unsigned>(warpsmith_emulated::Vote(warpsmith_emulated::kActiveMask, 0, 0));
}

template <typename T>
inline T __shfl_sync(unsigned mask, T value, int lane, int width = 32) {
  return warpsmith_emulated::Exchange(warpsmith_emulated::kShuffleIndex, mask, value, static_cast<unsigned>(lane),
                                      static_cast<unsigned>(width));
}
template <typename T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  return warpsmith_emulated::Exchange(warpsmith_emulated::kShuffleUp, mask, value, delta, static_cast<unsigned>(width));
}
template <typename T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  return warpsmith_emulated::Exchange(warpsmith_emulated::kShuffleDown, mask, value, delta,
                                      static_cast<unsigned>(width));
}
template <typename T>
inline T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32) {
  return warpsmith_emulated::Exchange(warpsmith_emulated::kShuffleXor, mask, value, static_cast<unsigned>(lane_mask),
                                      static_cast<unsigned>(width));
}

WARPSMITH_FUNCTION unsigned __ballot_sync(unsigned mask, int predicate) {
  return static_cast<unsigned>(warpsmith_emulated::Vote(warpsmith_emulated::kBallot, mask, predicate != 0));
}
WARPSMITH_FUNCTION int __all_sync(unsigned mask, int predicate) {
  return static_cast<int>(warpsmith_emulated::Vote(warpsmith_emulated::kVoteAll, mask, predicate != 0));
}
WARPSMITH_FUNCTION int __any_sync(unsigned mask, int predicate) {
  return static_cast<int>(warpsmith_emulated::Vote(warpsmith_emulated::kVoteAny, mask, predicate != 0));
}
WARPSMITH_FUNCTION int __uni_sync(unsigned mask, int predicate) {
  unsigned set = __ballot_sync(mask, predicate);
  return set == 0 || set == __ballot_sync(mask, 1);
}
template <typename T>
inline unsigned __match_any_sync(unsigned mask, T value) {
  return static_cast<unsigned>(
      warpsmith_emulated::Vote(warpsmith_emulated::kMatchAny, mask, warpsmith_emulated::Pattern(value)));
}
template <typename T>
inline unsigned __match_all_sync(unsigned mask, T value, int* predicate) {
  unsigned set = static_cast<unsigned>(
      warpsmith_emulated::Vote(warpsmith_emulated::kMatchAll, mask, warpsmith_emulated::Pattern(value)));
  *predicate = set != 0;
  return set;
}

#define WARPSMITH_REDUCE(name, type, operation)                                                       \
  WARPSMITH_FUNCTION type name(unsigned mask, type value) {                                           \
    return static_cast<type>(                                                                         \
        warpsmith_emulated::Vote(warpsmith_emulated::operation, mask, static_cast<unsigned>(value))); \
  }
WARPSMITH_REDUCE(__reduce_add_sync, unsigned, kReduceAdd)
WARPSMITH_REDUCE(__reduce_add_sync, int, kReduceAdd)
WARPSMITH_REDUCE(__reduce_min_sync, unsigned, kReduceMinUnsigned)
WARPSMITH_REDUCE(__reduce_min_sync, int, kReduceMinSigned)
WARPSMITH_REDUCE(__reduce_max_sync, unsigned, kReduceMaxUnsigned)
WARPSMITH_REDUCE(__reduce_max_sync, int, kReduceMaxSigned)
WARPSMITH_REDUCE(__reduce_and_sync, unsigned, kReduceAnd)
WARPSMITH_REDUCE(__reduce_or_sync, unsigned, kReduceOr)
WARPSMITH_REDUCE(__reduce_xor_sync, unsigned, kReduceXor)
#undef WARPSMITH_REDUCE

}  // namespace warpsmith_cuda

#endif  // WARPSMITH_EMULATED_WARP_H_
