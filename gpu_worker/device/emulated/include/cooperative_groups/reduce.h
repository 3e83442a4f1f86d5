// cooperative_groups::reduce on tiles and coalesced groups, and the operators it takes.
#ifndef WARPSMITH_EMULATED_COOPERATIVE_GROUPS_REDUCE_H_
#define WARPSMITH_EMULATED_COOPERATIVE_GROUPS_REDUCE_H_

#include "../cooperative_groups.h"

namespace cooperative_groups {

#define WARPSMITH_OPERATOR(name, expression)            \
  template <typename T>                                 \
  struct name {                                         \
    T operator()(T a, T b) const { return expression; } \
  };
WARPSMITH_OPERATOR(plus, static_cast<T>(a + b))
WARPSMITH_OPERATOR(less, b < a ? b : a)
WARPSMITH_OPERATOR(greater, a < b ? b : a)
WARPSMITH_OPERATOR(bit_and, static_cast<T>(a& b))
WARPSMITH_OPERATOR(bit_or, static_cast<T>(a | b))
WARPSMITH_OPERATOR(bit_xor, static_cast<T>(a ^ b))
#undef WARPSMITH_OPERATOR

template <unsigned Size, typename Parent, typename T, typename Operator>
inline T reduce(const thread_block_tile<Size, Parent>& group, T value, Operator&& combine) {
  for (unsigned other = Size / 2; other > 0; other /= 2) value = combine(value, group.shfl_xor(value, other));
  return value;
}
template <typename T, typename Operator>
inline T reduce(const coalesced_group& group, T value, Operator&& combine) {
  T result = group.shfl(value, 0);
  for (unsigned rank = 1; rank < group.size(); ++rank) {
    result = combine(result, group.shfl(value, static_cast<int>(rank)));
  }
  return result;
}

}  // namespace cooperative_groups

#endif  // WARPSMITH_EMULATED_COOPERATIVE_GROUPS_REDUCE_H_
