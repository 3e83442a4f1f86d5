/* warpsmith-plan
{"version": 1, "min_arch": "sm_90a", "scratch": [],
 "steps": [
   {"kernel": "attention", "grid": ["min(sm_count, @{tiles})"], "block": [384], "shared_bytes": "1024 + 256 * 128 * (1 + 2 * @{STAGES})",
    "args": [{"tensor_map": {"tensor": "@{query}", "box": [64, 128, 1, 1], "swizzle": "128B"}},
             {"tensor_map": {"tensor": "@{key}", "box": [64, 128, 1, 1], "swizzle": "128B"}},
             {"tensor_map": {"tensor": "@{value}", "box": [64, 128, 1, 1], "swizzle": "128B"}}, "output"]}]}
*/
// Attention by warpgroup products, two warpgroups in turn beside one that fetches. A maximum need not be exact: weights
// over an older one are as good until they leave the range of half precision, and then they are taken anew. So no step
// looks for a maximum or multiplies sums; weights are checked and added up as pairs of halves, two an instruction, in
// the form in which they meet their values.
#include <cuda_fp16.h>

constexpr int kHeads = @{heads}, kQueries = @{queries}, kKeys = @{keys};
constexpr int kTile = 128, kDimension = 128;
constexpr int kTilesOfHead = kQueries / kTile, kTiles = @{tiles}, kSteps = kKeys / kTile;
constexpr int kStages = @{STAGES};
constexpr int kHalf = kTile * 64 * 2, kBytes = 2 * kHalf;  // of a tile: two boxes of 64 columns
constexpr float kScale = 0.127517432f;  // of exponents of two: log2(e) / sqrt(kDimension)
constexpr float kLargest = 256.0f;      // of weights; 32 of them are added up in half precision

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

__device__ __forceinline__ const unsigned& bits(const __half2& pair) { return reinterpret_cast<const unsigned&>(pair); }

__device__ __forceinline__ void multiply_values(float (&d)[64], const __half2* a, unsigned long long b, int add) {
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
      : "r"(bits(a[0])), "r"(bits(a[1])), "r"(bits(a[2])), "r"(bits(a[3])), "l"(b), "r"(add));
}

__device__ __forceinline__ void settle(float (&sums)[64]) {
#pragma unroll
  for (int i = 0; i < 64; ++i) asm volatile("" : "+f"(sums[i])::"memory");
}

__device__ __forceinline__ void settle(__half2 (&weights)[32]) {
#pragma unroll
  for (int i = 0; i < 32; ++i) asm volatile("" : "+r"(reinterpret_cast<unsigned&>(weights[i]))::"memory");
}

__device__ __forceinline__ void issue_scores(float (&scores)[64], unsigned q, unsigned k) {
#pragma unroll
  for (int i = 0; i < kDimension / 16; ++i) {
    const int at = i / 4 * kHalf + i % 4 * 32;
    multiply_keys(scores, descriptor(q + at, 16, 1024), descriptor(k + at, 16, 1024), i > 0);
  }
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void issue_values(float (&sums)[64], const __half2 (&weights)[32], unsigned v, int add) {
#pragma unroll
  for (int i = 0; i < kTile / 16; ++i) {
    multiply_values(sums, weights + i * 4, descriptor(v + i * 2048, kHalf, 1024), i > 0 || add);
  }
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Two to the power of x; results below the normal numbers are zero.
__device__ __forceinline__ float power(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// Scores to weights, exponentials in half precision: 2 to the power of how far a scaled score exceeds its row's shift.
__device__ __forceinline__ void exponentiate(const float (&scores)[64], const float (&shift)[2],
                                             __half2 (&weights)[32]) {
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    const float low = power(scores[i * 2] * kScale - shift[i % 2]);
    weights[i] = __floats2half2_rn(low, power(scores[i * 2 + 1] * kScale - shift[i % 2]));
  }
}

// The rows' shifts become the maxima of their scaled scores; earlier sums have to be multiplied by `correction`.
__device__ __forceinline__ void move(const float (&scores)[64], float (&shift)[2], float (&correction)[2]) {
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    float highest = scores[row * 2];
#pragma unroll
    for (int i = 0; i < 16; ++i) highest = fmaxf(highest, fmaxf(scores[i * 4 + row * 2], scores[i * 4 + row * 2 + 1]));
    highest = fmaxf(highest, __shfl_xor_sync(0xffffffffu, highest, 1));
    highest = fmaxf(highest, __shfl_xor_sync(0xffffffffu, highest, 2));
    const float next = fmaxf(shift[row], highest * kScale);
    correction[row] = power(shift[row] - next);
    shift[row] = next;
  }
}

// Whether a weight of the warp's rows has left the range, be it to infinity.
__device__ __forceinline__ bool too_large(const __half2 (&weights)[32]) {
  __half2 highest[4] = {weights[0], weights[1], weights[2], weights[3]};
#pragma unroll
  for (int i = 4; i < 32; ++i) highest[i % 4] = __hmax2(highest[i % 4], weights[i]);
  const __half2 most = __hmax2(__hmax2(highest[0], highest[1]), __hmax2(highest[2], highest[3]));
  return __any_sync(0xffffffffu, __low2float(most) > kLargest || __high2float(most) > kLargest);
}

// Sums of the weights as they are multiplied: trees of pairs of halves, then float32.
__device__ __forceinline__ void add_weights(const __half2 (&weights)[32], float (&sum)[2]) {
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    __half2 parts[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) parts[i] = __hadd2(weights[i * 4 + row], weights[i * 4 + row + 2]);
#pragma unroll
    for (int i = 0; i < 4; ++i) parts[i] = __hadd2(parts[i], parts[i + 4]);
    const float2 a = __half22float2(__hadd2(parts[0], parts[2])), b = __half22float2(__hadd2(parts[1], parts[3]));
    sum[row] += (a.x + a.y) + (b.x + b.y);
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

__device__ __forceinline__ void take_turn(int group) { asm volatile("bar.sync %0, 256;" ::"r"(1 + group) : "memory"); }

__device__ __forceinline__ void give_turn(int group) {
  asm volatile("bar.arrive %0, 256;" ::"r"(2 - group) : "memory");
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
    for (int i = 0; i < 2 + 4 * kStages; ++i) {
      const bool is_empty = i < 2 ? i == 1 : (i - 2) / kStages % 2 == 1;
      asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(q_full + 8 * i), "r"(is_empty ? 2 : 1));
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
      __half2 weights[2][32];  // of this step and of the last one, which its product still reads
      float shift[2] = {__int_as_float(0xff800000), __int_as_float(0xff800000)}, sum[2] = {}, correction[2];
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
      move(scores, shift, correction);
      exponentiate(scores, shift, weights[0]);
      add_weights(weights[0], sum);
      const auto take_step = [&](__half2(&now)[32], __half2(&next)[32], int step) {
        wait(k_full + 8 * k_stage, k_phase);
        take_turn(group);
        settle(scores);
        settle(now);
        settle(sums);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        issue_scores(scores, my_q, keys + k_stage * kBytes);
        wait(v_full + 8 * v_stage, v_phase);
        issue_values(sums, now, values + v_stage * kBytes, step > 1);
        give_turn(group);
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
        settle(scores);
        if (speaks) arrive(k_empty + 8 * k_stage);
        if (++k_stage == kStages) k_stage = 0, k_phase ^= 1;
        if (step == kSteps - 1 && speaks) arrive(q_empty);
        exponentiate(scores, shift, next);
        const bool moved = too_large(next);
        if (moved) {
          move(scores, shift, correction);
          sum[0] *= correction[0];
          sum[1] *= correction[1];
          exponentiate(scores, shift, next);
        }
        add_weights(next, sum);
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        settle(sums);
        settle(now);
        if (speaks) arrive(v_empty + 8 * v_stage);
        if (++v_stage == kStages) v_stage = 0, v_phase ^= 1;
        if (moved) {
#pragma unroll
          for (int i = 0; i < 64; ++i) sums[i] *= correction[i / 2 % 2];
        }
      };
      for (int step = 1;; step += 2) {
        if (kSteps % 2 == 1 && step == kSteps) break;
        take_step(weights[0], weights[1], step);
        if (kSteps % 2 == 0 && step + 1 == kSteps) break;
        take_step(weights[1], weights[0], step + 1);
      }
      __half2(&last)[32] = weights[(kSteps - 1) % 2];
      wait(v_full + 8 * v_stage, v_phase);
      settle(last);
      settle(sums);
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
      issue_values(sums, last, values + v_stage * kBytes, kSteps > 1);
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
