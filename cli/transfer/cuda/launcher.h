
// ---- How the steps are launched -------------------------------------------------------------------------------------

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace warpsmith {

inline void Check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

// min() and max() of a plan.
template <typename... Values>
constexpr int64_t Least(int64_t first, Values... rest) {
  for (const int64_t value : {static_cast<int64_t>(rest)...}) first = value < first ? value : first;
  return first;
}
template <typename... Values>
constexpr int64_t Most(int64_t first, Values... rest) {
  for (const int64_t value : {static_cast<int64_t>(rest)...}) first = value > first ? value : first;
  return first;
}

// Its divisions: they truncate; in a grid a remainder is an error.
constexpr int64_t Quotient(int64_t left, int64_t right) { return left / right; }
constexpr int64_t Remainder(int64_t left, int64_t right) { return left % right; }
inline int64_t Exact(int64_t left, int64_t right) {
  if (left % right != 0) {
    std::fprintf(stderr, "a grid does not suit this GPU: a division by %lld leaves a remainder\n",
                 static_cast<long long>(right));
    std::exit(1);
  }
  return left / right;
}

struct Sizes {
  int64_t grid[3];
  int64_t block[3];
  int64_t shared_bytes;
  bool cooperative;
  unsigned cluster[3];  // 0: none
};

// `arguments`: the address of each, in order.
inline void Launch(const void* kernel, const char* name, const Sizes& sizes, void** arguments, cudaStream_t stream) {
  if (sizes.shared_bytes > 0) {
    Check(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(sizes.shared_bytes)),
        name);
  }
  cudaLaunchAttribute attributes[2] = {};
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(sizes.grid[0]), static_cast<unsigned>(sizes.grid[1]),
                        static_cast<unsigned>(sizes.grid[2]));
  config.blockDim = dim3(static_cast<unsigned>(sizes.block[0]), static_cast<unsigned>(sizes.block[1]),
                         static_cast<unsigned>(sizes.block[2]));
  config.dynamicSmemBytes = static_cast<size_t>(sizes.shared_bytes);
  config.stream = stream;
  config.attrs = attributes;
  if (sizes.cooperative) {
    attributes[config.numAttrs].id = cudaLaunchAttributeCooperative;
    attributes[config.numAttrs++].val.cooperative = 1;
  }
  if (sizes.cluster[0] > 0) {
    attributes[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
    attributes[config.numAttrs].val.clusterDim.x = sizes.cluster[0];
    attributes[config.numAttrs].val.clusterDim.y = sizes.cluster[1];
    attributes[config.numAttrs++].val.clusterDim.z = sizes.cluster[2];
  }
  Check(cudaLaunchKernelExC(&config, kernel, arguments), name);
}

// A memset of 1, 2 or 4 bytes a value.
template <typename Value>
__global__ void FillValues(Value* data, size_t count, Value value) {
  for (size_t i = blockIdx.x * size_t{256} + threadIdx.x; i < count; i += size_t{256} * gridDim.x) data[i] = value;
}

inline void Memset(void* data, unsigned value, int width, size_t count, cudaStream_t stream) {
  if (count == 0) return;
  if (width == 1) {
    Check(cudaMemsetAsync(data, static_cast<int>(value & 255), count, stream), "memset");
  } else if (width == 2) {
    FillValues<<<1024, 256, 0, stream>>>(static_cast<unsigned short*>(data), count, static_cast<unsigned short>(value));
  } else {
    FillValues<<<1024, 256, 0, stream>>>(static_cast<unsigned*>(data), count, value);
  }
}

// A TMA descriptor; shape, strides and box innermost first.
struct alignas(64) TensorMap {
  CUtensorMap map;
};

inline TensorMap EncodeTensorMap(void* data, CUtensorMapDataType type, unsigned rank, const cuuint64_t* shape,
                                 const cuuint64_t* stride_bytes, const cuuint32_t* box, CUtensorMapSwizzle swizzle) {
  using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                              const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                              CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  Check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found),
        "cuTensorMapEncodeTiled");
  const cuuint32_t each[5] = {1, 1, 1, 1, 1};
  TensorMap result;
  if (entry == nullptr ||
      reinterpret_cast<Encode>(entry)(&result.map, type, rank, data, shape, stride_bytes, box, each,
                                      CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                                      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
    std::fprintf(stderr, "cuTensorMapEncodeTiled failed: it needs sm_90 or later\n");
    std::exit(1);
  }
  return result;
}

}  // namespace warpsmith
