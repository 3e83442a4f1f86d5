#include "gpu_worker/device/emulated/block.h"

#include <fmt/format.h>

#include <bit>
#include <map>
#include <numeric>

namespace warpsmith::device {
namespace {

constexpr uint32_t kNobody = ~0u;

uint64_t Mix(uint64_t value) {  // splitmix64's finaliser
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

}  // namespace

Order::Order(uint64_t count, uint64_t seed) : count_(count == 0 ? 1 : count) {
  if (seed == 0) return;
  step_ = Mix(seed) % count_;
  while (std::gcd(step_, count_) != 1) step_ = (step_ + 1) % count_;
  if (step_ == 0) step_ = 1;  // only where count is 1
  at_ = Mix(seed + 1) % count_;
}

void Block::Reset(uint3 index, uint32_t threads, uint64_t seed) {
  index_ = index;
  threads_ = live_ = threads;
  started_ = 0;
  order_ = Order(threads, seed);
  seed_ = seed;
  ready_first_ = ready_count_ = 0;
  barrier_waiters_.clear();
  grid_waiters_.clear();
  at_grid_ = 0;
  arrived_ = predicate_count_ = 0;
  predicate_and_ = 1;
  for (uint32_t warp = 0; warp * 32 < threads; ++warp) {
    uint32_t there = threads - warp * 32;
    warps_[warp].waiting = 0;
    warps_[warp].gone = there >= 32 ? 0 : ~((1u << there) - 1);
  }
  progress = 0;
  has_saved_shared = false;
}

uint32_t Block::TakeReady() {
  uint32_t thread = ready_[ready_first_];
  ready_first_ = (ready_first_ + 1) % kMaxThreads;
  --ready_count_;
  return thread;
}

void Block::PutReady(uint32_t thread) {
  ready_[(ready_first_ + ready_count_) % kMaxThreads] = static_cast<uint16_t>(thread);
  ++ready_count_;
}

bool Block::ArriveAtBarrier(uint32_t thread, uint32_t predicate) {
  ++arrived_;
  predicate_count_ += predicate;
  predicate_and_ &= predicate;
  if (arrived_ < live_) {
    barrier_waiters_.push_back(static_cast<uint16_t>(thread));
    return false;
  }
  ReleaseBarrier(thread);
  return true;
}

void Block::ReleaseBarrier(uint32_t running) {
  ++progress;
  barrier_results_ = {0, predicate_count_, predicate_and_, predicate_count_ != 0};
  arrived_ = predicate_count_ = 0;
  predicate_and_ = 1;
  // Another one of those that waited goes first each time.
  size_t count = barrier_waiters_.size();
  size_t start = seed_ == 0 || count == 0 ? 0 : Mix(seed_ + progress) % count;
  for (size_t i = 0; i < count; ++i) {
    uint32_t thread = barrier_waiters_[(start + i) % count];
    if (thread != running) PutReady(thread);
  }
  barrier_waiters_.clear();
}

uint32_t Block::BarrierResult(uint32_t kind) const { return barrier_results_[kind & 3]; }

bool Block::ArriveAtWarp(uint32_t thread, const LaneRequest& request) {
  Warp& warp = warps_[thread / 32];
  uint32_t lane = thread % 32;
  warp.requests[lane] = request;
  warp.waiting |= 1u << lane;
  return TryComplete(thread / 32, lane, thread);
}

bool Block::TryComplete(uint32_t warp_index, uint32_t lane, uint32_t running) {
  Warp& warp = warps_[warp_index];
  const LaneRequest& request = warp.requests[lane];
  if (request.operation == warpsmith_emulated::kActiveMask) return false;
  // A lane that its own mask does not name still takes part.
  uint32_t needed = (request.mask & ~warp.gone) | (1u << lane);
  if ((warp.waiting & needed) != needed) return false;
  for (uint32_t rest = needed; rest != 0; rest &= rest - 1) {
    const LaneRequest& other = warp.requests[std::countr_zero(rest)];
    if (other.operation != request.operation || other.mask != request.mask) return false;
  }
  ResolveWarpOperation(warp.requests, needed, warp.results);
  warp.waiting &= ~needed;
  ++progress;
  for (uint32_t rest = needed; rest != 0; rest &= rest - 1) {
    uint32_t thread = warp_index * 32 + static_cast<uint32_t>(std::countr_zero(rest));
    if (thread != running) PutReady(thread);
  }
  return true;
}

bool Block::ResolveActiveMasks() {
  bool any = false;
  for (uint32_t index = 0; index * 32 < threads_; ++index) {
    Warp& warp = warps_[index];
    uint32_t asking = 0;
    for (uint32_t rest = warp.waiting; rest != 0; rest &= rest - 1) {
      int lane = std::countr_zero(rest);
      if (warp.requests[lane].operation == warpsmith_emulated::kActiveMask) asking |= 1u << lane;
    }
    if (asking == 0) continue;
    any = true;
    ++progress;
    ResolveWarpOperation(warp.requests, asking, warp.results);
    warp.waiting &= ~asking;
    for (uint32_t rest = asking; rest != 0; rest &= rest - 1) {
      PutReady(index * 32 + static_cast<uint32_t>(std::countr_zero(rest)));
    }
  }
  return any;
}

void Block::ArriveAtGrid(uint32_t thread) {
  ++progress;
  ++at_grid_;
  grid_waiters_.push_back(static_cast<uint16_t>(thread));
}

void Block::ReleaseFromGrid() {
  for (uint32_t thread : grid_waiters_) PutReady(thread);
  grid_waiters_.clear();
  at_grid_ = 0;
}

void Block::End(uint32_t thread) {
  ++progress;
  --live_;
  uint32_t index = thread / 32;
  Warp& warp = warps_[index];
  warp.gone |= 1u << (thread % 32);
  // Those that waited for it need not any more.
  for (uint32_t rest = warp.waiting; rest != 0; rest &= rest - 1) {
    int lane = std::countr_zero(rest);
    if ((warp.waiting >> lane & 1) != 0) TryComplete(index, static_cast<uint32_t>(lane), kNobody);
  }
  if (live_ > 0 && arrived_ == live_) ReleaseBarrier(kNobody);
}

std::string Block::Describe() const {
  std::map<std::string, uint32_t> waits;
  if (!barrier_waiters_.empty()) waits["wait at __syncthreads"] += static_cast<uint32_t>(barrier_waiters_.size());
  if (at_grid_ > 0) waits["wait at the grid's barrier"] += at_grid_;
  for (uint32_t index = 0; index * 32 < threads_; ++index) {
    for (uint32_t rest = warps_[index].waiting; rest != 0; rest &= rest - 1) {
      const LaneRequest& request = warps_[index].requests[std::countr_zero(rest)];
      ++waits[fmt::format("wait at {} with mask {:#010x}", WarpOperationName(request.operation), request.mask)];
    }
  }
  if (threads_ > live_) waits["have ended"] += threads_ - live_;
  std::string text = fmt::format("of {} threads of block ({}, {}, {})", threads_, index_.x, index_.y, index_.z);
  int listed = 0;
  for (const auto& [what, count] : waits) {
    if (++listed > 6) break;
    text += fmt::format(", {} {}", count, what);
  }
  return text;
}

}  // namespace warpsmith::device
