#include "gpu_worker/plan/library_schema.h"

#include <fmt/format.h>

#include <utility>

#include "gpu_worker/plan/plan_error.h"

namespace warpsmith::plan {
namespace {

using Kind = LibraryField::Kind;

LibraryField Integer(std::string_view name, int64_t min, std::optional<double> fallback = std::nullopt) {
  return {name, Kind::kInteger, !fallback.has_value(), fallback, {}, min};
}
LibraryField List(std::string_view name, int64_t min, std::optional<double> fallback = std::nullopt) {
  return {name, Kind::kIntegerList, !fallback.has_value(), fallback, {}, min};
}
LibraryField Scalar(std::string_view name, std::optional<double> fallback) {
  return {name, Kind::kScalar, false, fallback, {}, 0};
}
LibraryField Operand(std::string_view name) { return {name, Kind::kOperand, true, std::nullopt, {}, 0}; }
LibraryField Choice(std::string_view name, std::vector<std::string_view> choices) {
  return {name, Kind::kEnum, false, std::nullopt, std::move(choices), 0};
}

std::vector<LibraryField> GemmFields() {
  return {Choice("transa", {"N", "T"}),
          Choice("transb", {"N", "T"}),
          Integer("m", 1),
          Integer("n", 1),
          Integer("k", 1),
          Scalar("alpha", 1),
          Operand("A"),
          Integer("lda", 1),
          Operand("B"),
          Integer("ldb", 1),
          Scalar("beta", 0),
          Operand("C"),
          Integer("ldc", 1)};
}

std::vector<LibraryField> BatchedGemmFields() {
  std::vector<LibraryField> fields = GemmFields();
  for (std::string_view stride : {"strideA", "strideB", "strideC"}) fields.push_back(Integer(stride, 0));
  fields.push_back(Integer("batchCount", 1));
  return fields;
}

std::vector<LibraryField> ConvolutionFields() {
  return {Operand("x"),
          Operand("w"),
          Operand("y"),
          List("dimA", 1),
          List("filterDimA", 1),
          List("padA", 0, 0),
          List("filterStrideA", 1, 1),
          List("dilationA", 1, 1),
          Integer("groupCount", 1, 1),
          Scalar("alpha", 1),
          Scalar("beta", 0),
          Choice("format", {"NCHW", "NHWC"})};
}

std::vector<LibraryField> AttentionFields() {
  std::vector<LibraryField> fields = {Operand("q"), Operand("k"), Operand("v"), Operand("o")};
  for (std::string_view size : {"b", "h_q", "h_k", "h_v", "s_q", "s_kv", "d_qk", "d_v"}) {
    fields.push_back(Integer(size, 1));
  }
  fields.push_back(Scalar("attn_scale", std::nullopt));
  fields.push_back(Choice("causal_mask", {"none", "top_left", "bottom_right"}));
  return fields;
}

const std::vector<LibrarySchema>& Schemas() {
  static const auto& schemas = *new std::vector<LibrarySchema>{{"gemm", GemmFields(), "C"},
                                                               {"gemm_strided_batched", BatchedGemmFields(), "C"},
                                                               {"conv_forward", ConvolutionFields(), "y"},
                                                               {"attention_forward", AttentionFields(), "o"}};
  return schemas;
}

absl::Status SizeError(std::string_view field, std::string_view message) {
  return PlanError(reason::kRange, fmt::format("{}: {}", field, message));
}

// Products and sums that remember an overflow.
class Checked {
 public:
  int64_t Multiply(int64_t a, int64_t b) {
    overflow_ = __builtin_mul_overflow(a, b, &a) || overflow_;
    return a;
  }
  int64_t Add(int64_t a, int64_t b) {
    overflow_ = __builtin_add_overflow(a, b, &a) || overflow_;
    return a;
  }
  bool overflow() const { return overflow_; }

 private:
  bool overflow_ = false;
};

using Extents = std::map<std::string, int64_t>;

absl::StatusOr<Extents> GemmExtents(const std::map<std::string, std::string>& enums, const LibraryIntegers& sizes,
                                    bool batched) {
  const int64_t m = sizes.at("m"), n = sizes.at("n"), k = sizes.at("k");
  struct Matrix {
    const char* name;
    const char* leading;
    const char* stride;
    int64_t rows, columns;
  };
  const bool ta = enums.at("transa") == "T", tb = enums.at("transb") == "T";
  const Matrix matrices[] = {{"A", "lda", "strideA", ta ? k : m, ta ? m : k},
                             {"B", "ldb", "strideB", tb ? n : k, tb ? k : n},
                             {"C", "ldc", "strideC", m, n}};
  Extents extents;
  for (const Matrix& matrix : matrices) {
    const int64_t leading = sizes.at(matrix.leading);
    if (leading < matrix.rows) {
      return SizeError(matrix.leading, fmt::format("{} is under the {} rows that {} has in memory (column-major)",
                                                   leading, matrix.rows, matrix.name));
    }
    Checked checked;
    int64_t extent = checked.Add(checked.Multiply(matrix.columns - 1, leading), matrix.rows);
    if (batched) {
      if (matrix.name[0] == 'C' && sizes.at("batchCount") > 1 && sizes.at("strideC") < extent) {
        return SizeError("strideC",
                         fmt::format("{} lets batches of C overlap; one has {} elements", sizes.at("strideC"), extent));
      }
      extent = checked.Add(extent, checked.Multiply(sizes.at("batchCount") - 1, sizes.at(matrix.stride)));
    }
    if (checked.overflow()) return SizeError(matrix.name, "its size overflows 64 bits");
    extents[matrix.name] = extent;
  }
  return extents;
}

absl::StatusOr<Extents> ConvolutionExtents(LibraryIntegers* sizes) {
  auto at = [&](std::string_view list, int64_t i) { return sizes->at(fmt::format("{}{}", list, i)); };
  const int64_t dims = sizes->at("nbDims"), groups = sizes->at("groupCount");
  Checked checked;
  if (checked.Multiply(at("filterDimA", 1), groups) != at("dimA", 1)) {
    return SizeError("filterDimA", fmt::format("{} channels a group times groupCount {} is not x's {} channels",
                                               at("filterDimA", 1), groups, at("dimA", 1)));
  }
  if (at("filterDimA", 0) % groups != 0) {
    return SizeError("groupCount", fmt::format("{} does not divide the {} filters", groups, at("filterDimA", 0)));
  }
  int64_t x = 1, w = 1, y = 1;
  for (int64_t i = 0; i < dims; ++i) {
    int64_t out = i == 0 ? at("dimA", 0) : at("filterDimA", 0);
    if (i >= 2) {
      const int64_t window = checked.Add(checked.Multiply(at("dilationA", i - 2), at("filterDimA", i) - 1), 1);
      const int64_t padded = checked.Add(at("dimA", i), checked.Multiply(2, at("padA", i - 2)));
      if (checked.overflow()) return SizeError("dimA", "a size overflows 64 bits");
      if (window > padded) {
        return SizeError(
            "filterDimA",
            fmt::format("a window of {} is wider than dimension {} of x, {} with its padding", window, i, padded));
      }
      out = (padded - window) / at("filterStrideA", i - 2) + 1;
    }
    (*sizes)[fmt::format("yDimA{}", i)] = out;
    x = checked.Multiply(x, at("dimA", i));
    w = checked.Multiply(w, at("filterDimA", i));
    y = checked.Multiply(y, out);
  }
  if (checked.overflow()) return SizeError("dimA", "a size overflows 64 bits");
  return Extents{{"x", x}, {"w", w}, {"y", y}};
}

absl::StatusOr<Extents> AttentionExtents(const LibraryIntegers& sizes) {
  for (const char* heads : {"h_k", "h_v"}) {
    if (sizes.at("h_q") % sizes.at(heads) != 0) {
      return SizeError(heads, fmt::format("{} does not divide h_q, {}", sizes.at(heads), sizes.at("h_q")));
    }
  }
  Checked checked;
  auto product = [&](const char* heads, const char* length, const char* width) {
    return checked.Multiply(checked.Multiply(sizes.at("b"), sizes.at(heads)),
                            checked.Multiply(sizes.at(length), sizes.at(width)));
  };
  Extents extents = {{"q", product("h_q", "s_q", "d_qk")},
                     {"k", product("h_k", "s_kv", "d_qk")},
                     {"v", product("h_v", "s_kv", "d_v")},
                     {"o", product("h_q", "s_q", "d_v")}};
  if (checked.overflow()) return SizeError("b", "a size overflows 64 bits");
  return extents;
}

}  // namespace

const LibrarySchema* FindLibrarySchema(std::string_view function) {
  for (const LibrarySchema& schema : Schemas()) {
    if (schema.function == function) return &schema;
  }
  return nullptr;
}

std::vector<std::string_view> LibraryFunctions() {
  std::vector<std::string_view> names;
  for (const LibrarySchema& schema : Schemas()) names.push_back(schema.function);
  return names;
}

absl::StatusOr<std::map<std::string, int64_t>> LibraryExtents(std::string_view function,
                                                              const std::map<std::string, std::string>& enums,
                                                              LibraryIntegers* integers) {
  if (function == "conv_forward") return ConvolutionExtents(integers);
  if (function == "attention_forward") return AttentionExtents(*integers);
  return GemmExtents(enums, *integers, function == "gemm_strided_batched");
}

absl::Status CheckLibraryTypes(std::string_view function, std::string_view compute,
                               const std::map<std::string, std::string>& dtypes) {
  const std::string target(FindLibrarySchema(function)->target);
  const std::string* input = nullptr;
  for (const auto& [name, dtype] : dtypes) {
    if (name == target) continue;
    if (dtype != "float32" && dtype != "float16" && dtype != "bfloat16") {
      return PlanError(reason::kField,
                       fmt::format("{}: {} is not supported; use float32, float16 or bfloat16", name, dtype));
    }
    if (input != nullptr && *input != dtype) {
      return PlanError(reason::kField, fmt::format("{}: is {}, but the other input is {}", name, dtype, *input));
    }
    input = &dtype;
  }
  const std::string& out = dtypes.at(target);
  const bool gemm = function.starts_with("gemm");
  if (out != *input && !(gemm && out == "float32")) {
    return PlanError(reason::kField, fmt::format("{}: is {}, but the inputs are {}", target, out, *input));
  }
  if ((*input == "float16" && compute != "fp16") || (*input == "bfloat16" && compute != "bf16")) {
    return PlanError(reason::kField, fmt::format("compute: {} operands compute at {}, not {}", *input,
                                                 *input == "float16" ? "fp16" : "bf16", compute));
  }
  return absl::OkStatus();
}

}  // namespace warpsmith::plan
