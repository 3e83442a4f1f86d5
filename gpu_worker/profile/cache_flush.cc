#include "gpu_worker/profile/cache_flush.h"

#include <algorithm>

namespace warpsmith::profile {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned long long kLeastBytes = 64ull << 20;

// Each thread reads 16 bytes at a time, a grid's width apart; the sum is stored only for a value that never comes, so
// that nothing is optimised away and nothing is written.
constexpr char kReadAll[] = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry warpsmith_read_all(.param .u64 data, .param .u64 bytes)
{
  .reg .pred %p<3>;
  .reg .b32 %r<12>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [data];
  ld.param.u64 %rd2, [bytes];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %nctaid.x;
  mad.lo.u32 %r5, %r1, %r2, %r3;
  mul.wide.u32 %rd3, %r5, 16;
  mul.lo.u32 %r6, %r4, %r2;
  mul.wide.u32 %rd4, %r6, 16;
  mov.u32 %r7, 0;
LOOP:
  setp.ge.u64 %p1, %rd3, %rd2;
  @%p1 bra DONE;
  add.u64 %rd5, %rd1, %rd3;
  ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%rd5];
  xor.b32 %r8, %r8, %r9;
  xor.b32 %r10, %r10, %r11;
  xor.b32 %r8, %r8, %r10;
  or.b32 %r7, %r7, %r8;
  add.u64 %rd3, %rd3, %rd4;
  bra LOOP;
DONE:
  setp.ne.u32 %p2, %r7, 305419896;
  @%p2 bra END;
  st.global.u32 [%rd1], %r7;
END:
  ret;
}
)";

}  // namespace

CacheFlush::CacheFlush(executor::CudaContext& context) : context_(context), api_(context.api()) {
  if (!MakeReader().ok()) read_ = nullptr;
}

absl::Status CacheFlush::MakeReader() {
  const int cache = context_.Attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  const int processors = context_.Attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  bytes_ = std::max(kLeastBytes, 3ull * static_cast<unsigned long long>(std::max(cache, 0)));
  blocks_ = static_cast<unsigned>(std::max(processors, 1)) * 8;
  WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(api_, api_.cuModuleLoadData(&module_, kReadAll), "loading the flush"));
  WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(api_, api_.cuModuleGetFunction(&read_, module_, "warpsmith_read_all"),
                                             "finding the flush's kernel"));
  WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(api_, api_.cuMemAlloc(&data_, bytes_), "memory for the flush"));
  WARPSMITH_RETURN_IF_ERROR(
      cuda::CudaStatus(api_, api_.cuMemsetD8Async(data_, 0, bytes_, context_.stream()), "filling the flush's memory"));
  return cuda::CudaStatus(api_, context_.Synchronize(), "filling the flush's memory");
}

CacheFlush::~CacheFlush() {
  if (data_ != 0) api_.cuMemFree(data_);
  if (module_ != nullptr) api_.cuModuleUnload(module_);
}

absl::Status CacheFlush::Enqueue() {
  // Lines that a kernel has asked to keep do not leave by themselves.
  WARPSMITH_RETURN_IF_ERROR(
      cuda::CudaStatus(api_, context_.ResetPersistingCache(), "resetting the persisting lines of L2"));
  if (read_ == nullptr) return cuda::CudaStatus(api_, context_.FlushCache(), "emptying the caches");
  void* arguments[] = {&data_, &bytes_};
  return cuda::CudaStatus(
      api_, api_.cuLaunchKernel(read_, blocks_, 1, 1, kThreads, 1, 1, 0, context_.stream(), arguments, nullptr),
      "emptying the caches");
}

}  // namespace warpsmith::profile
