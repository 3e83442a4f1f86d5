#include "gpu_worker/library/library_runner.h"

#include <fmt/format.h>

#include "gpu_worker/library/shared_library.h"
#if WARPSMITH_CUBLAS
#include "gpu_worker/library/cublas_runner.h"
#endif
#if WARPSMITH_CUDNN
#include "gpu_worker/library/cudnn_runner.h"
#endif

namespace warpsmith::library {

#if !WARPSMITH_CUBLAS
class CublasRunner {};
#endif
#if !WARPSMITH_CUDNN
class CudnnRunner {};
#endif

namespace {

// Pointers' alignment takes part in the libraries' choices.
constexpr CUdeviceptr kAlignments = 256;

std::string KeyOf(const v1::LibraryStep& step, const OperandTypes& types,
                  const std::map<std::string, CUdeviceptr>& addresses) {
  std::string key = fmt::format("{} {}", step.function(), step.compute());
  // Protocol Buffers' maps have no order of their own.
  const std::map<std::string, int64_t> integers(step.integers().begin(), step.integers().end());
  const std::map<std::string, double> scalars(step.scalars().begin(), step.scalars().end());
  const std::map<std::string, std::string> enums(step.enums().begin(), step.enums().end());
  for (const auto& [name, value] : integers) key += fmt::format(" {}={}", name, value);
  for (const auto& [name, value] : scalars) key += fmt::format(" {}={:a}", name, value);
  for (const auto& [name, value] : enums) key += fmt::format(" {}={}", name, value);
  for (const auto& [name, type] : types) {
    key += fmt::format(" {}={}+{}", name, Name(type), addresses.at(name) % kAlignments);
  }
  return key;
}

absl::Status BuiltWithout(std::string_view library, std::string_view header) {
  return NotFound(
      fmt::format("this warpsmith was built without {}'s header {}, so its library steps cannot run; build where it is",
                  library, header));
}

}  // namespace

absl::StatusOr<std::unique_ptr<LibraryRunner>> LibraryRunner::Create(const cuda::DriverApi& api,
                                                                     std::vector<std::string> folders) {
  for (std::string& folder : FindLibraryFolders()) folders.push_back(std::move(folder));
  return std::unique_ptr<LibraryRunner>(new LibraryRunner(api, std::move(folders)));
}

LibraryRunner::LibraryRunner(const cuda::DriverApi& api, std::vector<std::string> folders)
    : api_(api), folders_(std::move(folders)) {}

LibraryRunner::~LibraryRunner() = default;

absl::StatusOr<std::shared_ptr<PreparedCall>> LibraryRunner::Choose(
    const v1::LibraryStep& step, const OperandTypes& types, const std::map<std::string, CUdeviceptr>& addresses) {
  if (step.function() == "gemm" || step.function() == "gemm_strided_batched") {
    WARPSMITH_ASSIGN_OR_RETURN([[maybe_unused]] GemmCall call, ReadGemm(step, types));
#if WARPSMITH_CUBLAS
    if (cublas_ == nullptr) {
      WARPSMITH_ASSIGN_OR_RETURN(cublas_, CublasRunner::Create(api_, folders_));
    }
    return cublas_->Prepare(call, addresses);
#else
    return BuiltWithout("cuBLAS", "cublas_v2.h");
#endif
  }
  auto by_cudnn = [&]([[maybe_unused]] const auto& call) -> absl::StatusOr<std::shared_ptr<PreparedCall>> {
#if WARPSMITH_CUDNN
    if (cudnn_ == nullptr) {
      WARPSMITH_ASSIGN_OR_RETURN(cudnn_, CudnnRunner::Create(api_, folders_));
    }
    return cudnn_->Prepare(call, addresses);
#else
    return BuiltWithout("cuDNN", "cudnn.h");
#endif
  };
  if (step.function() == "conv_forward") {
    WARPSMITH_ASSIGN_OR_RETURN(const ConvolutionCall convolution, ReadConvolution(step, types));
    return by_cudnn(convolution);
  }
  if (step.function() == "attention_forward") {
    WARPSMITH_ASSIGN_OR_RETURN(const AttentionCall attention, ReadAttention(step, types));
    return by_cudnn(attention);
  }
  return InvalidArgument(fmt::format("there is no library function \"{}\"", step.function()));
}

absl::Status LibraryRunner::Prepare(const v1::LibraryStep& step, const ResolveView& resolve) {
  OperandTypes types;
  Step prepared;
  for (const auto& [name, view] : step.operands()) {
    auto operand = resolve(view);
    if (!operand.ok()) return Annotate(operand.status(), fmt::format("{}: {}", step.function(), name));
    auto type = DataTypeOf(operand->dtype);
    if (!type.ok()) return Annotate(type.status(), fmt::format("{}: {}", step.function(), name));
    types[name] = *type;
    prepared.addresses[name] = operand->address;
  }
  std::shared_ptr<PreparedCall>& call = calls_[KeyOf(step, types, prepared.addresses)];
  if (call == nullptr) {
    WARPSMITH_ASSIGN_OR_RETURN(call, Choose(step, types, prepared.addresses));
  }
  prepared.call = call;
  steps_.push_back(std::move(prepared));
  return absl::OkStatus();
}

absl::Status LibraryRunner::Enqueue(int prepared_index, CUstream stream) {
  if (prepared_index < 0 || prepared_index >= prepared()) {
    return InvalidArgument(fmt::format("there is no prepared library step {}", prepared_index));
  }
  const Step& step = steps_[static_cast<size_t>(prepared_index)];
  return step.call->Enqueue(step.addresses, stream);
}

std::string LibraryRunner::Describe(int prepared_index) const {
  if (prepared_index < 0 || prepared_index >= prepared()) return {};
  return steps_[static_cast<size_t>(prepared_index)].call->Describe();
}

}  // namespace warpsmith::library
