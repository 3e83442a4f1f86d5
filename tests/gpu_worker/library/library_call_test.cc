#include "gpu_worker/library/library_call.h"

#include <catch2/catch.hpp>

#include "gpu_worker/library/shared_library.h"

namespace warpsmith::library {
namespace {

v1::LibraryStep Gemm() {
  v1::LibraryStep step;
  step.set_function("gemm");
  step.set_compute("fp32");
  (*step.mutable_enums())["transa"] = "T";
  (*step.mutable_enums())["transb"] = "N";
  auto& integers = *step.mutable_integers();
  integers["m"] = 5;
  integers["n"] = 7;
  integers["k"] = 3;
  integers["lda"] = 3;
  integers["ldb"] = 4;
  integers["ldc"] = 6;
  (*step.mutable_scalars())["alpha"] = 0.5;
  (*step.mutable_scalars())["beta"] = 2;
  return step;
}

OperandTypes Types(const std::vector<std::string>& names, DataType type) {
  OperandTypes types;
  for (const std::string& name : names) types[name] = type;
  return types;
}

const OperandTypes kFloats = Types({"A", "B", "C"}, DataType::kFloat32);

v1::LibraryStep Convolution() {
  v1::LibraryStep step;
  step.set_function("conv_forward");
  step.set_compute("tf32");
  (*step.mutable_enums())["format"] = "NHWC";
  auto& integers = *step.mutable_integers();
  integers["nbDims"] = 4;
  const int64_t x[] = {2, 4, 9, 11}, w[] = {6, 2, 3, 5}, y[] = {2, 6, 4, 7};
  for (int i = 0; i < 4; ++i) {
    integers["dimA" + std::to_string(i)] = x[i];
    integers["filterDimA" + std::to_string(i)] = w[i];
    integers["yDimA" + std::to_string(i)] = y[i];
  }
  const int64_t padding[] = {0, 1}, stride[] = {2, 1}, dilation[] = {1, 2};
  for (int i = 0; i < 2; ++i) {
    integers["padA" + std::to_string(i)] = padding[i];
    integers["filterStrideA" + std::to_string(i)] = stride[i];
    integers["dilationA" + std::to_string(i)] = dilation[i];
  }
  integers["groupCount"] = 2;
  (*step.mutable_scalars())["alpha"] = 1;
  (*step.mutable_scalars())["beta"] = 0;
  return step;
}

v1::LibraryStep Attention() {
  v1::LibraryStep step;
  step.set_function("attention_forward");
  step.set_compute("bf16");
  (*step.mutable_enums())["causal_mask"] = "bottom_right";
  auto& integers = *step.mutable_integers();
  const std::pair<const char*, int64_t> sizes[] = {{"b", 2},   {"h_q", 8},   {"h_k", 2},   {"h_v", 4},
                                                   {"s_q", 5}, {"s_kv", 17}, {"d_qk", 64}, {"d_v", 32}};
  for (const auto& [name, value] : sizes) integers[name] = value;
  (*step.mutable_scalars())["attn_scale"] = 0.125;
  return step;
}

}  // namespace

TEST_CASE("gemm's fields become cuBLAS's", "[unit]") {
  auto call = ReadGemm(Gemm(), kFloats);
  REQUIRE(call.ok());
  CHECK(call->transpose_a);
  CHECK_FALSE(call->transpose_b);
  CHECK(call->m == 5);
  CHECK(call->n == 7);
  CHECK(call->k == 3);
  CHECK(call->lda == 3);
  CHECK(call->ldb == 4);
  CHECK(call->ldc == 6);
  CHECK(call->alpha == 0.5f);
  CHECK(call->beta == 2.0f);
  CHECK_FALSE(call->batched);
  CHECK(call->c_extent == 6 * 6 + 5);
}

TEST_CASE("batches add their strides to C's reach", "[unit]") {
  v1::LibraryStep step = Gemm();
  step.set_function("gemm_strided_batched");
  auto& integers = *step.mutable_integers();
  integers["strideA"] = 0;
  integers["strideB"] = int64_t{1} << 40;
  integers["strideC"] = 50;
  integers["batchCount"] = 3;
  auto call = ReadGemm(step, kFloats);
  REQUIRE(call.ok());
  CHECK(call->batched);
  CHECK(call->stride_a == 0);
  CHECK(call->stride_b == int64_t{1} << 40);
  CHECK(call->batch == 3);
  CHECK(call->c_extent == 6 * 6 + 5 + 2 * 50);
}

TEST_CASE("gemm's types and classes", "[unit]") {
  v1::LibraryStep step = Gemm();
  OperandTypes types = Types({"A", "B"}, DataType::kFloat16);
  types["C"] = DataType::kFloat32;
  CHECK_FALSE(ReadGemm(step, types).ok());  // float16 at fp32
  step.set_compute("fp16");
  auto call = ReadGemm(step, types);
  REQUIRE(call.ok());
  CHECK(call->input == DataType::kFloat16);
  CHECK(call->output == DataType::kFloat32);
  types["C"] = DataType::kBfloat16;
  CHECK(Message(ReadGemm(step, types).status()) == "gemm: C: is bfloat16, but A is float16");
  types["B"] = DataType::kFloat32;
  CHECK(Message(ReadGemm(step, types).status()) == "gemm: B: is float32, but A is float16");
}

TEST_CASE("what a gemm lacks is named", "[unit]") {
  v1::LibraryStep step = Gemm();
  step.mutable_integers()->erase("ldb");
  CHECK(Message(ReadGemm(step, kFloats).status()) == "gemm: ldb: is missing");
  step = Gemm();
  (*step.mutable_integers())["lda"] = 2;
  CHECK(Message(ReadGemm(step, kFloats).status()) == "gemm: lda: 2 is under 3");
  step = Gemm();
  (*step.mutable_integers())["m"] = int64_t{1} << 31;
  CHECK(Message(ReadGemm(step, kFloats).status()) == "gemm: m: 2147483648 does not fit 32 bits");
  step = Gemm();
  (*step.mutable_enums())["transb"] = "C";
  CHECK(Message(ReadGemm(step, kFloats).status()) == "gemm: transb: \"C\" is neither N nor T");
  step = Gemm();
  step.mutable_scalars()->erase("alpha");
  CHECK(Message(ReadGemm(step, kFloats).status()) == "gemm: alpha: is missing");
  CHECK(Message(ReadGemm(Gemm(), Types({"A", "C"}, DataType::kFloat32)).status()) == "gemm: B: is missing");
}

TEST_CASE("a convolution's lists", "[unit]") {
  auto call = ReadConvolution(Convolution(), Types({"x", "w", "y"}, DataType::kFloat32));
  REQUIRE(call.ok());
  CHECK(call->x == std::vector<int>{2, 4, 9, 11});
  CHECK(call->w == std::vector<int>{6, 2, 3, 5});
  CHECK(call->y == std::vector<int>{2, 6, 4, 7});
  CHECK(call->padding == std::vector<int>{0, 1});
  CHECK(call->stride == std::vector<int>{2, 1});
  CHECK(call->dilation == std::vector<int>{1, 2});
  CHECK(call->groups == 2);
  CHECK(call->channels_last);
  CHECK(call->compute == Compute::kTf32);
  CHECK(call->y_extent == 2 * 6 * 4 * 7);
}

TEST_CASE("three spatial dimensions, and what a convolution cannot", "[unit]") {
  const OperandTypes types = Types({"x", "w", "y"}, DataType::kFloat32);
  v1::LibraryStep step = Convolution();
  step.set_compute("bf16");
  auto refused = ReadConvolution(step, types).status();
  CHECK(refused.code() == absl::StatusCode::kFailedPrecondition);
  CHECK(Message(refused).rfind("conv_forward: compute: ", 0) == 0);
  step = Convolution();
  (*step.mutable_integers())["nbDims"] = 5;
  CHECK(Message(ReadConvolution(step, types).status()) == "conv_forward: dimA4: is missing");
  for (const char* list : {"dimA4", "filterDimA4", "yDimA4", "padA2", "filterStrideA2", "dilationA2"}) {
    (*step.mutable_integers())[list] = 1;
  }
  auto call = ReadConvolution(step, types);
  REQUIRE(call.ok());
  CHECK(call->x.size() == 5);
  CHECK(call->padding.size() == 3);
}

TEST_CASE("attention's sizes, mask and types", "[unit]") {
  const std::vector<std::string> names = {"q", "k", "v", "o"};
  auto call = ReadAttention(Attention(), Types(names, DataType::kBfloat16));
  REQUIRE(call.ok());
  CHECK(call->heads_q == 8);
  CHECK(call->heads_k == 2);
  CHECK(call->heads_v == 4);
  CHECK(call->length_q == 5);
  CHECK(call->length_kv == 17);
  CHECK(call->width_qk == 64);
  CHECK(call->width_v == 32);
  CHECK(call->scale == 0.125f);
  CHECK(call->mask == CausalMask::kBottomRight);
  CHECK(call->o_extent() == 2 * 8 * 5 * 32);

  v1::LibraryStep step = Attention();
  step.set_compute("fp32");
  auto refused = ReadAttention(step, Types(names, DataType::kFloat32)).status();
  CHECK(refused.code() == absl::StatusCode::kFailedPrecondition);
  CHECK(Message(refused) == "attention_forward: q: cuDNN's attention takes float16 or bfloat16, not float32");
  step = Attention();
  (*step.mutable_integers())["d_v"] = 20;
  CHECK(Message(ReadAttention(step, Types(names, DataType::kBfloat16)).status()) ==
        "attention_forward: d_v: 20 is no multiple of 8, which cuDNN needs");
  step = Attention();
  (*step.mutable_integers())["s_q"] = 18;
  CHECK(Message(ReadAttention(step, Types(names, DataType::kBfloat16)).status()).find("causal_mask") !=
        std::string::npos);
}

TEST_CASE("types by PyTorch's names", "[unit]") {
  CHECK(*DataTypeOf("float32") == DataType::kFloat32);
  CHECK(*DataTypeOf("float16") == DataType::kFloat16);
  CHECK(*DataTypeOf("bfloat16") == DataType::kBfloat16);
  CHECK(ElementBytes(DataType::kFloat32) == 4);
  CHECK(ElementBytes(DataType::kBfloat16) == 2);
  CHECK(Message(DataTypeOf("float64").status()) == "float64 is not supported; use float32, float16 or bfloat16");
}

}  // namespace warpsmith::library
