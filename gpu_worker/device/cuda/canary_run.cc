#include "gpu_worker/device/cuda/canary_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "gpu_worker/device/cuda/canary_kernel.h"
#include "gpu_worker/device/cuda/driver_api.h"

namespace warpsmith::cuda {
namespace {

constexpr uint32_t kThreads = 1U << 19;  // more than any GPU holds at once: every multiprocessor takes part
constexpr uint32_t kBlock = 256;
constexpr uint32_t kCheckedRounds = 16;
constexpr uint32_t kTimedRounds = 4096;
constexpr uint32_t kCheckedStep = 4099;  // of the timed run every so many elements are checked
constexpr int kSamples = 5;
constexpr std::chrono::milliseconds kWarmUp(60);  // until clocks have risen
constexpr size_t kCopySizes[] = {size_t{256} << 20, size_t{64} << 20};
constexpr uint32_t kCopyPattern = 0x9e3779b9;

absl::Status Wrong(std::string_view what) {
  return MakeStatus(absl::StatusCode::kDataLoss, fmt::format("the GPU computes wrongly: {}", what));
}

// Everything is released with the process.
class CanaryRun {
 public:
  explicit CanaryRun(const DriverApi& api) : api_(api) {}

  absl::StatusOr<CanaryFigures> Run() {
    WARPSMITH_RETURN_IF_ERROR(Open());
    CanaryFigures figures;
    WARPSMITH_RETURN_IF_ERROR(CheckEveryThread());
    WARPSMITH_RETURN_IF_ERROR(TimeKernel(figures));
    for (const size_t bytes : kCopySizes) {
      const absl::Status copied = TimeCopy(bytes, figures);
      if (copied.ok()) break;
      if (copied.code() != absl::StatusCode::kResourceExhausted) return copied;
    }
    return figures;
  }

 private:
  absl::Status Ok(CUresult result, std::string_view what) const { return CudaStatus(api_, result, what); }

  absl::Status Open() {
    CUdevice device = 0;
    CUcontext context = nullptr;
    WARPSMITH_RETURN_IF_ERROR(Ok(api_.cuInit(0), "starting the NVIDIA driver (cuInit)"));
    WARPSMITH_RETURN_IF_ERROR(Ok(api_.cuDeviceGet(&device, 0), "finding the GPU"));
    WARPSMITH_RETURN_IF_ERROR(Ok(api_.cuDevicePrimaryCtxRetain(&context, device), "making a context"));
    WARPSMITH_RETURN_IF_ERROR(Ok(api_.cuCtxSetCurrent(context), "taking the context"));
    WARPSMITH_RETURN_IF_ERROR(Ok(api_.cuModuleLoadData(&module_, kCanaryPtx), "compiling the canary"));
    WARPSMITH_RETURN_IF_ERROR(Ok(api_.cuModuleGetFunction(&mix_, module_, "canary_mix"), "finding canary_mix"));
    WARPSMITH_RETURN_IF_ERROR(Ok(api_.cuModuleGetFunction(&sum_, module_, "canary_sum"), "finding canary_sum"));
    WARPSMITH_RETURN_IF_ERROR(Ok(api_.cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "making a stream"));
    WARPSMITH_RETURN_IF_ERROR(Ok(api_.cuEventCreate(&before_, CU_EVENT_DEFAULT), "making an event"));
    WARPSMITH_RETURN_IF_ERROR(Ok(api_.cuEventCreate(&after_, CU_EVENT_DEFAULT), "making an event"));
    return Ok(api_.cuMemAlloc(&out_, kThreads * sizeof(uint32_t)), "2 MiB of GPU memory");
  }

  absl::Status Mix(uint32_t rounds) {
    void* arguments[] = {&out_, &rounds};
    return Ok(api_.cuLaunchKernel(mix_, kThreads / kBlock, 1, 1, kBlock, 1, 1, 0, stream_, arguments, nullptr),
              "launching the canary");
  }

  absl::Status Wait() { return Ok(api_.cuStreamSynchronize(stream_), "running the canary"); }

  // Every `step`th element.
  absl::Status CheckMix(uint32_t rounds, uint32_t step) {
    WARPSMITH_RETURN_IF_ERROR(Wait());
    std::vector<uint32_t> out(kThreads);
    WARPSMITH_RETURN_IF_ERROR(
        Ok(api_.cuMemcpyDtoH(out.data(), out_, out.size() * sizeof(uint32_t)), "reading the canary's result"));
    for (uint32_t i = 0; i < kThreads; i += step) {
      const uint32_t expected = MixOnHost(i, rounds);
      if (out[i] != expected) {
        return Wrong(fmt::format("element {} of the canary is {:#010x}, not {:#010x}", i, out[i], expected));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckEveryThread() {
    WARPSMITH_RETURN_IF_ERROR(Ok(api_.cuMemsetD32Async(out_, 0, kThreads, stream_), "clearing the canary's result"));
    WARPSMITH_RETURN_IF_ERROR(Mix(kCheckedRounds));
    return CheckMix(kCheckedRounds, 1);
  }

  // The fastest of a few, in milliseconds: what else runs here can only slow it down.
  template <typename Enqueue>
  absl::StatusOr<double> Fastest(Enqueue enqueue) {
    double best = 0;
    for (int i = 0; i < kSamples; ++i) {
      WARPSMITH_RETURN_IF_ERROR(Ok(api_.cuEventRecord(before_, stream_), "an event"));
      WARPSMITH_RETURN_IF_ERROR(enqueue());
      WARPSMITH_RETURN_IF_ERROR(Ok(api_.cuEventRecord(after_, stream_), "an event"));
      WARPSMITH_RETURN_IF_ERROR(Wait());
      float milliseconds = 0;
      WARPSMITH_RETURN_IF_ERROR(Ok(api_.cuEventElapsedTime(&milliseconds, before_, after_), "timing the canary"));
      best = i == 0 ? milliseconds : std::min<double>(best, milliseconds);
    }
    return best;
  }

  absl::Status TimeKernel(CanaryFigures& figures) {
    const TimePoint warm = RealClock().Now() + kWarmUp;
    while (RealClock().Now() < warm) {
      WARPSMITH_RETURN_IF_ERROR(Mix(kTimedRounds));
      WARPSMITH_RETURN_IF_ERROR(Wait());
    }
    WARPSMITH_ASSIGN_OR_RETURN(figures.kernel_ms, Fastest([this] { return Mix(kTimedRounds); }));
    return CheckMix(kTimedRounds, kCheckedStep);
  }

  absl::Status TimeCopy(size_t bytes, CanaryFigures& figures) {
    CUdeviceptr buffer = 0;
    const std::string what = fmt::format("{} MiB of GPU memory", 2 * bytes >> 20);
    WARPSMITH_RETURN_IF_ERROR(Ok(api_.cuMemAlloc(&buffer, 2 * bytes), what));
    const CUdeviceptr to = buffer + bytes;
    const size_t words = bytes / sizeof(uint32_t);
    WARPSMITH_RETURN_IF_ERROR(Ok(api_.cuMemsetD32Async(buffer, kCopyPattern, words, stream_), "filling"));
    WARPSMITH_RETURN_IF_ERROR(Ok(api_.cuMemsetD32Async(to, 0, words, stream_), "filling"));
    WARPSMITH_ASSIGN_OR_RETURN(const double milliseconds, Fastest([&] {
                                 return Ok(api_.cuMemcpyDtoDAsync(to, buffer, bytes, stream_), "copying");
                               }));
    WARPSMITH_RETURN_IF_ERROR(CheckCopy(to, words));
    WARPSMITH_RETURN_IF_ERROR(Ok(api_.cuMemFree(buffer), "freeing GPU memory"));
    if (milliseconds <= 0) return Internal("the GPU's clock stands still");
    figures.copy_bytes = static_cast<int64_t>(bytes);
    figures.copy_bytes_per_second = 2.0 * static_cast<double>(bytes) / (milliseconds / 1e3);
    return absl::OkStatus();
  }

  absl::Status CheckCopy(CUdeviceptr copy, uint64_t words) {
    WARPSMITH_RETURN_IF_ERROR(Ok(api_.cuMemsetD32Async(out_, 0, 2, stream_), "clearing the sum"));
    void* arguments[] = {&copy, &words, &out_};
    WARPSMITH_RETURN_IF_ERROR(Ok(api_.cuLaunchKernel(sum_, 1024, 1, 1, kBlock, 1, 1, 0, stream_, arguments, nullptr),
                                 "launching the canary's sum"));
    WARPSMITH_RETURN_IF_ERROR(Wait());
    uint64_t total = 0;
    WARPSMITH_RETURN_IF_ERROR(Ok(api_.cuMemcpyDtoH(&total, out_, sizeof total), "reading the sum"));
    if (total != words * kCopyPattern) return Wrong("a copy in its memory differs from the original");
    return absl::OkStatus();
  }

  const DriverApi& api_;
  CUmodule module_ = nullptr;
  CUfunction mix_ = nullptr;
  CUfunction sum_ = nullptr;
  CUstream stream_ = nullptr;
  CUevent before_ = nullptr;
  CUevent after_ = nullptr;
  CUdeviceptr out_ = 0;
};

}  // namespace

absl::StatusOr<CanaryFigures> RunCanary() {
  WARPSMITH_ASSIGN_OR_RETURN(const DriverApi* api, DriverApi::Load());
  return CanaryRun(*api).Run();
}

}  // namespace warpsmith::cuda
