#include "gpu_worker/device/emulated/warp_operations.h"

#include <algorithm>
#include <bit>

namespace warpsmith::device {
namespace {

namespace emulated = warpsmith_emulated;

// The lane a shuffle reads; its own where the source would lie outside the segment.
uint32_t SourceLane(uint32_t lane, const LaneRequest& request) {
  uint32_t width = request.width - 1 < 32 && (request.width & (request.width - 1)) == 0 ? request.width : 32;
  uint32_t base = lane & ~(width - 1);
  switch (request.operation) {
    case emulated::kShuffleIndex:
      return base | (request.operand & (width - 1));
    case emulated::kShuffleUp: {
      uint32_t delta = request.operand & 31;
      return lane < base + delta ? lane : lane - delta;
    }
    case emulated::kShuffleDown: {
      uint32_t delta = request.operand & 31;
      return lane + delta >= base + width ? lane : lane + delta;
    }
    default: {
      uint32_t source = lane ^ (request.operand & 31);
      return source >= base + width ? lane : source;
    }
  }
}

template <typename Combine>
uint64_t Fold(const std::array<LaneRequest, 32>& requests, uint32_t lanes, uint32_t start, Combine combine) {
  uint32_t result = start;
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    result = combine(result, static_cast<uint32_t>(requests[std::countr_zero(rest)].value));
  }
  return result;
}

uint32_t EqualLanes(const std::array<LaneRequest, 32>& requests, uint32_t lanes, uint64_t value) {
  uint32_t equal = 0;
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    int lane = std::countr_zero(rest);
    if (requests[lane].value == value) equal |= 1u << lane;
  }
  return equal;
}

// The result that all lanes share.
uint64_t Shared(uint32_t operation, const std::array<LaneRequest, 32>& requests, uint32_t lanes) {
  auto signed_of = [](uint32_t value) { return static_cast<int32_t>(value); };
  switch (operation) {
    case emulated::kBallot:
      return EqualLanes(requests, lanes, 1);
    case emulated::kVoteAll:
      return EqualLanes(requests, lanes, 1) == lanes;
    case emulated::kVoteAny:
      return EqualLanes(requests, lanes, 1) != 0;
    case emulated::kMatchAll:
      return EqualLanes(requests, lanes, requests[std::countr_zero(lanes)].value) == lanes ? lanes : 0;
    case emulated::kReduceAdd:
      return Fold(requests, lanes, 0, [](uint32_t a, uint32_t b) { return a + b; });
    case emulated::kReduceMinSigned:
      return Fold(requests, lanes, 0x7fffffffu,
                  [&](uint32_t a, uint32_t b) { return signed_of(a) < signed_of(b) ? a : b; });
    case emulated::kReduceMaxSigned:
      return Fold(requests, lanes, 0x80000000u,
                  [&](uint32_t a, uint32_t b) { return signed_of(a) > signed_of(b) ? a : b; });
    case emulated::kReduceMinUnsigned:
      return Fold(requests, lanes, ~0u, [](uint32_t a, uint32_t b) { return std::min(a, b); });
    case emulated::kReduceMaxUnsigned:
      return Fold(requests, lanes, 0, [](uint32_t a, uint32_t b) { return std::max(a, b); });
    case emulated::kReduceAnd:
      return Fold(requests, lanes, ~0u, [](uint32_t a, uint32_t b) { return a & b; });
    case emulated::kReduceOr:
      return Fold(requests, lanes, 0, [](uint32_t a, uint32_t b) { return a | b; });
    case emulated::kReduceXor:
      return Fold(requests, lanes, 0, [](uint32_t a, uint32_t b) { return a ^ b; });
    case emulated::kActiveMask:
      return lanes;
    default:
      return 0;
  }
}

}  // namespace

void ResolveWarpOperation(const std::array<LaneRequest, 32>& requests, uint32_t lanes,
                          std::array<uint64_t, 32>& results) {
  if (lanes == 0) return;
  uint32_t operation = requests[std::countr_zero(lanes)].operation;
  bool shuffle = operation >= emulated::kShuffleIndex && operation <= emulated::kShuffleXor;
  uint64_t shared = shuffle || operation == emulated::kMatchAny ? 0 : Shared(operation, requests, lanes);
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    uint32_t lane = static_cast<uint32_t>(std::countr_zero(rest));
    if (shuffle) {
      uint32_t source = SourceLane(lane, requests[lane]);
      // A lane that does not take part has no value to give: all ones is NaN for floats.
      results[lane] = (lanes >> source & 1) != 0 ? requests[source].value : ~uint64_t{0};
    } else if (operation == emulated::kMatchAny) {
      results[lane] = EqualLanes(requests, lanes, requests[lane].value);
    } else {
      results[lane] = shared;
    }
  }
}

std::string_view WarpOperationName(uint32_t operation) {
  static constexpr std::array<std::string_view, 19> kNames = {
      "__syncwarp",        "__shfl_sync",       "__shfl_up_sync",    "__shfl_down_sync",  "__shfl_xor_sync",
      "__ballot_sync",     "__all_sync",        "__any_sync",        "__match_any_sync",  "__match_all_sync",
      "__reduce_add_sync", "__reduce_min_sync", "__reduce_max_sync", "__reduce_min_sync", "__reduce_max_sync",
      "__reduce_and_sync", "__reduce_or_sync",  "__reduce_xor_sync", "__activemask"};
  return operation < kNames.size() ? kNames[operation] : "a warp operation";
}

}  // namespace warpsmith::device
