// What can be seen of cuBLAS and cuDNN without a GPU. Built where their headers are.
#include <catch2/catch.hpp>
#include <cstdint>

#include "gpu_worker/library/library_runner.h"
#if WARPSMITH_CUBLAS
#include "gpu_worker/library/cublas_runner.h"
#endif
#if WARPSMITH_CUDNN
#include "gpu_worker/library/cudnn_convolution.h"
#endif
#include "gpu_worker/library/shared_library.h"

namespace warpsmith::library {

#if WARPSMITH_CUBLAS
TEST_CASE("cuBLAS's compute type by class and operands", "[unit]") {
  CHECK(ComputeTypeOf(Compute::kFp32, DataType::kFloat32) == CUBLAS_COMPUTE_32F);
  CHECK(ComputeTypeOf(Compute::kTf32, DataType::kFloat32) == CUBLAS_COMPUTE_32F_FAST_TF32);
  CHECK(ComputeTypeOf(Compute::kFp16, DataType::kFloat32) == CUBLAS_COMPUTE_32F_FAST_16F);
  CHECK(ComputeTypeOf(Compute::kBf16, DataType::kFloat32) == CUBLAS_COMPUTE_32F_FAST_16BF);
  CHECK(ComputeTypeOf(Compute::kFp16, DataType::kFloat16) == CUBLAS_COMPUTE_32F);
  CHECK(ComputeTypeOf(Compute::kBf16, DataType::kBfloat16) == CUBLAS_COMPUTE_32F);
  CHECK(CudaTypeOf(DataType::kFloat16) == CUDA_R_16F);
  CHECK(CudaTypeOf(DataType::kBfloat16) == CUDA_R_16BF);
}

TEST_CASE("cuBLAS loads where it is installed, or says what is missing", "[unit]") {
  auto api = CublasApi::Load(FindLibraryFolders(), 13);
  if (api.ok()) {
    CHECK_FALSE(Message(CublasStatus(**api, CUBLAS_STATUS_INVALID_VALUE, "x")).empty());
    CHECK(CublasStatus(**api, CUBLAS_STATUS_ALLOC_FAILED, "x").code() == absl::StatusCode::kResourceExhausted);
    CHECK(CublasStatus(**api, CUBLAS_STATUS_NOT_SUPPORTED, "x").code() == absl::StatusCode::kFailedPrecondition);
  } else {
    CHECK(api.status().code() == absl::StatusCode::kNotFound);
  }
}
#endif

#if WARPSMITH_CUDNN
TEST_CASE("cuDNN's math by class and operands", "[unit]") {
  CHECK(MathTypeOf(Compute::kFp32, DataType::kFloat32) == CUDNN_FMA_MATH);
  CHECK(MathTypeOf(Compute::kTf32, DataType::kFloat32) == CUDNN_TENSOR_OP_MATH);
  CHECK(MathTypeOf(Compute::kFp16, DataType::kFloat32) == CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION);
  CHECK(MathTypeOf(Compute::kFp16, DataType::kFloat16) == CUDNN_TENSOR_OP_MATH);
  CHECK(MathTypeOf(Compute::kBf16, DataType::kBfloat16) == CUDNN_TENSOR_OP_MATH);
}

TEST_CASE("cuDNN loads where it is installed, or says what is missing", "[unit]") {
  auto api = CudnnApi::Load(FindLibraryFolders());
  if (api.ok()) {
    CHECK((*api)->version >= 90000);
  } else {
    CHECK(api.status().code() == absl::StatusCode::kNotFound);
  }
  CHECK(CudnnVersionText(91402) == "9.14.2");
}
#endif

TEST_CASE("a step that cannot be read never reaches a library", "[unit]") {
  const cuda::DriverApi no_driver;
  auto runner = LibraryRunner::Create(no_driver, {});
  REQUIRE(runner.ok());
  v1::LibraryStep step;
  step.set_function("sort");
  auto nowhere = [](const v1::BufferView&) -> absl::StatusOr<Operand> { return Operand{256, "float32"}; };
  CHECK(Message((*runner)->Prepare(step, nowhere)) == "there is no library function \"sort\"");
  step.set_function("gemm");
  (*step.mutable_operands())["A"];
  auto wrong = [](const v1::BufferView&) -> absl::StatusOr<Operand> { return Operand{256, "int64"}; };
  CHECK(Message((*runner)->Prepare(step, wrong)) ==
        "gemm: A: int64 is not supported; use float32, float16 or bfloat16");
  CHECK((*runner)->Prepare(step, nowhere).code() == absl::StatusCode::kInvalidArgument);
  CHECK((*runner)->prepared() == 0);
  CHECK_FALSE((*runner)->Enqueue(0, nullptr).ok());
}

}  // namespace warpsmith::library
