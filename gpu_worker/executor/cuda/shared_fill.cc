#include "gpu_worker/executor/cuda/shared_fill.h"

namespace warpsmith::executor {
namespace {

// A block takes a whole multiprocessor's shared memory, and none ends before all have begun, so each is on another one.
constexpr char kPtx[] = R"(
.version 7.0
.target sm_80
.address_size 64

.extern .shared .align 16 .b8 room[];

.visible .entry warpsmith_fill_shared(
  .param .u32 words,
  .param .u32 word,
  .param .u64 arrived,
  .param .u64 expected
)
{
  .reg .pred %p<4>;
  .reg .b32 %r<8>;
  .reg .b64 %d<4>;

  ld.param.u32 %r1, [words];
  ld.param.u32 %r2, [word];
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, room;
FILL:
  setp.ge.u32 %p1, %r3, %r1;
  @%p1 bra FILLED;
  shl.b32 %r6, %r3, 2;
  add.u32 %r6, %r6, %r5;
  st.volatile.shared.u32 [%r6], %r2;
  add.u32 %r3, %r3, %r4;
  bra FILL;
FILLED:
  bar.sync 0;
  mov.u32 %r3, %tid.x;
  setp.ne.u32 %p2, %r3, 0;
  @%p2 bra END;
  ld.param.u64 %d1, [arrived];
  ld.param.u64 %d2, [expected];
  atom.global.add.u64 %d3, [%d1], 1;
WAIT:
  ld.volatile.global.u64 %d3, [%d1];
  setp.lt.u64 %p3, %d3, %d2;
  @%p3 bra WAIT;
END:
  ret;
}
)";

constexpr unsigned int kThreads = 512;

}  // namespace

const char* SharedFill::Ptx() { return kPtx; }

absl::Status SharedFill::Load(int multiprocessors, int shared_bytes) {
  multiprocessors_ = static_cast<unsigned int>(multiprocessors);
  shared_bytes_ = static_cast<unsigned int>(shared_bytes);
  CUmodule module = nullptr;
  WARPSMITH_RETURN_IF_ERROR(
      cuda::CudaStatus(api_, api_.cuModuleLoadDataEx(&module, kPtx, 0, nullptr, nullptr), "compiling our PTX"));
  WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(
      api_, api_.cuModuleGetFunction(&function_, module, "warpsmith_fill_shared"), "cuModuleGetFunction"));
  WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(
      api_, api_.cuFuncSetAttribute(function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared_bytes),
      "asking for all shared memory"));
  WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(api_, api_.cuMemAlloc(&arrived_, sizeof(uint64_t)), "cuMemAlloc"));
  const uint64_t zero = 0;
  WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(api_, api_.cuMemcpyHtoD(arrived_, &zero, sizeof zero), "cuMemcpyHtoD"));
  // The launches' stream does not wait for such a copy.
  return cuda::CudaStatus(api_, api_.cuCtxSynchronize(), "cuCtxSynchronize");
}

CUresult SharedFill::Launch(uint32_t word, CUstream stream) {
  unsigned int words = shared_bytes_ / sizeof(uint32_t);
  uint64_t expected = ++launches_ * multiprocessors_;
  void* arguments[] = {&words, &word, &arrived_, &expected};
  CUlaunchAttribute cooperative{};
  cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  cooperative.value.cooperative = 1;
  CUlaunchConfig config{};
  config.gridDimX = multiprocessors_;
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = kThreads;
  config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = shared_bytes_;
  config.hStream = stream;
  config.attrs = &cooperative;
  config.numAttrs = 1;
  return api_.cuLaunchKernelEx(&config, function_, arguments, nullptr);
}

}  // namespace warpsmith::executor
