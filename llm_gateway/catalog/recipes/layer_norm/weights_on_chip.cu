/* warpsmith-plan
{"version": 1, "min_arch": "sm_90",
 "scratch": [{"name": "partial", "dtype": "float32", "shape": [@{rows}, @{PARTS}, 2]}],
 "steps": [
   {"memset": "partial", "value": 255, "width": 1},
   {"kernel": "layer_norm", "grid": [@{PARTS}], "block": [@{BLOCK}], "cooperative": true, "shared_bytes": @{shared},
    "args": ["@{input}", "@{weight}", "@{bias}", "partial", "output"]}]}
*/
// The whole GPU walks over the rows together, every block over its own columns. The input comes in pieces into a ring
// of each warp in shared memory that holds more than a row's share: what is beyond it arrives while the blocks wait for
// one another. Weight and bias of the columns stay on the chip from the first row to the last: in registers, in shared
// memory and, of the first FAR pieces, in the L2 cache. Input, weight and bias are read once, and nothing is read twice
// from memory. A block's statistics are eight bytes which are written at once: whoever waits for them looks at them
// until they are no longer what the scratch was filled with.

constexpr int kVectors = @{cols} / 4;
constexpr int kRows = @{rows};
constexpr int kParts = @{PARTS};
constexpr int kBlock = @{BLOCK};
constexpr int kWarps = kBlock / 32;
constexpr int kGroup = @{GROUP};                  // vectors of a lane in a piece
constexpr int kPiece = 32 * kGroup;               // in vectors: what a warp copies at once
constexpr int kPieces = kVectors / kPiece;        // of a row
constexpr int kChunk = kPiece * kWarps;           // a piece of each warp of the block, one behind the other
constexpr int kChunks = (kPieces + kParts * kWarps - 1) / (kParts * kWarps);
constexpr bool kEven = kPieces == kParts * kWarps * kChunks;
constexpr bool kEqual = kEven && kParts % 32 == 0 && (kWarps & (kWarps - 1)) == 0;  // counts that are joined
constexpr int kSlots = @{SLOTS};
constexpr int kFar = @{FAR};                      // chunks whose weight and bias are read for each row
constexpr int kHeld = (kChunks - kFar) * kGroup;  // vectors of a lane whose weight and bias stay
constexpr int kInRegisters = kHeld < @{HELD} ? kHeld : @{HELD};
constexpr int kInShared = kHeld - kInRegisters;
constexpr int kAhead = @{AHEAD};                  // pieces which are brought into the L2 cache before their time
constexpr float kEpsilon = @{eps};
constexpr unsigned long long kMissing = ~0ull;    // no arithmetic has this result
static_assert(kVectors % kPiece == 0, "pieces must divide a row");
static_assert(kInRegisters % kGroup == 0, "a piece's weight and bias stay in one place");
static_assert(kSlots >= kChunks, "the ring must hold a row");
static_assert(kFar <= kChunks && kWarps <= 32, "as the settings say");

struct Statistics {
  float count;
  float mean;
  float square;  // sum of squared deviations from the mean
};

__device__ __forceinline__ Statistics join(Statistics a, Statistics b) {
  if (kEqual) {
    const float delta = b.mean - a.mean;
    return {a.count + b.count, 0.5f * (a.mean + b.mean), a.square + b.square + delta * delta * (0.5f * a.count)};
  }
  if (b.count == 0.0f) return a;
  const float total = a.count + b.count;
  const float delta = b.mean - a.mean;
  const float share = b.count / total;
  return {total, a.mean + delta * share, a.square + b.square + delta * delta * a.count * share};
}

template <int kLanes>
__device__ __forceinline__ Statistics join_lanes(Statistics mine) {
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2) {
    const Statistics other = {__shfl_xor_sync(0xffffffffu, mine.count, offset),
                              __shfl_xor_sync(0xffffffffu, mine.mean, offset),
                              __shfl_xor_sync(0xffffffffu, mine.square, offset)};
    mine = join(mine, other);
  }
  return mine;
}

// Pieces of the given warp of a block, and of a whole block.
__device__ __forceinline__ int pieces_of_warp(int block, int warp) {
  const int left = kPieces - block * kChunks * kWarps - warp;
  return kEven ? kChunks : min(kChunks, max(0, (left + kWarps - 1) / kWarps));
}

__device__ __forceinline__ int pieces_of_block(int block) {
  return kEven ? kChunks * kWarps : min(kChunks * kWarps, max(0, kPieces - block * kChunks * kWarps));
}

__device__ __forceinline__ void wait(unsigned barrier, unsigned parity) {
  unsigned done = 0;
  while (done == 0) {
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}\n"
                 : "=r"(done)
                 : "r"(barrier), "r"(parity)
                 : "memory");
  }
}

__device__ __forceinline__ void expect(unsigned barrier, unsigned pieces) {
  const unsigned bytes = 16 * kPiece * pieces;
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ __forceinline__ void request(const float4* from, unsigned to, unsigned barrier, unsigned long long policy) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::
          "r"(to),
      "l"(from), "r"(16 * kPiece), "r"(barrier), "l"(policy)
      : "memory");
}

__device__ __forceinline__ void announce(const float4* from) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(16 * kPiece) : "memory");
}

// Loads that stay where they stand, so that what they bring is kept.
__device__ __forceinline__ float4 load_once(const float4* from) {
  float4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(from));
  return v;
}

__device__ __forceinline__ float4 load_again(const float4* from, unsigned long long policy) {
  float4 v;
  asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.f32 {%0, %1, %2, %3}, [%4], %5;"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(from), "l"(policy));
  return v;
}

// A place in the walk over this warp's pieces, row by row.
struct Walk {
  const float4* at;
  int chunk, left;  // of the row; of all pieces

  __device__ __forceinline__ void next(int chunks) {
    --left;
    at += kChunk;
    if (++chunk == chunks) {
      chunk = 0;
      at += kVectors - static_cast<ptrdiff_t>(chunks) * kChunk;
    }
  }
};

// A lane's vectors of one piece: in two passes, around its first element.
__device__ __forceinline__ float2 of_piece(const float4 (&x)[kGroup]) {
  const float first = x[0].x;
  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
  for (int i = 0; i < kGroup; ++i) {
    sum = make_float4(sum.x + (x[i].x - first), sum.y + (x[i].y - first), sum.z + (x[i].z - first),
                      sum.w + (x[i].w - first));
  }
  const float mean = ((sum.x + sum.y) + (sum.z + sum.w)) * (0.25f / kGroup);
  float4 square = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
  for (int i = 0; i < kGroup; ++i) {
    const float4 d = make_float4(x[i].x - first - mean, x[i].y - first - mean, x[i].z - first - mean,
                                 x[i].w - first - mean);
    square = make_float4(square.x + d.x * d.x, square.y + d.y * d.y, square.z + d.z * d.z, square.w + d.w * d.w);
  }
  return make_float2(first + mean, (square.x + square.y) + (square.z + square.w));
}

__device__ __forceinline__ float4 normalized(float4 x, float4 w, float4 b, float2 row) {
  return make_float4((x.x - row.x) * row.y * w.x + b.x, (x.y - row.x) * row.y * w.y + b.y,
                     (x.z - row.x) * row.y * w.z + b.z, (x.w - row.x) * row.y * w.w + b.w);
}

__global__ void __launch_bounds__(kBlock, 1)
    layer_norm(const float4* __restrict__ input, const float4* __restrict__ weight, const float4* __restrict__ bias,
               unsigned long long* partial, float4* __restrict__ output) {
  extern __shared__ __align__(128) float4 memory[];  // the ring, then weight and bias
  __shared__ __align__(8) unsigned long long barriers[kWarps * (kSlots + 1)];  // a warp's last one: for what is kept
  __shared__ float2 warps[kWarps];
  __shared__ float2 of_row;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, block = blockIdx.x;
  const int chunks = pieces_of_warp(block, warp);
  const size_t column = static_cast<size_t>(block) * kChunks * kChunk + warp * kPiece;
  float4* const ring = memory + warp * kSlots * kPiece;
  float4* const kept = memory + kWarps * kSlots * kPiece + warp * kInShared * 64;
  const unsigned to_ring = static_cast<unsigned>(__cvta_generic_to_shared(ring));
  const unsigned full = static_cast<unsigned>(__cvta_generic_to_shared(barriers + warp * (kSlots + 1)));
  unsigned long long once, again;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(once));
  asm volatile("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(again));

  Walk fill = {input + column, 0, kRows * chunks}, before = fill;
  if (lane == 0) {
    for (int i = 0; i <= kSlots; ++i) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(full + 8 * i) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncwarp();
  for (int i = 0; i < kSlots && fill.left > 0; ++i, fill.next(chunks)) {
    if (lane == 0) {
      expect(full + 8 * i, 1);
      request(fill.at, to_ring + i * 16 * kPiece, full + 8 * i, once);
    }
  }
  if (kAhead > 0) {
    before = fill;
    for (int i = 0; i < kAhead && before.left > 0; ++i, before.next(chunks)) {
      if (lane == 0) announce(before.at);
    }
  }

  constexpr int kFirstKept = kFar + kInRegisters / kGroup;
  if (kInShared > 0 && chunks > kFirstKept && lane == 0) {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(kept)), barrier = full + 8 * kSlots;
    expect(barrier, 2 * (chunks - kFirstKept));
    for (int chunk = kFirstKept; chunk < chunks; ++chunk) {
      const unsigned at = to + (chunk - kFirstKept) * 32 * kPiece;
      request(weight + column + static_cast<size_t>(chunk) * kChunk, at, barrier, once);
      request(bias + column + static_cast<size_t>(chunk) * kChunk, at + 16 * kPiece, barrier, once);
    }
  }
  const float4* const my_weight = weight + column + lane;
  const float4* const my_bias = bias + column + lane;
  float4 w[kInRegisters > 0 ? kInRegisters : 1], b[kInRegisters > 0 ? kInRegisters : 1];
#pragma unroll
  for (int i = 0; i < kInRegisters; ++i) {
    const int chunk = kFar + i / kGroup, at = chunk * kChunk + i % kGroup * 32;
    if (kEven || chunk < chunks) {
      w[i] = load_once(my_weight + at);
      b[i] = load_once(my_bias + at);
    }
  }

  int slot = 0, first_slot = 0;
  unsigned parity = 0;
  for (int row = 0; row < kRows; ++row) {
    float mean = 0.0f, square = 0.0f;
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      if (kEven || chunk < chunks) {
        wait(full + 8 * slot, parity);
        float4 x[kGroup];
#pragma unroll
        for (int i = 0; i < kGroup; ++i) x[i] = ring[slot * kPiece + i * 32 + lane];
        const float2 piece = of_piece(x);
        const float delta = piece.x - mean, share = 1.0f / (chunk + 1);
        if (chunk == 0) {
          mean = piece.x;
          square = piece.y;
        } else {
          mean += delta * share;
          square += piece.y + delta * delta * (4.0f * kGroup * chunk * share);
        }
        if (++slot == kSlots) slot = 0, parity ^= 1;
      }
    }
    const Statistics of_warp = join_lanes<32>({4.0f * kGroup * chunks, mean, square});
    if (lane == 0) warps[warp] = make_float2(of_warp.mean, of_warp.square);
    float4 far_w[2][kGroup], far_b[2][kGroup];
    if (kFar > 0 && (kEven || chunks > 0)) {
#pragma unroll
      for (int i = 0; i < kGroup; ++i) {
        far_w[0][i] = load_again(my_weight + i * 32, again);
        far_b[0][i] = load_again(my_bias + i * 32, again);
      }
    }
    __syncthreads();
    if (warp == 0) {
      constexpr int kJoined = kWarps > 16 ? 32 : kWarps > 8 ? 16 : kWarps > 4 ? 8 : 4;
      const float2 other = warps[lane < kWarps ? lane : 0];
      Statistics mine = {lane < kWarps ? 4.0f * kPiece * pieces_of_warp(block, lane) : 0.0f, other.x, other.y};
      mine = join_lanes<kJoined>(mine);
      unsigned long long* const of_blocks = partial + static_cast<size_t>(row) * kParts;
      if (lane == 0) {
        const unsigned long long both =
            static_cast<unsigned long long>(__float_as_uint(mine.square)) << 32 | __float_as_uint(mine.mean);
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(of_blocks + block), "l"(both) : "memory");
      }
      Statistics all = {0.0f, 0.0f, 0.0f};
#pragma unroll
      for (int i = 0; i < kParts; i += 32) {
        if (kParts % 32 == 0 || i + lane < kParts) {
          unsigned long long both;
          do {
            asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(both) : "l"(of_blocks + i + lane) : "memory");
          } while (both == kMissing);
          const Statistics found = {4.0f * kPiece * pieces_of_block(i + lane), __uint_as_float(both & 0xffffffffull),
                                    __uint_as_float(both >> 32)};
          // Statistics of equal counts are joined pairwise; here one side grows.
          if (i == 0) {
            all = found;
          } else if (found.count > 0.0f) {
            const float delta = found.mean - all.mean, share = found.count / (all.count + found.count);
            all = {all.count + found.count, all.mean + delta * share,
                   all.square + found.square + delta * delta * all.count * share};
          }
        }
      }
      __syncwarp();
      all = join_lanes<32>(all);
      if (lane == 0) of_row = make_float2(all.mean, 1.0f / sqrtf(all.square / (4.0f * kVectors) + kEpsilon));
    }
    __syncthreads();
    const float2 found = of_row;
    if (kInShared > 0 && row == 0 && chunks > kFirstKept) wait(full + 8 * kSlots, 0);
    float4* const to = output + static_cast<size_t>(row) * kVectors + column + lane;
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      if (kEven || chunk < chunks) {
        float4 x[kGroup];
#pragma unroll
        for (int i = 0; i < kGroup; ++i) x[i] = ring[first_slot * kPiece + i * 32 + lane];
        if (chunk + 1 < kFar && (kEven || chunk + 1 < chunks)) {
#pragma unroll
          for (int i = 0; i < kGroup; ++i) {
            far_w[(chunk + 1) % 2][i] = load_again(my_weight + (chunk + 1) * kChunk + i * 32, again);
            far_b[(chunk + 1) % 2][i] = load_again(my_bias + (chunk + 1) * kChunk + i * 32, again);
          }
        }
#pragma unroll
        for (int i = 0; i < kGroup; ++i) {
          const int held = (chunk - kFar) * kGroup + i;
          float4 scale, shift;
          if (chunk < kFar) {
            scale = far_w[chunk % 2][i];
            shift = far_b[chunk % 2][i];
          } else if (held < kInRegisters) {
            scale = w[held];
            shift = b[held];
          } else {
            const float4* const at = kept + (chunk - kFirstKept) * 2 * kPiece + i * 32 + lane;
            scale = at[0];
            shift = at[kPiece];
          }
          __stcs(to + chunk * kChunk + i * 32, normalized(x[i], scale, shift, found));
        }
        if (fill.left > 0) {
          // Only now have all lanes surely read their vectors: their results are on the way.
          __syncwarp();
          if (lane == 0) {
            expect(full + 8 * first_slot, 1);
            request(fill.at, to_ring + first_slot * 16 * kPiece, full + 8 * first_slot, once);
          }
          fill.next(chunks);
          if (kAhead > 0 && before.left > 0) {
            if (lane == 0) announce(before.at);
            before.next(chunks);
          }
        }
        if (++first_slot == kSlots) first_slot = 0;
      }
    }
  }
}
