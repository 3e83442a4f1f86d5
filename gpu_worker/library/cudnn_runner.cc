#include "gpu_worker/library/cudnn_runner.h"

#include <algorithm>
#include <array>

#include "gpu_worker/library/cudnn_attention.h"
#include "gpu_worker/library/cudnn_convolution.h"

namespace warpsmith::library {
namespace {

// A stream with two events, which end together.
class Stopwatch {
 public:
  explicit Stopwatch(const cuda::DriverApi& api) : api_(api) {}
  ~Stopwatch() {
    if (stream_ != nullptr) api_.cuStreamDestroy(stream_);
    for (CUevent event : events_) {
      if (event != nullptr) api_.cuEventDestroy(event);
    }
  }
  absl::Status Start() {
    WARPSMITH_RETURN_IF_ERROR(
        cuda::CudaStatus(api_, api_.cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "a stream"));
    for (CUevent& event : events_) {
      WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(api_, api_.cuEventCreate(&event, CU_EVENT_DEFAULT), "an event"));
    }
    return absl::OkStatus();
  }
  absl::StatusOr<float> Run(const std::function<absl::Status(CUstream)>& enqueue) {
    WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(api_, api_.cuEventRecord(events_[0], stream_), "timing"));
    absl::Status status = enqueue(stream_);
    api_.cuEventRecord(events_[1], stream_);
    const CUresult end = api_.cuStreamSynchronize(stream_);
    WARPSMITH_RETURN_IF_ERROR(status);
    WARPSMITH_RETURN_IF_ERROR(cuda::CudaStatus(api_, end, "the first run of a library step"));
    float milliseconds = 0;
    WARPSMITH_RETURN_IF_ERROR(
        cuda::CudaStatus(api_, api_.cuEventElapsedTime(&milliseconds, events_[0], events_[1]), "timing"));
    return milliseconds;
  }

 private:
  const cuda::DriverApi& api_;
  CUstream stream_ = nullptr;
  std::array<CUevent, 2> events_{};
};

}  // namespace

cudnnDataType_t CudnnTypeOf(DataType type) {
  switch (type) {
    case DataType::kFloat32:
      return CUDNN_DATA_FLOAT;
    case DataType::kFloat16:
      return CUDNN_DATA_HALF;
    case DataType::kBfloat16:
      return CUDNN_DATA_BFLOAT16;
  }
  return CUDNN_DATA_FLOAT;
}

absl::StatusOr<std::unique_ptr<CudnnRunner>> CudnnRunner::Create(const cuda::DriverApi& driver,
                                                                 const std::vector<std::string>& folders) {
  WARPSMITH_ASSIGN_OR_RETURN(const CudnnApi* api, CudnnApi::Load(folders));
  std::unique_ptr<CudnnRunner> runner(new CudnnRunner(driver, *api));
  WARPSMITH_RETURN_IF_ERROR(CudnnStatus(*api, api->cudnnCreate(&runner->handle_), "making cuDNN's handle"));
  return runner;
}

CudnnRunner::~CudnnRunner() {
  if (handle_ != nullptr) api_.cudnnDestroy(handle_);
}

absl::StatusOr<std::shared_ptr<PreparedCall>> CudnnRunner::Prepare(
    const ConvolutionCall& call, const std::map<std::string, CUdeviceptr>& addresses) {
  return PrepareConvolution(this, call, addresses);
}

absl::StatusOr<std::shared_ptr<PreparedCall>> CudnnRunner::Prepare(
    const AttentionCall& call, const std::map<std::string, CUdeviceptr>& addresses) {
  return PrepareAttention(this, call, addresses);
}

absl::Status CudnnRunner::UseStream(CUstream stream) {
  return CudnnStatus(api_, api_.cudnnSetStream(handle_, stream), "cuDNN's stream");
}

absl::Status CudnnRunner::Reserve(size_t bytes) {
  if (bytes == 0 || (!workspaces_.empty() && workspaces_.back().bytes() >= bytes)) return absl::OkStatus();
  WARPSMITH_ASSIGN_OR_RETURN(DeviceBuffer larger, DeviceBuffer::Allocate(driver_, bytes, "cuDNN's workspace"));
  workspaces_.push_back(std::move(larger));
  return absl::OkStatus();
}

absl::StatusOr<float> CudnnRunner::Time(const std::function<absl::Status(CUstream)>& enqueue) {
  Stopwatch watch(driver_);
  WARPSMITH_RETURN_IF_ERROR(watch.Start());
  WARPSMITH_RETURN_IF_ERROR(watch.Run(enqueue).status());
  std::array<float, 3> samples{};
  for (float& sample : samples) {
    WARPSMITH_ASSIGN_OR_RETURN(sample, watch.Run(enqueue));
  }
  std::sort(samples.begin(), samples.end());
  return samples[1];
}

}  // namespace warpsmith::library
