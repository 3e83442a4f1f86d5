/* warpsmith-plan
{"version": 1, "scratch": [],
 "steps": [{"kernel": "scan", "grid": [@{rows}], "block": [@{BLOCK}], "args": ["@{input}"@{?mask}, "@{mask}"@{/mask}, "output"]}]}
*/
// A block a row, ITEMS neighbouring elements a thread: scanned by the thread, by its warp through shuffles, by the block
// once through shared memory; what is carried to the next piece stays in registers. Loads and stores go through shared
// memory where STAGED, so that neighbouring threads touch neighbouring addresses.

constexpr int kLength = @{length};
constexpr bool kProduct = @{product} == 1, kReverse = @{reverse} == 1;
// Relative errors of products add up along a row, so that products are kept in double precision.
template <bool kDouble>
struct Kept {
  using Type = float;
};
template <>
struct Kept<true> {
  using Type = double;
};
using Value = Kept<kProduct>::Type;
constexpr float kNeutral = kProduct ? 1.0f : 0.0f;

__device__ __forceinline__ Value join(Value a, Value b) { return kProduct ? a * b : a + b; }
// Element `at` in the order of the scan.
__device__ __forceinline__ int place(int at) { return kReverse ? kLength - 1 - at : at; }

constexpr int kBlock = @{BLOCK}, kItems = @{ITEMS}, kWarps = kBlock / 32, kPiece = kBlock * kItems;
constexpr bool kStaged = @{STAGED} == 1, kAhead = @{AHEAD} == 1;

__device__ __forceinline__ float element(const float* __restrict__ row@{?mask}, const bool* __restrict__ keep@{/mask}, int at) {
  if (at >= kLength) return kNeutral;
  const float value = row[place(at)];
@{?mask}  return keep[place(at)] ? value : 0.0f * value;
@{/mask}@{!mask}  return value;
@{/mask}}

__global__ void __launch_bounds__(kBlock)
    scan(const float* __restrict__ input@{?mask}, const bool* __restrict__ mask@{/mask}, float* __restrict__ output) {
  __shared__ float staged[kStaged ? kBlock * (kItems + 1) : 1];
  __shared__ Value of_warps[2][kWarps];
  const int thread = threadIdx.x;
  const size_t first_of_row = static_cast<size_t>(blockIdx.x) * kLength;
  const float* row = input + first_of_row;
@{?mask}  const bool* keep = mask + first_of_row;
@{/mask}  Value carried = kNeutral;
  float next[kItems];
  auto request = [&](int first) {
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const int at = kStaged ? first + i * kBlock + thread : first + thread * kItems + i;
      next[i] = element(row@{?mask}, keep@{/mask}, at);
    }
  };
  if (kAhead) request(0);
  int turn = 0;
  for (int first = 0; first < kLength; first += kPiece, turn ^= 1) {
    if (!kAhead) request(first);
    Value x[kItems];
    if (kStaged) {
      __syncthreads();
#pragma unroll
      for (int i = 0; i < kItems; ++i) {
        const int at = i * kBlock + thread;
        staged[at / kItems * (kItems + 1) + at % kItems] = next[i];
      }
      __syncthreads();
#pragma unroll
      for (int i = 0; i < kItems; ++i) x[i] = staged[thread * (kItems + 1) + i];
    } else {
#pragma unroll
      for (int i = 0; i < kItems; ++i) x[i] = next[i];
    }
    if (kAhead && first + kPiece < kLength) request(first + kPiece);
#pragma unroll
    for (int i = 1; i < kItems; ++i) x[i] = join(x[i - 1], x[i]);
    Value before = x[kItems - 1];
    for (int offset = 1; offset < 32; offset *= 2) {
      const Value other = __shfl_up_sync(0xffffffffu, before, offset);
      if (thread % 32 >= offset) before = join(other, before);
    }
    if (thread % 32 == 31) of_warps[turn][thread / 32] = before;
    before = __shfl_up_sync(0xffffffffu, before, 1);
    if (thread % 32 == 0) before = kNeutral;
    __syncthreads();
    Value of_block = kNeutral;
    for (int warp = 0; warp < kWarps; ++warp) {
      if (warp == thread / 32) before = join(of_block, before);
      of_block = join(of_block, of_warps[turn][warp]);
    }
    before = join(carried, before);
    carried = join(carried, of_block);
#pragma unroll
    for (int i = 0; i < kItems; ++i) x[i] = join(before, x[i]);
    if (kStaged) {
#pragma unroll
      for (int i = 0; i < kItems; ++i) staged[thread * (kItems + 1) + i] = static_cast<float>(x[i]);
      __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const int in_piece = kStaged ? i * kBlock + thread : thread * kItems + i;
      const float value = kStaged ? staged[in_piece / kItems * (kItems + 1) + in_piece % kItems] : static_cast<float>(x[i]);
      if (first + in_piece < kLength) output[first_of_row + place(first + in_piece)] = value;
    }
  }
}
