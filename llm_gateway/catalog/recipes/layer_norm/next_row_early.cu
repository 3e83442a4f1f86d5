/* warpsmith-plan
{"version": 1, "min_arch": "sm_90",
 "scratch": [{"name": "boxes", "dtype": "float32", "shape": [@{rows}, @{PARTS}, @{PARTS}, 2]}],
 "steps": [
   {"kernel": "layer_norm", "grid": [@{PARTS}], "block": [@{BLOCK}], "cooperative": true,
    "shared_bytes": @{shared},
    "args": ["@{input}", "@{weight}", "@{bias}", "boxes", "output"]}]}
*/
// The whole GPU holds a row at a time in registers. Weight and bias of a block's columns stay on the chip from the
// first row to the last, in registers and shared memory; of some vectors a thread they come out of the L2 cache for
// each row. The first RING vectors of a row come by way of shared memory: they are asked for a row early, so that they
// arrive while the blocks meet for the row before theirs. The registers of the other vectors are asked for the next row
// as soon as their result is stored. Results of the ring's vectors leave last, behind the telling of the next row's
// statistics, which hides most of the meeting; no warp stores one of them before the telling is out, which would queue
// behind the stores. A block's first warp writes the block's statistics into a box of each block and looks at the boxes
// of its own block alone: eight bytes a block that are written at once. Who waits looks at them until they are no
// longer what they were cleared to, with two looks under way at any time.
#include <cooperative_groups.h>

constexpr int kVectors = @{cols} / 4;
constexpr int kRows = @{rows};
constexpr int kParts = @{PARTS};
constexpr int kBlock = @{BLOCK};
constexpr int kWarps = kBlock / 32;
constexpr int kHeld = kVectors / (kParts * kBlock);  // vectors of a thread
// Where weight and bias of a thread's vectors are: of the first ones in registers, of the next ones in shared memory,
// of the last ones in the L2 cache.
constexpr int kKept = @{in_registers};
constexpr int kShared = @{in_shared};
constexpr int kFar = kHeld - kKept - kShared;
constexpr int kRing = @{in_ring};  // vectors that come by way of shared memory: the first ones
constexpr float kEpsilon = @{eps};
constexpr unsigned long long kMissing = ~0ull;  // no arithmetic has this result
constexpr int kBoxes = kParts / 32;             // of a lane
constexpr unsigned kHalfLook = 400;             // clock cycles, half of the way to the L2 cache and back
static_assert(kVectors == kParts * kBlock * kHeld, "blocks must divide a row");
static_assert(kFar >= 0 && kRing <= kHeld - kFar, "as the settings say");
static_assert((kWarps & (kWarps - 1)) == 0 && (kParts & (kParts - 1)) == 0 && kParts >= 64, "counts that are joined");

// Mean and squared deviations of two sets of `count` elements each.
__device__ __forceinline__ float2 join(float2 a, float2 b, float count) {
  const float delta = b.x - a.x;
  return make_float2(0.5f * (a.x + b.x), a.y + b.y + delta * delta * (0.5f * count));
}

template <int kLanes>
__device__ __forceinline__ float2 join_lanes(float2 mine, float count) {
#pragma unroll
  for (int offset = 1; offset < kLanes; offset *= 2) {
    const float2 other =
        make_float2(__shfl_xor_sync(0xffffffffu, mine.x, offset), __shfl_xor_sync(0xffffffffu, mine.y, offset));
    mine = join(mine, other, count * offset);
  }
  return mine;
}

__device__ __forceinline__ float4 load(const float4* from, unsigned long long policy) {
  float4 v;
  asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.f32 {%0, %1, %2, %3}, [%4], %5;"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(from), "l"(policy));
  return v;
}

__device__ __forceinline__ void store(float4* to, float4 v) {
  asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w));
}

// Copies that only the thread that asks for them reads.
__device__ __forceinline__ void request(const float4* from, unsigned to, unsigned long long policy) {
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "l"(policy)
               : "memory");
}

__device__ __forceinline__ void add(float4 x, float first, float4& sum, float4& square) {
  const float4 d = make_float4(x.x - first, x.y - first, x.z - first, x.w - first);
  sum = make_float4(sum.x + d.x, sum.y + d.y, sum.z + d.z, sum.w + d.w);
  square = make_float4(square.x + d.x * d.x, square.y + d.y * d.y, square.z + d.z * d.z, square.w + d.w * d.w);
}

__device__ __forceinline__ float4 normalized(float4 x, float4 w, float4 b, float2 row) {
  return make_float4((x.x - row.x) * row.y * w.x + b.x, (x.y - row.x) * row.y * w.y + b.y,
                     (x.z - row.x) * row.y * w.z + b.z, (x.w - row.x) * row.y * w.w + b.w);
}

// The first warp joins the statistics of the block's threads, keeps the mean and writes both into a box of each block.
__device__ __forceinline__ void tell(unsigned long long* boxes, const float2* of_threads, int row, float* own_mean) {
  const int lane = threadIdx.x % 32;
  float2 all[kWarps];
#pragma unroll
  for (int i = 0; i < kWarps; ++i) all[i] = of_threads[i * 32 + lane];
#pragma unroll
  for (int step = 1; step < kWarps; step *= 2) {
#pragma unroll
    for (int i = 0; i < kWarps; i += 2 * step) all[i] = join(all[i], all[i + step], 4.0f * kHeld * step);
  }
  const float2 mine = join_lanes<32>(all[0], 4.0f * kHeld * kWarps);
  if (lane == 0) *own_mean = mine.x;
  const unsigned long long both =
      static_cast<unsigned long long>(__float_as_uint(mine.y)) << 32 | __float_as_uint(mine.x);
  unsigned long long* const at = boxes + (static_cast<size_t>(row) * kParts + lane) * kParts + blockIdx.x;
#pragma unroll
  for (int i = 0; i < kBoxes; ++i) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(at + i * 32 * kParts), "l"(both) : "memory");
  }
}

// Sums of the means of blocks, and squared deviations, of two sets of `blocks` blocks each. With sums in place of means
// the chain from lane to lane is one addition a step.
__device__ __forceinline__ float2 join_sums(float2 a, float2 b, int blocks) {
  const float delta = b.x - a.x;
  return make_float2(a.x + b.x, a.y + b.y + delta * delta * (2.0f * kHeld * kBlock / blocks));
}

// A lane's boxes, all asked for at once.
__device__ __forceinline__ void look(const unsigned long long* at, unsigned long long (&seen)[kBoxes]) {
#pragma unroll
  for (int i = 0; i < kBoxes; i += 2) {
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(seen[i]), "=l"(seen[i + 1])
                 : "l"(at + i)
                 : "memory");
  }
}

__device__ __forceinline__ bool complete(const unsigned long long (&seen)[kBoxes]) {
  bool missing = false;
#pragma unroll
  for (int i = 0; i < kBoxes; ++i) missing |= seen[i] == kMissing;
  return !__any_sync(0xffffffffu, missing);
}

// It then looks at the block's own boxes until all have been written: the row's mean and the factor of its deviations.
__device__ __forceinline__ float2 told(const unsigned long long* boxes, int row, const float* own_mean) {
  const unsigned long long* const at =
      boxes + (static_cast<size_t>(row) * kParts + blockIdx.x) * kParts + threadIdx.x % 32 * kBoxes;
  __syncwarp();
  const float own = *own_mean;
  // Two looks are under way at any time, so that what is written is seen half a look earlier.
  unsigned long long seen[kBoxes], other[kBoxes];
  look(at, seen);
  const unsigned begin = static_cast<unsigned>(clock());
  while (static_cast<unsigned>(clock()) - begin < kHalfLook) {
  }
  for (;;) {
    look(at, other);
    if (complete(seen)) break;
    look(at, seen);
    if (complete(other)) {
#pragma unroll
      for (int i = 0; i < kBoxes; ++i) seen[i] = other[i];
      break;
    }
  }
  // Differences from the mean of one of the blocks stay exact where all means are large.
  float2 all[kBoxes];
#pragma unroll
  for (int i = 0; i < kBoxes; ++i) {
    all[i] = make_float2(__uint_as_float(seen[i] & 0xffffffffull) - own, __uint_as_float(seen[i] >> 32));
  }
#pragma unroll
  for (int step = 1; step < kBoxes; step *= 2) {
#pragma unroll
    for (int i = 0; i < kBoxes; i += 2 * step) all[i] = join_sums(all[i], all[i + step], step);
  }
  __syncwarp();
  float2 sums = all[0];
#pragma unroll
  for (int offset = 1; offset < 32; offset *= 2) {
    const float2 other =
        make_float2(__shfl_xor_sync(0xffffffffu, sums.x, offset), __shfl_xor_sync(0xffffffffu, sums.y, offset));
    sums = join_sums(sums, other, kBoxes * offset);
  }
  return make_float2(own + sums.x * (1.0f / kParts), rsqrtf(sums.y * (1.0f / (4.0f * kVectors)) + kEpsilon));
}

__global__ void __launch_bounds__(kBlock, 1)
    layer_norm(const float4* __restrict__ input, const float4* __restrict__ weight, const float4* __restrict__ bias,
               unsigned long long* boxes, float4* __restrict__ output) {
  extern __shared__ __align__(128) float4 memory[];  // weights, biases, the ring
  __shared__ __align__(8) unsigned long long barrier;
  __shared__ float2 of_threads[kBlock];
  __shared__ float2 of_row;
  __shared__ float own_mean;  // of this block's part of the row
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  const size_t column = static_cast<size_t>(blockIdx.x) * (kBlock * kHeld);
  const unsigned arrived = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  const float4* const ring = memory + 2 * kShared * kBlock + thread;
  const unsigned to_ring = static_cast<unsigned>(__cvta_generic_to_shared(ring));
  unsigned long long once, again;  // what is read once gives way to the rest
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(once));
  asm volatile("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(again));

  const float4* from = input + column + thread;
  const float4* const far_weight = weight + column + thread + (kKept + kShared) * kBlock;
  const float4* const far_bias = bias + column + thread + (kKept + kShared) * kBlock;
  float4 x[kHeld], w[kKept > 0 ? kKept : 1], b[kKept > 0 ? kKept : 1];
#pragma unroll
  for (int i = 0; i < kHeld; ++i) x[i] = load(from + i * kBlock, once);
  if (thread == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(arrived) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(arrived), "r"(32 * kShared * kBlock)
                 : "memory");
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(memory));
    for (int i = 0; i < 2 * kShared; ++i) {
      const float4* const source =
          i < kShared ? weight + column + (kKept + i) * kBlock : bias + column + (kKept + i - kShared) * kBlock;
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, "
          "[%3], %4;" ::"r"(to + i * 16 * kBlock),
          "l"(source), "r"(16 * kBlock), "r"(arrived), "l"(once)
          : "memory");
    }
  }
  // Every block clears its own boxes; the loads are on the way meanwhile.
  for (int i = thread; i < kRows * kParts; i += kBlock) {
    boxes[(static_cast<size_t>(i / kParts) * kParts + blockIdx.x) * kParts + i % kParts] = kMissing;
  }
  cooperative_groups::this_grid().sync();
  // Asked for behind the meeting, which would wait for the asking: the first statistics do without.
#pragma unroll
  for (int i = 0; i < kKept; ++i) {
    w[i] = load(weight + column + thread + i * kBlock, once);
    b[i] = load(bias + column + thread + i * kBlock, once);
  }
#pragma unroll
  for (int i = 0; i < kRing; ++i) {
    if (kRows > 1) request(from + kVectors + i * kBlock, to_ring + i * 16 * kBlock, once);
  }

  float4* to = output + column + thread;
  float2 found = make_float2(0.0f, 0.0f);
#pragma unroll 1
  for (int row = -1; row < kRows; ++row) {  // before the first row, its statistics alone
    const bool more = row + 1 < kRows, still_more = row + 2 < kRows;
    float4 far_w[kFar > 0 ? kFar : 1] = {}, far_b[kFar > 0 ? kFar : 1] = {};
    const auto leave = [&](int i) {  // a vector's result
      const float4 scale = i < kKept ? w[i] : i < kKept + kShared ? memory[(i - kKept) * kBlock + thread]
                                                                  : far_w[i - kKept - kShared];
      const float4 shift = i < kKept ? b[i] : i < kKept + kShared ? memory[(kShared + i - kKept) * kBlock + thread]
                                                                  : far_b[i - kKept - kShared];
      store(to + i * kBlock, normalized(x[i], scale, shift, found));
    };
    const auto follow = [&](int i) {  // the next row's vector out of the ring, and the one behind it into the ring
      if (more) {
        x[i] = ring[i * kBlock];
        if (still_more) request(from + kVectors + i * kBlock, to_ring + i * 16 * kBlock, once);
      }
    };
    if (row >= 0) {
      from += kVectors;  // now at the next row
      if (warp == 0) {
        found = told(boxes, row, &own_mean);
        if (lane == 0) of_row = found;
      }
      __syncthreads();
      found = of_row;
#pragma unroll
      for (int i = 0; i < kFar; ++i) {
        far_w[i] = load(far_weight + i * kBlock, again);
        far_b[i] = load(far_bias + i * kBlock, again);
      }
      if (row == 0) {
        unsigned done = 0;
        while (done == 0) {
          asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], 0;\nselp.u32 %0, 1, 0, p;\n}\n"
                       : "=r"(done)
                       : "r"(arrived)
                       : "memory");
        }
      }
#pragma unroll
      for (int i = kRing; i < kHeld; ++i) {
        leave(i);
        if (more) x[i] = load(from + i * kBlock, once);
      }
      asm volatile("cp.async.wait_all;" ::: "memory");  // the next row's part of the ring
    }
    if (more) {
      const float4 front = row >= 0 && kRing > 0 ? ring[0] : x[0];
      float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f), square = sum;
#pragma unroll
      for (int i = 0; i < kHeld; ++i) {
        add(i < kRing && row >= 0 ? ring[i * kBlock] : x[i], front.x, sum, square);
      }
      const float total = (sum.x + sum.y) + (sum.z + sum.w);
      const float mean = total * (0.25f / kHeld);
      const float around = fmaxf((square.x + square.y) + (square.z + square.w) - total * mean, 0.0f);
      of_threads[thread] = make_float2(front.x + mean, around);
      if (warp == 0) {
        asm volatile("bar.sync 1, %0;" ::"n"(kBlock) : "memory");
        tell(boxes, of_threads, row + 1, &own_mean);
        asm volatile("bar.arrive 2, %0;" ::"n"(kBlock) : "memory");
      } else {
        asm volatile("bar.arrive 1, %0;" ::"n"(kBlock) : "memory");
        asm volatile("bar.sync 2, %0;" ::"n"(kBlock) : "memory");  // the telling goes before all stores
      }
    }
    if (row >= 0) {
#pragma unroll
      for (int i = 0; i < kRing; ++i) {
        leave(i);
        follow(i);
      }
      to += kVectors;
    }
  }
}
