/* warpsmith-plan
{"version": 1, "min_arch": "sm_90a", "scratch": [],
 "steps": [
   {"kernel": "attention", "grid": ["min(sm_count, @{tiles})"], "block": [384], "shared_bytes": "1024 + 256 * 128 * (1 + 2 * @{STAGES})",
    "args": [{"tensor_map": {"tensor": "@{query}", "box": [64, 128, 1, 1], "swizzle": "128B"}},
             {"tensor_map": {"tensor": "@{key}", "box": [64, 128, 1, 1], "swizzle": "128B"}},
             {"tensor_map": {"tensor": "@{value}", "box": [64, 128, 1, 1], "swizzle": "128B"}}, "output"]}]}
*/
// Attention without its matrix ever leaving registers. One warpgroup fetches; two take 64 queries each. While the tensor
// cores multiply one tile's weights with its values, the CUDA cores take the next tile's exponentials. With kTurns the
// two warpgroups issue their products in turn, so that one's exponentials always lie beside the other's products.
#include <cuda_fp16.h>

// 1 / sqrt(value), by Newton's method.
__device__ constexpr float inverse_root(double value) {
  double guess = 1.0 / value;
  for (int i = 0; i < 40; ++i) guess *= 1.5 - 0.5 * value * guess * guess;
  return static_cast<float>(guess);
}

constexpr int kHeads = @{heads}, kQueries = @{queries}, kKeys = @{keys};
constexpr int kTile = 128, kDimension = 128;
constexpr int kTilesOfHead = kQueries / kTile, kTiles = @{tiles}, kSteps = kKeys / kTile;
constexpr int kStages = @{STAGES};
constexpr bool kTurns = @{TURNS} == 1;
constexpr int kHalf = kTile * 64 * 2, kBytes = 2 * kHalf;  // of a tile: two boxes of 64 columns
constexpr float kScale = 1.44269504f * inverse_root(kDimension);           // of exponents of two

struct __align__(64) TensorMap {
  char opaque[128];
};

// Rows of 128 bytes with the 128-byte swizzle; `leading` and `stride` in bytes.
__device__ __forceinline__ unsigned long long descriptor(unsigned address, unsigned leading, unsigned stride) {
  return (static_cast<unsigned long long>(address & 0x3ffff) >> 4) |
         (static_cast<unsigned long long>(leading >> 4) << 16) | (static_cast<unsigned long long>(stride >> 4) << 32) |
         (1ull << 62);
}

__device__ __forceinline__ void expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
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

__device__ __forceinline__ void load(const TensorMap* map, unsigned to, int row, int head, unsigned barrier) {
#pragma unroll
  for (int box = 0; box < 2; ++box) {
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], "
        "[%6];" ::"r"(to + box * kHalf),
        "l"(map), "r"(box * 64), "r"(row), "r"(head % kHeads), "r"(head / kHeads), "r"(barrier)
        : "memory");
  }
}

__device__ __forceinline__ void arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ __forceinline__ void multiply_keys(float (&d)[64], unsigned long long a, unsigned long long b, int add) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, add, 1, 1, 0, 0;\n}\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
        "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
        "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
        "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]),
        "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]),
        "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
        "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]),
        "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
      : "l"(a), "l"(b), "r"(add));
}

__device__ __forceinline__ void multiply_values(float (&d)[64], const unsigned (&a)[4], unsigned long long b, int add) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %69, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "{%64, %65, %66, %67}, %68, add, 1, 1, 1;\n}\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
        "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
        "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
        "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]),
        "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]),
        "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
        "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]),
        "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}

__device__ __forceinline__ void settle(float (&sums)[64]) {
#pragma unroll
  for (int i = 0; i < 64; ++i) asm volatile("" : "+f"(sums[i])::"memory");
}

__device__ __forceinline__ void settle(unsigned (&weights)[8][4]) {
#pragma unroll
  for (int i = 0; i < 8; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) asm volatile("" : "+r"(weights[i][j])::"memory");
  }
}

__device__ __forceinline__ void issue_scores(float (&scores)[64], unsigned q, unsigned k) {
#pragma unroll
  for (int i = 0; i < kDimension / 16; ++i) {
    const int at = i / 4 * kHalf + i % 4 * 32;
    multiply_keys(scores, descriptor(q + at, 16, 1024), descriptor(k + at, 16, 1024), i > 0);
  }
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void issue_values(float (&sums)[64], const unsigned (&weights)[8][4], unsigned v, int add) {
#pragma unroll
  for (int i = 0; i < kTile / 16; ++i) {
    multiply_values(sums, weights[i], descriptor(v + i * 2048, kHalf, 1024), i > 0 || add);
  }
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Scores to exponentials over the new maximum; `correction` is what earlier sums have to be multiplied by.
__device__ __forceinline__ void exponentiate(float (&scores)[64], float (&maximum)[2], float (&sum)[2],
                                             float (&correction)[2]) {
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    float highest = maximum[row];
#pragma unroll
    for (int i = 0; i < 16; ++i) highest = fmaxf(highest, fmaxf(scores[i * 4 + row * 2], scores[i * 4 + row * 2 + 1]));
    highest = fmaxf(highest, __shfl_xor_sync(0xffffffffu, highest, 1));
    highest = fmaxf(highest, __shfl_xor_sync(0xffffffffu, highest, 2));
    correction[row] = exp2f((maximum[row] - highest) * kScale);
    maximum[row] = highest;
    const float shift = highest * kScale;
    float added = 0.0f;
#pragma unroll
    for (int i = 0; i < 16; ++i) {
#pragma unroll
      for (int s = 0; s < 2; ++s) {
        float& score = scores[i * 4 + row * 2 + s];
        score = exp2f(score * kScale - shift);
        added += score;
      }
    }
    sum[row] = sum[row] * correction[row] + added;
  }
}

__device__ __forceinline__ void round_weights(const float (&scores)[64], unsigned (&weights)[8][4]) {
#pragma unroll
  for (int i = 0; i < 8; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const __half2 pair = __floats2half2_rn(scores[i * 8 + j * 2], scores[i * 8 + j * 2 + 1]);
      weights[i][j] = *reinterpret_cast<const unsigned*>(&pair);
    }
  }
}

// Of four values in each of four neighbouring lanes: lane t gets the t-th value of each lane, in order.
__device__ __forceinline__ void transpose(unsigned (&v)[4], int lane) {
  const bool odd = lane & 1, upper = lane & 2;
#pragma unroll
  for (int i = 0; i < 4; i += 2) {
    const unsigned other = __shfl_xor_sync(0xffffffffu, odd ? v[i] : v[i + 1], 1);
    if (odd) v[i] = other; else v[i + 1] = other;
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const unsigned other = __shfl_xor_sync(0xffffffffu, upper ? v[i] : v[i + 2], 2);
    if (upper) v[i] = other; else v[i + 2] = other;
  }
}

__device__ __forceinline__ void take_turn(int group) {
  if (kTurns) asm volatile("bar.sync %0, 256;" ::"r"(1 + group) : "memory");
}

__device__ __forceinline__ void give_turn(int group) {
  if (kTurns) asm volatile("bar.arrive %0, 256;" ::"r"(2 - group) : "memory");
}

__global__ void __launch_bounds__(384, 1)
    attention(const __grid_constant__ TensorMap query, const __grid_constant__ TensorMap key,
              const __grid_constant__ TensorMap value, __half* __restrict__ output) {
  extern __shared__ char memory[];
  __shared__ __align__(8) unsigned long long barriers[2 + 4 * kStages];
  const unsigned q = (static_cast<unsigned>(__cvta_generic_to_shared(memory)) + 1023u) & ~1023u;
  const unsigned keys = q + kBytes, values = keys + kStages * kBytes;
  const unsigned q_full = static_cast<unsigned>(__cvta_generic_to_shared(barriers)), q_empty = q_full + 8;
  const unsigned k_full = q_full + 16, k_empty = k_full + 8 * kStages;
  const unsigned v_full = k_empty + 8 * kStages, v_empty = v_full + 8 * kStages;
  if (threadIdx.x == 0) {
    for (int i = 0; i < 1 + 2 * kStages; ++i) {
      const unsigned full = i == 0 ? q_full : i <= kStages ? k_full + 8 * (i - 1) : v_full + 8 * (i - 1 - kStages);
      const unsigned empty = i == 0 ? q_empty : i <= kStages ? k_empty + 8 * (i - 1) : v_empty + 8 * (i - 1 - kStages);
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(full));
      asm volatile("mbarrier.init.shared.b64 [%0], 2;" ::"r"(empty));
    }
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  __syncthreads();
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (threadIdx.x == 0) {
      int k_stage = 0, k_phase = 0, v_stage = 0, v_phase = 0, q_phase = 0;
      for (int tile = blockIdx.x; tile < kTiles; tile += gridDim.x) {
        const int head = tile / kTilesOfHead;
        wait(q_empty, q_phase ^ 1);
        expect(q_full, kBytes);
        load(&query, q, tile % kTilesOfHead * kTile, head, q_full);
        q_phase ^= 1;
        for (int step = 0; step <= kSteps; ++step) {  // keys run one step ahead of values
          if (step < kSteps) {
            wait(k_empty + 8 * k_stage, k_phase ^ 1);
            expect(k_full + 8 * k_stage, kBytes);
            load(&key, keys + k_stage * kBytes, step * kTile, head, k_full + 8 * k_stage);
            if (++k_stage == kStages) k_stage = 0, k_phase ^= 1;
          }
          if (step > 0) {
            wait(v_empty + 8 * v_stage, v_phase ^ 1);
            expect(v_full + 8 * v_stage, kBytes);
            load(&value, values + v_stage * kBytes, (step - 1) * kTile, head, v_full + 8 * v_stage);
            if (++v_stage == kStages) v_stage = 0, v_phase ^= 1;
          }
        }
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    const int group = threadIdx.x / 128 - 1, warp = threadIdx.x % 128 / 32, lane = threadIdx.x % 32;
    const bool speaks = threadIdx.x % 128 == 0;
    const unsigned my_q = q + group * 64 * 128;
    int k_stage = 0, k_phase = 0, v_stage = 0, v_phase = 0, q_phase = 0;
    if (group == 1) give_turn(1);  // the first warpgroup begins
    for (int tile = blockIdx.x; tile < kTiles; tile += gridDim.x) {
      float sums[64], scores[64];
      unsigned weights[8][4];
      float maximum[2] = {__int_as_float(0xff800000), __int_as_float(0xff800000)}, sum[2] = {}, correction[2];
      wait(q_full, q_phase);
      q_phase ^= 1;
      wait(k_full + 8 * k_stage, k_phase);
      take_turn(group);
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
      issue_scores(scores, my_q, keys + k_stage * kBytes);
      give_turn(group);
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
      settle(scores);
      if (speaks) arrive(k_empty + 8 * k_stage);
      if (++k_stage == kStages) k_stage = 0, k_phase ^= 1;
      if (kSteps == 1 && speaks) arrive(q_empty);
      exponentiate(scores, maximum, sum, correction);
      round_weights(scores, weights);
      for (int step = 1; step < kSteps; ++step) {
        wait(k_full + 8 * k_stage, k_phase);
        take_turn(group);
        settle(scores);
        settle(weights);
        settle(sums);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        issue_scores(scores, my_q, keys + k_stage * kBytes);
        wait(v_full + 8 * v_stage, v_phase);
        issue_values(sums, weights, values + v_stage * kBytes, step > 1);
        give_turn(group);
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
        settle(scores);
        if (speaks) arrive(k_empty + 8 * k_stage);
        if (++k_stage == kStages) k_stage = 0, k_phase ^= 1;
        if (step == kSteps - 1 && speaks) arrive(q_empty);
        exponentiate(scores, maximum, sum, correction);
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        settle(sums);
        settle(weights);
        if (speaks) arrive(v_empty + 8 * v_stage);
        if (++v_stage == kStages) v_stage = 0, v_phase ^= 1;
#pragma unroll
        for (int i = 0; i < 64; ++i) sums[i] *= correction[i / 2 % 2];
        round_weights(scores, weights);
      }
      wait(v_full + 8 * v_stage, v_phase);
      settle(weights);
      settle(sums);
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
      issue_values(sums, weights, values + v_stage * kBytes, kSteps > 1);
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
      settle(sums);
      if (speaks) arrive(v_empty + 8 * v_stage);
      if (++v_stage == kStages) v_stage = 0, v_phase ^= 1;
#pragma unroll
      for (int row = 0; row < 2; ++row) {
        sum[row] += __shfl_xor_sync(0xffffffffu, sum[row], 1);
        sum[row] += __shfl_xor_sync(0xffffffffu, sum[row], 2);
        const float factor = 1.0f / sum[row];
        const int at = tile * kTile + group * 64 + warp * 16 + lane / 4 + row * 8;
        __half* to = output + static_cast<size_t>(at) * kDimension + lane % 4 * 8;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          unsigned v[4];
#pragma unroll
          for (int s = 0; s < 4; ++s) {
            const int from = (j * 4 + s) * 4 + row * 2;
            const __half2 pair = __floats2half2_rn(sums[from] * factor, sums[from + 1] * factor);
            v[s] = *reinterpret_cast<const unsigned*>(&pair);
          }
          transpose(v, lane);
          *reinterpret_cast<uint4*>(to + j * 32) = make_uint4(v[0], v[1], v[2], v[3]);
        }
      }
    }
    if (group == 0) take_turn(0);  // the turn that the other one gave last
  }
}
