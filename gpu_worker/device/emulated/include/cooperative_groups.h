// Cooperative groups: the thread block, tiles of a warp, coalesced threads, and the grid of a cooperative launch.
// Source of the interface: CUDA C++ Programming Guide, Cooperative Groups.
#ifndef WARPSMITH_EMULATED_COOPERATIVE_GROUPS_H_
#define WARPSMITH_EMULATED_COOPERATIVE_GROUPS_H_

#include "warpsmith/execution.h"
#include "warpsmith/integer.h"
#include "warpsmith/warp.h"

namespace cooperative_groups {

class grid_group {
 public:
  bool is_valid() const { return ::warpsmith_device.cooperative != 0; }
  void sync() const {
    if (!is_valid()) {
      warpsmith_emulated::Fail(warpsmith_emulated::kFailureTrap,
                               "this_grid().sync() without \"cooperative\": true in the plan", "candidate.cu", 0);
    }
    ::warpsmith_device.grid_barrier();
  }
  dim3 group_dim() const { return gridDim; }
  dim3 dim_blocks() const { return gridDim; }
  unsigned long long num_blocks() const { return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z; }
  dim3 block_index() const { return blockIdx; }
  unsigned long long block_rank() const {
    return blockIdx.x + static_cast<unsigned long long>(gridDim.x) *
                            (blockIdx.y + static_cast<unsigned long long>(gridDim.y) * blockIdx.z);
  }
  unsigned long long num_threads() const { return num_blocks() * blockDim.x * blockDim.y * blockDim.z; }
  unsigned long long size() const { return num_threads(); }
  unsigned long long thread_rank() const {
    return block_rank() * (blockDim.x * blockDim.y * blockDim.z) + ::warpsmith_device.thread;
  }
};

class thread_block {
 public:
  static void sync() { __syncthreads(); }
  void barrier_sync() const { __syncthreads(); }
  static unsigned thread_rank() { return ::warpsmith_device.thread; }
  static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned num_threads() { return size(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
};

namespace details {

// The operations that tiles and coalesced groups share, given the lanes that take part in rank order.
class warp_group {
 public:
  explicit warp_group(unsigned mask) : mask_(mask) {}
  void sync() const { __syncwarp(mask_); }
  unsigned size() const { return static_cast<unsigned>(__popc(mask_)); }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const { return static_cast<unsigned>(__popc(mask_ & ((1u << lane()) - 1))); }
  int any(int predicate) const { return __any_sync(mask_, predicate); }
  int all(int predicate) const { return __all_sync(mask_, predicate); }
  unsigned ballot(int predicate) const { return packed(__ballot_sync(mask_, predicate)); }
  template <typename T>
  unsigned match_any(T value) const {
    return packed(__match_any_sync(mask_, value));
  }
  template <typename T>
  unsigned match_all(T value, int& predicate) const {
    return packed(__match_all_sync(mask_, value, &predicate));
  }
  template <typename T>
  T shfl(T value, int rank) const {
    return __shfl_sync(mask_, value, lane_of(static_cast<unsigned>(rank) % size()));
  }
  template <typename T>
  T shfl_up(T value, unsigned delta) const {
    unsigned rank = thread_rank();
    return __shfl_sync(mask_, value, lane_of(rank < delta ? rank : rank - delta));
  }
  template <typename T>
  T shfl_down(T value, unsigned delta) const {
    unsigned rank = thread_rank();
    return __shfl_sync(mask_, value, lane_of(rank + delta >= size() ? rank : rank + delta));
  }
  template <typename T>
  T shfl_xor(T value, unsigned other) const {
    unsigned rank = thread_rank() ^ other;
    return __shfl_sync(mask_, value, lane_of(rank >= size() ? thread_rank() : rank));
  }

 protected:
  static unsigned lane() { return ::warpsmith_device.thread & 31; }
  int lane_of(unsigned rank) const { return static_cast<int>(__fns(mask_, 0, static_cast<int>(rank) + 1)); }
  // Lanes to ranks.
  unsigned packed(unsigned lanes) const {
    unsigned result = 0, rank = 0;
    for (unsigned bit = 0; bit < 32; ++bit) {
      if ((mask_ >> bit & 1) == 0) continue;
      result |= (lanes >> bit & 1) << rank;
      ++rank;
    }
    return result;
  }
  unsigned mask_;
};

}  // namespace details

class coalesced_group : public details::warp_group {
 public:
  explicit coalesced_group(unsigned mask) : warp_group(mask) {}
  unsigned meta_group_size() const { return 1; }
  unsigned meta_group_rank() const { return 0; }
};

template <unsigned Size, typename Parent = void>
class thread_block_tile : public details::warp_group {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0, "WARPSMITH_NEEDS_GPU tiles of more than one warp");

 public:
  thread_block_tile()
      : warp_group(Size == 32 ? 0xffffffffu
                              : ((1u << (Size & 31)) - 1) << (::warpsmith_device.thread & 31 & ~(Size - 1))) {}
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  unsigned thread_rank() const { return ::warpsmith_device.thread & (Size - 1); }
  unsigned meta_group_size() const { return (thread_block::size() + Size - 1) / Size; }
  unsigned meta_group_rank() const { return ::warpsmith_device.thread / Size; }
  template <typename T>
  T shfl(T value, int rank) const {
    return __shfl_sync(mask_, value, rank, static_cast<int>(Size));
  }
  template <typename T>
  T shfl_up(T value, unsigned delta) const {
    return __shfl_up_sync(mask_, value, delta, static_cast<int>(Size));
  }
  template <typename T>
  T shfl_down(T value, unsigned delta) const {
    return __shfl_down_sync(mask_, value, delta, static_cast<int>(Size));
  }
  template <typename T>
  T shfl_xor(T value, unsigned other) const {
    return __shfl_xor_sync(mask_, value, static_cast<int>(other), static_cast<int>(Size));
  }
};

// A block's or warp's threads without a fixed size.
class thread_group : public details::warp_group {
 public:
  explicit thread_group(unsigned mask) : warp_group(mask) {}
};

inline thread_block this_thread_block() { return thread_block(); }
inline grid_group this_grid() { return grid_group(); }
inline coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }
template <unsigned Size>
inline thread_block_tile<Size> tiled_partition(const thread_block&) {
  return thread_block_tile<Size>();
}
template <unsigned Size, unsigned ParentSize, typename Parent>
inline thread_block_tile<Size> tiled_partition(const thread_block_tile<ParentSize, Parent>&) {
  static_assert(Size <= ParentSize, "a tile is not larger than the group it divides");
  return thread_block_tile<Size>();
}
inline thread_group tiled_partition(const thread_block&, unsigned size) {
  return thread_group(size >= 32 ? 0xffffffffu : ((1u << size) - 1) << (::warpsmith_device.thread & 31 & ~(size - 1)));
}
template <typename Group>
inline void sync(const Group& group) {
  group.sync();
}

}  // namespace cooperative_groups

#endif  // WARPSMITH_EMULATED_COOPERATIVE_GROUPS_H_
