#include "gpu_worker/library/library_call.h"

#include <fmt/format.h>

#include <optional>

namespace warpsmith::library {
namespace {

// Reads fields and remembers the first that is missing or out of range.
class Fields {
 public:
  Fields(const v1::LibraryStep& step, const OperandTypes& types) : step_(step), types_(types) {}

  int64_t Wide(const std::string& name, int64_t min) {
    auto found = step_.integers().find(name);
    if (found == step_.integers().end()) return Fail(fmt::format("{}: is missing", name));
    if (found->second < min) return Fail(fmt::format("{}: {} is under {}", name, found->second, min));
    return found->second;
  }
  int Int(const std::string& name, int64_t min) {
    const int64_t value = Wide(name, min);
    if (value > INT32_MAX) return Fail(fmt::format("{}: {} does not fit 32 bits", name, value));
    return static_cast<int>(value);
  }
  std::vector<int> List(const std::string& name, int64_t count, int64_t min) {
    std::vector<int> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(Int(fmt::format("{}{}", name, i), min));
    return values;
  }
  float Scalar(const std::string& name) {
    auto found = step_.scalars().find(name);
    if (found == step_.scalars().end()) return static_cast<float>(Fail(fmt::format("{}: is missing", name)));
    return static_cast<float>(found->second);
  }
  std::string Enum(const std::string& name) {
    auto found = step_.enums().find(name);
    if (found != step_.enums().end()) return found->second;
    Fail(fmt::format("{}: is missing", name));
    return {};
  }
  bool Transposed(const std::string& name) {
    const std::string value = Enum(name);
    if (value != "N" && value != "T") Fail(fmt::format("{}: \"{}\" is neither N nor T", name, value));
    return value == "T";
  }
  // The type of all these operands.
  DataType Type(const std::vector<std::string>& names) {
    std::optional<DataType> common;
    for (const std::string& name : names) {
      auto found = types_.find(name);
      if (found == types_.end()) {
        Fail(fmt::format("{}: is missing", name));
        continue;
      }
      if (common && *common != found->second) {
        Fail(fmt::format("{}: is {}, but {} is {}", name, Name(found->second), names[0], Name(*common)));
      }
      common = found->second;
    }
    return common.value_or(DataType::kFloat32);
  }
  Compute ComputeClass() {
    if (step_.compute() == "fp32") return Compute::kFp32;
    if (step_.compute() == "tf32") return Compute::kTf32;
    if (step_.compute() == "fp16") return Compute::kFp16;
    if (step_.compute() == "bf16") return Compute::kBf16;
    Fail(fmt::format("compute: \"{}\" is none of fp32, tf32, fp16, bf16", step_.compute()));
    return Compute::kFp32;
  }
  int Fail(std::string message) {
    if (error_.empty()) error_ = std::move(message);
    return 0;
  }
  absl::Status status() const {
    if (error_.empty()) return absl::OkStatus();
    return InvalidArgument(fmt::format("{}: {}", step_.function(), error_));
  }

 private:
  const v1::LibraryStep& step_;
  const OperandTypes& types_;
  std::string error_;
};

// Half-precision operands have one class; float32 ones may be rounded on the way.
void CheckCompute(Fields* fields, DataType type, Compute compute) {
  if (type == DataType::kFloat16 && compute != Compute::kFp16) fields->Fail("compute: float16 operands need fp16");
  if (type == DataType::kBfloat16 && compute != Compute::kBf16) fields->Fail("compute: bfloat16 operands need bf16");
}

}  // namespace

absl::StatusOr<DataType> DataTypeOf(std::string_view dtype) {
  if (dtype == "float32") return DataType::kFloat32;
  if (dtype == "float16") return DataType::kFloat16;
  if (dtype == "bfloat16") return DataType::kBfloat16;
  return InvalidArgument(fmt::format("{} is not supported; use float32, float16 or bfloat16", dtype));
}

std::string_view Name(DataType type) {
  switch (type) {
    case DataType::kFloat32:
      return "float32";
    case DataType::kFloat16:
      return "float16";
    case DataType::kBfloat16:
      return "bfloat16";
  }
  return "";
}

int64_t ElementBytes(DataType type) { return type == DataType::kFloat32 ? 4 : 2; }

absl::StatusOr<GemmCall> ReadGemm(const v1::LibraryStep& step, const OperandTypes& types) {
  Fields fields(step, types);
  GemmCall call;
  call.transpose_a = fields.Transposed("transa");
  call.transpose_b = fields.Transposed("transb");
  call.m = fields.Int("m", 1);
  call.n = fields.Int("n", 1);
  call.k = fields.Int("k", 1);
  call.lda = fields.Int("lda", call.transpose_a ? call.k : call.m);
  call.ldb = fields.Int("ldb", call.transpose_b ? call.n : call.k);
  call.ldc = fields.Int("ldc", call.m);
  call.alpha = fields.Scalar("alpha");
  call.beta = fields.Scalar("beta");
  call.batched = step.function() == "gemm_strided_batched";
  if (call.batched) {
    call.stride_a = fields.Wide("strideA", 0);
    call.stride_b = fields.Wide("strideB", 0);
    call.stride_c = fields.Wide("strideC", 0);
    call.batch = fields.Int("batchCount", 1);
  }
  call.input = fields.Type({"A", "B"});
  call.output = fields.Type({"C"});
  call.compute = fields.ComputeClass();
  CheckCompute(&fields, call.input, call.compute);
  if (call.output != call.input && call.output != DataType::kFloat32) {
    fields.Fail(fmt::format("C: is {}, but A is {}", Name(call.output), Name(call.input)));
  }
  call.c_extent = int64_t{call.n - 1} * call.ldc + call.m + int64_t{call.batch - 1} * call.stride_c;
  WARPSMITH_RETURN_IF_ERROR(fields.status());
  return call;
}

absl::StatusOr<ConvolutionCall> ReadConvolution(const v1::LibraryStep& step, const OperandTypes& types) {
  Fields fields(step, types);
  ConvolutionCall call;
  const int64_t dimensions = fields.Wide("nbDims", 4);
  if (dimensions > 5) fields.Fail(fmt::format("nbDims: {} is over 5", dimensions));
  WARPSMITH_RETURN_IF_ERROR(fields.status());
  call.x = fields.List("dimA", dimensions, 1);
  call.w = fields.List("filterDimA", dimensions, 1);
  call.y = fields.List("yDimA", dimensions, 1);
  call.padding = fields.List("padA", dimensions - 2, 0);
  call.stride = fields.List("filterStrideA", dimensions - 2, 1);
  call.dilation = fields.List("dilationA", dimensions - 2, 1);
  call.groups = fields.Int("groupCount", 1);
  call.alpha = fields.Scalar("alpha");
  call.beta = fields.Scalar("beta");
  const std::string format = fields.Enum("format");
  if (format != "NCHW" && format != "NHWC") fields.Fail(fmt::format("format: \"{}\" is neither NCHW nor NHWC", format));
  call.channels_last = format == "NHWC";
  call.type = fields.Type({"x", "w", "y"});
  call.compute = fields.ComputeClass();
  CheckCompute(&fields, call.type, call.compute);
  call.y_extent = 1;
  for (int dimension : call.y) {
    if (__builtin_mul_overflow(call.y_extent, dimension, &call.y_extent)) fields.Fail("y: its size overflows 64 bits");
  }
  WARPSMITH_RETURN_IF_ERROR(fields.status());
  if (call.type == DataType::kFloat32 && call.compute == Compute::kBf16) {
    return FailedPrecondition(
        "conv_forward: compute: cuDNN does not convolve float32 operands at bf16; use fp32, tf32 or fp16");
  }
  return call;
}

absl::StatusOr<AttentionCall> ReadAttention(const v1::LibraryStep& step, const OperandTypes& types) {
  Fields fields(step, types);
  AttentionCall call;
  call.batch = fields.Int("b", 1);
  call.heads_q = fields.Int("h_q", 1);
  call.heads_k = fields.Int("h_k", 1);
  call.heads_v = fields.Int("h_v", 1);
  call.length_q = fields.Int("s_q", 1);
  call.length_kv = fields.Int("s_kv", 1);
  call.width_qk = fields.Int("d_qk", 1);
  call.width_v = fields.Int("d_v", 1);
  call.scale = fields.Scalar("attn_scale");
  const std::string mask = fields.Enum("causal_mask");
  if (mask == "top_left") call.mask = CausalMask::kTopLeft;
  if (mask == "bottom_right") call.mask = CausalMask::kBottomRight;
  if (mask != "none" && call.mask == CausalMask::kNone) {
    fields.Fail(fmt::format("causal_mask: \"{}\" is none of none, top_left, bottom_right", mask));
  }
  call.type = fields.Type({"q", "k", "v", "o"});
  const Compute compute = fields.ComputeClass();
  CheckCompute(&fields, call.type, compute);
  WARPSMITH_RETURN_IF_ERROR(fields.status());
  if (call.type == DataType::kFloat32) {
    return FailedPrecondition("attention_forward: q: cuDNN's attention takes float16 or bfloat16, not float32");
  }
  if (call.width_qk % 8 != 0 || call.width_v % 8 != 0) {
    return FailedPrecondition(fmt::format("attention_forward: {}: {} is no multiple of 8, which cuDNN needs",
                                          call.width_qk % 8 != 0 ? "d_qk" : "d_v",
                                          call.width_qk % 8 != 0 ? call.width_qk : call.width_v));
  }
  if (call.mask == CausalMask::kBottomRight && call.length_q > call.length_kv) {
    return FailedPrecondition(fmt::format(
        "attention_forward: causal_mask: bottom_right needs s_q ({}) of at most s_kv ({}), or rows have nothing to see",
        call.length_q, call.length_kv));
  }
  return call;
}

}  // namespace warpsmith::library
