#include "gpu_worker/library/cudnn_convolution.h"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

namespace warpsmith::library {
namespace {

constexpr float kWorthASwitch = 0.97f;

std::string_view Name(cudnnConvolutionFwdAlgo_t algorithm) {
  switch (algorithm) {
    case CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM:
      return "implicit gemm";
    case CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM:
      return "implicit precomputed gemm";
    case CUDNN_CONVOLUTION_FWD_ALGO_GEMM:
      return "gemm";
    case CUDNN_CONVOLUTION_FWD_ALGO_DIRECT:
      return "direct";
    case CUDNN_CONVOLUTION_FWD_ALGO_FFT:
      return "FFT";
    case CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING:
      return "tiled FFT";
    case CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD:
      return "Winograd";
    case CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED:
      return "Winograd, not fused";
    default:
      return "another";
  }
}

class PreparedConvolution : public PreparedCall {
 public:
  PreparedConvolution(CudnnRunner* runner, ConvolutionCall call)
      : runner_(runner), api_(runner->api()), call_(std::move(call)) {}
  ~PreparedConvolution() override {
    if (x_ != nullptr) api_.cudnnDestroyTensorDescriptor(x_);
    if (y_ != nullptr) api_.cudnnDestroyTensorDescriptor(y_);
    if (w_ != nullptr) api_.cudnnDestroyFilterDescriptor(w_);
    if (convolution_ != nullptr) api_.cudnnDestroyConvolutionDescriptor(convolution_);
  }

  absl::Status Describe(const char* field, cudnnStatus_t status) {
    return CudnnStatus(api_, status, fmt::format("conv_forward: {}", field));
  }

  absl::Status MakeDescriptors() {
    const cudnnTensorFormat_t format = call_.channels_last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
    const cudnnDataType_t type = CudnnTypeOf(call_.type);
    const int dimensions = static_cast<int>(call_.x.size());
    WARPSMITH_RETURN_IF_ERROR(Describe("x", api_.cudnnCreateTensorDescriptor(&x_)));
    WARPSMITH_RETURN_IF_ERROR(Describe("y", api_.cudnnCreateTensorDescriptor(&y_)));
    WARPSMITH_RETURN_IF_ERROR(Describe("w", api_.cudnnCreateFilterDescriptor(&w_)));
    WARPSMITH_RETURN_IF_ERROR(Describe("padA", api_.cudnnCreateConvolutionDescriptor(&convolution_)));
    WARPSMITH_RETURN_IF_ERROR(
        Describe("dimA", api_.cudnnSetTensorNdDescriptorEx(x_, format, type, dimensions, call_.x.data())));
    WARPSMITH_RETURN_IF_ERROR(
        Describe("y", api_.cudnnSetTensorNdDescriptorEx(y_, format, type, dimensions, call_.y.data())));
    WARPSMITH_RETURN_IF_ERROR(
        Describe("filterDimA", api_.cudnnSetFilterNdDescriptor(w_, type, format, dimensions, call_.w.data())));
    WARPSMITH_RETURN_IF_ERROR(Describe(
        "padA, filterStrideA, dilationA",
        api_.cudnnSetConvolutionNdDescriptor(convolution_, dimensions - 2, call_.padding.data(), call_.stride.data(),
                                             call_.dilation.data(), CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT)));
    WARPSMITH_RETURN_IF_ERROR(Describe("groupCount", api_.cudnnSetConvolutionGroupCount(convolution_, call_.groups)));
    return SetMath(MathTypeOf(call_.compute, call_.type));
  }

  absl::Status ChooseAlgorithm(const std::map<std::string, CUdeviceptr>& addresses) {
    std::array<cudnnConvolutionFwdAlgoPerf_t, CUDNN_CONVOLUTION_FWD_ALGO_COUNT> proposals{};
    int count = 0;
    WARPSMITH_RETURN_IF_ERROR(CudnnStatus(
        api_,
        api_.cudnnGetConvolutionForwardAlgorithm_v7(runner_->handle(), x_, w_, convolution_, y_,
                                                    static_cast<int>(proposals.size()), &count, proposals.data()),
        "conv_forward: the choice of an algorithm"));
    // Tried into memory of its own: nothing but Enqueue writes y.
    const size_t bytes = static_cast<size_t>(call_.y_extent * ElementBytes(call_.type));
    auto target = DeviceBuffer::Allocate(runner_->driver(), bytes, "a trial target");
    std::map<std::string, CUdeviceptr> trial = addresses;
    if (target.ok()) trial["y"] = target->address();
    absl::Status last = FailedPrecondition("cuDNN proposes none");
    float best = 0;
    Choice chosen;
    for (int i = 0; i < count; ++i) {
      if (proposals[i].status != CUDNN_STATUS_SUCCESS) continue;
      choice_ = {proposals[i].algo, proposals[i].mathType, 0};
      // What the class forbids stays forbidden, whatever is proposed.
      if (MathTypeOf(call_.compute, call_.type) == CUDNN_FMA_MATH) choice_.math = CUDNN_FMA_MATH;
      last = Reserve();
      if (!last.ok()) continue;
      if (!target.ok()) {
        chosen = choice_;
        best = 1;
        break;
      }
      auto milliseconds = runner_->Time([&](CUstream stream) { return Enqueue(trial, stream); });
      if (!milliseconds.ok()) {
        last = milliseconds.status();
        continue;
      }
      if (best == 0 || *milliseconds < best * kWorthASwitch) {
        best = *milliseconds;
        chosen = choice_;
      }
    }
    if (best == 0) {
      return FailedPrecondition(
          fmt::format("conv_forward: compute, format: cuDNN {} has no algorithm for {} {} at this "
                      "shape within a workspace of {} MiB: {}",
                      CudnnVersionText(api_.version), library::Name(call_.type), call_.channels_last ? "NHWC" : "NCHW",
                      CudnnRunner::kMaxWorkspaceBytes >> 20, Message(last)));
    }
    choice_ = chosen;
    return SetMath(choice_.math);
  }

  absl::Status Enqueue(const std::map<std::string, CUdeviceptr>& addresses, CUstream stream) override {
    WARPSMITH_RETURN_IF_ERROR(runner_->UseStream(stream));
    auto at = [&](const char* name) { return reinterpret_cast<void*>(addresses.at(name)); };
    return CudnnStatus(api_,
                       api_.cudnnConvolutionForward(runner_->handle(), &call_.alpha, x_, at("x"), w_, at("w"),
                                                    convolution_, choice_.algorithm, runner_->workspace(),
                                                    choice_.workspace, &call_.beta, y_, at("y")),
                       "conv_forward");
  }

  std::string Describe() const override {
    return fmt::format("conv_forward {} {} by cuDNN {}, {}{}", library::Name(call_.type),
                       call_.channels_last ? "NHWC" : "NCHW", CudnnVersionText(api_.version), Name(choice_.algorithm),
                       choice_.math == CUDNN_FMA_MATH || choice_.math == CUDNN_DEFAULT_MATH ? "" : ", tensor cores");
  }

 private:
  struct Choice {
    cudnnConvolutionFwdAlgo_t algorithm = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
    cudnnMathType_t math = CUDNN_DEFAULT_MATH;
    size_t workspace = 0;
  };

  absl::Status SetMath(cudnnMathType_t math) {
    return Describe("compute", api_.cudnnSetConvolutionMathType(convolution_, math));
  }

  // The workspace that choice_ needs.
  absl::Status Reserve() {
    WARPSMITH_RETURN_IF_ERROR(SetMath(choice_.math));
    WARPSMITH_RETURN_IF_ERROR(
        CudnnStatus(api_,
                    api_.cudnnGetConvolutionForwardWorkspaceSize(runner_->handle(), x_, w_, convolution_, y_,
                                                                 choice_.algorithm, &choice_.workspace),
                    "conv_forward: a workspace's size"));
    if (choice_.workspace > CudnnRunner::kMaxWorkspaceBytes) {
      return ResourceExhausted(fmt::format("{} needs {} MiB", Name(choice_.algorithm), choice_.workspace >> 20));
    }
    return runner_->Reserve(choice_.workspace);
  }

  CudnnRunner* runner_;
  const CudnnApi& api_;
  ConvolutionCall call_;
  cudnnTensorDescriptor_t x_ = nullptr, y_ = nullptr;
  cudnnFilterDescriptor_t w_ = nullptr;
  cudnnConvolutionDescriptor_t convolution_ = nullptr;
  Choice choice_;
};

}  // namespace

cudnnMathType_t MathTypeOf(Compute compute, DataType type) {
  if (type != DataType::kFloat32) return CUDNN_TENSOR_OP_MATH;
  switch (compute) {
    case Compute::kFp32:
      return CUDNN_FMA_MATH;  // the default lets float32 operands be rounded to TF32
    case Compute::kTf32:
      return CUDNN_TENSOR_OP_MATH;
    default:
      return CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION;
  }
}

absl::StatusOr<std::shared_ptr<PreparedCall>> PrepareConvolution(CudnnRunner* runner, const ConvolutionCall& call,
                                                                 const std::map<std::string, CUdeviceptr>& addresses) {
  auto prepared = std::make_shared<PreparedConvolution>(runner, call);
  WARPSMITH_RETURN_IF_ERROR(prepared->MakeDescriptors());
  WARPSMITH_RETURN_IF_ERROR(prepared->ChooseAlgorithm(addresses));
  return prepared;
}

}  // namespace warpsmith::library
