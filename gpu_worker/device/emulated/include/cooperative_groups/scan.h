// cooperative_groups::inclusive_scan and exclusive_scan on tiles and coalesced groups.
#ifndef WARPSMITH_EMULATED_COOPERATIVE_GROUPS_SCAN_H_
#define WARPSMITH_EMULATED_COOPERATIVE_GROUPS_SCAN_H_

#include "reduce.h"

namespace cooperative_groups {

template <typename Group, typename T, typename Operator>
inline T inclusive_scan(const Group& group, T value, Operator&& combine) {
  unsigned rank = group.thread_rank();
  for (unsigned step = 1; step < group.size(); step *= 2) {
    T other = group.shfl_up(value, step);
    if (rank >= step) value = combine(other, value);
  }
  return value;
}
template <typename Group, typename T>
inline T inclusive_scan(const Group& group, T value) {
  return inclusive_scan(group, value, plus<T>());
}
// The first thread gets T(), as CUDA says for addition.
template <typename Group, typename T, typename Operator>
inline T exclusive_scan(const Group& group, T value, Operator&& combine) {
  T shifted = group.shfl_up(inclusive_scan(group, value, combine), 1);
  return group.thread_rank() == 0 ? T() : shifted;
}
template <typename Group, typename T>
inline T exclusive_scan(const Group& group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

}  // namespace cooperative_groups

#endif  // WARPSMITH_EMULATED_COOPERATIVE_GROUPS_SCAN_H_
