#include <catch2/catch.hpp>
#include <cmath>

#include "gpu_worker/plan/plan_expander.h"
#include "tests/gpu_worker/plan/plan_fixture.h"

namespace warpsmith::plan {
namespace {

// A library step that writes y or output0, then whatever makes the plan whole.
std::string Library(std::string_view fields) {
  return PlanOf(R"({"memset": "output0", "value": 0}, {"memset": "output1", "value": 0}, {"library": )" +
                    std::string(fields) + "}",
                R"(, "scratch": [{"name": "a", "dtype": "float32", "shape": [64, 32]},
                    {"name": "b", "dtype": "float32", "shape": [32, 48]}, {"name": "c", "dtype": "float32", "shape": [64, 48]},
                    {"name": "ha", "dtype": "float16", "shape": [64, 32]}, {"name": "hb", "dtype": "float16", "shape": [32, 48]},
                    {"name": "d", "dtype": "float64", "shape": [64, 48]},
                    {"name": "image", "dtype": "float32", "shape": [2, 4, 8, 8]},
                    {"name": "filter", "dtype": "float32", "shape": [6, 2, 3, 3]},
                    {"name": "result", "dtype": "float32", "shape": [2, 6, 4, 4]},
                    {"name": "q", "dtype": "float16", "shape": [2, 4, 16, 8]}, {"name": "k", "dtype": "float16", "shape": [2, 2, 32, 8]},
                    {"name": "v", "dtype": "float16", "shape": [2, 2, 32, 8]}, {"name": "o", "dtype": "float16", "shape": [2, 4, 16, 8]}])");
}

constexpr char kGemm[] =
    R"("gemm", "compute": "tf32", "m": 48, "n": 64, "k": 32, "A": "b", "lda": 48, "B": "a", "ldb": 32, "C": "c", "ldc": 48)";
constexpr char kConvolution[] =
    R"("conv_forward", "compute": "fp32", "x": "image", "w": "filter", "y": "result", "dimA": [2, 4, 8, 8],
       "filterDimA": [6, 2, 3, 3], "groupCount": 2, "padA": [1, 1], "filterStrideA": [2, 2])";
constexpr char kAttention[] =
    R"("attention_forward", "compute": "fp16", "q": "q", "k": "k", "v": "v", "o": "o", "b": 2, "h_q": 4, "h_k": 2, "h_v": 2,
       "s_q": 16, "s_kv": 32, "d_qk": 8, "d_v": 8)";

std::string Changed(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

TEST_CASE("a matrix product carries its sizes, scalars and views", "[unit]") {
  auto plan = ExpandText(
      Library(Changed(kGemm, R"("A": "b")", R"("transa": "N", "beta": 0.5, "A": {"tensor": "b", "offset": 0})")),
      TestDevice());
  INFO(Message(plan.status()));
  REQUIRE(plan.ok());
  CHECK(plan->uses_library());
  const v1::LibraryStep& step = plan->steps(2).library();
  CHECK(step.function() == "gemm");
  CHECK(step.compute() == "tf32");
  CHECK(step.integers().at("m") == 48);
  CHECK(step.integers().at("ldb") == 32);
  CHECK(step.scalars().at("alpha") == 1.0);
  CHECK(step.scalars().at("beta") == 0.5);
  CHECK(step.enums().at("transa") == "N");
  CHECK(step.enums().at("transb") == "N");
  CHECK(plan->buffers(static_cast<int>(step.operands().at("A").buffer())).name() == "b");
  CHECK(plan->buffers(static_cast<int>(step.operands().at("C").buffer())).name() == "c");
}

TEST_CASE("a library step's target counts as written", "[unit]") {
  auto plan =
      ExpandText(PlanOf(R"({"memset": "output1", "value": 0}, {"library": "gemm", "compute": "fp32", "m": 1024, "n": 64,
                                   "k": 1, "A": "w", "lda": 1024, "B": "x", "ldb": 1, "C": "output0", "ldc": 1024})"),
                 TestDevice());
  INFO(Message(plan.status()));
  CHECK(plan.ok());
}

TEST_CASE("gemm's operands stay in range", "[unit]") {
  const std::tuple<std::string, std::string, Rejection> cases[] = {
      {"\"n\": 64",
       "\"n\": 65",
       {"n", "range", "steps[2].B: 2080 elements are used from offset 0 on, but a has 2048 there"}},
      {"\"m\": 48", "\"m\": 49", {"m", "range", "steps[2].lda: 48 is under the 49 rows"}},
      {"\"lda\": 48", "\"lda\": 50", {"lda", "range", "steps[2].A: 1598 elements are used"}},
      {"\"ldc\": 48", "\"ldc\": 47", {"ldc", "range", "steps[2].ldc: 47 is under"}},
      {"\"k\": 32", "\"k\": 0", {"k", "range", "steps[2].k: 0 is out of range: at least 1"}},
      {"\"k\": 32", "\"k\": \"0*sm_count\"", {"k", "range", "steps[2].k: 0 is out of range: 1 to 2147483647"}},
      {"\"k\": 32", "\"k\": 4294967296", {"k", "range", "steps[2].k: 4294967296 is out of range"}},
      {"\"k\": 32", "\"k\": 1.5", {"k", "field", "steps[2].k: expected an integer"}},
      {"\"A\": \"b\"",
       "\"A\": {\"tensor\": \"b\", \"offset\": 1}",
       {"offset", "range", "steps[2].A: 1536 elements are used from offset 1"}},
      {"\"A\": \"b\"",
       "\"A\": {\"tensor\": \"b\", \"offset\": -1}",
       {"offset", "range", "steps[2].A.offset: -1 is outside b"}},
      {"\"A\": \"b\"", "\"A\": \"absent\"", {"absent", "names", "steps[2].A: no tensor is called"}},
      {"\"A\": \"b\"", "\"A\": 1", {"1", "field", "steps[2].A: expected a tensor's name"}},
      {"\"A\": \"b\"", "\"A\": \"hb\"", {"mixed", "field", "steps[2].B: is float32, but the other input is float16"}},
      {"\"A\": \"b\"", "\"A\": \"d\"", {"float64", "field", "steps[2].A: float64 is not supported"}},
      {"\"C\": \"c\"", "\"C\": \"x\"", {"input", "names", "steps[2].C: x may not be written"}},
      {"\"C\": \"c\"", "\"C\": \"d\"", {"float64", "field", "steps[2].C: is float64, but the inputs are float32"}},
      {"\"C\": \"c\"", "\"C\": \"a\"", {"in place", "range", "steps[2].C: 3072 elements"}},
      {"\"compute\": \"tf32\"",
       "\"compute\": \"fp8\"",
       {"fp8", "field", "steps[2].compute: \"fp8\" is none of fp32, tf32"}},
      {"\"compute\": \"tf32\", ", "", {"none", "field", "steps[2].compute: this field is missing"}},
      {"\"gemm\"", "\"gemv\"", {"gemv", "field", "steps[2].library: \"gemv\" is none of gemm, gemm_strided_batched"}},
      {"\"gemm\"", "\"gemm\", \"transa\": \"C\"", {"C", "field", "steps[2].transa: \"C\" is none of N, T"}},
      {"\"gemm\"", "\"gemm\", \"batchCount\": 2", {"batchCount", "field", "steps[2].batchCount: unknown field"}},
      {"\"gemm\"", "\"gemm\", \"alpha\": \"1\"", {"alpha", "field", "steps[2].alpha: expected a number"}},
      {", \"ldc\": 48", "", {"ldc", "field", "steps[2].ldc: this field is missing"}},
  };
  for (const auto& [from, to, rejection] : cases) {
    CheckRejected(ExpandText(Library(Changed(kGemm, from, to)), TestDevice()).status(), rejection);
  }
  // Transposed, the leading dimension is the other side's.
  CHECK(
      ExpandText(
          Library(R"("gemm", "compute": "fp32", "transa": "T", "m": 48, "n": 64, "k": 32, "A": "b", "lda": 32, "B": "a",
                              "ldb": 32, "C": "c", "ldc": 48)"),
          TestDevice())
          .ok());
  // The target may not be an input.
  CheckRejected(
      ExpandText(Library(R"("gemm", "compute": "fp32", "m": 4, "n": 4, "k": 4, "A": "b", "lda": 4, "B": "a", "ldb": 4,
                                      "C": "a", "ldc": 4)"),
                 TestDevice())
          .status(),
      {"in place", "arguments", "steps[2].C: a is also an input"});
}

TEST_CASE("half-precision operands compute at their own class", "[unit]") {
  const std::string half =
      R"("gemm", "compute": "fp16", "m": 48, "n": 64, "k": 32, "A": "hb", "lda": 48, "B": "ha", "ldb": 32, "C": "c", "ldc": 48)";
  CHECK(ExpandText(Library(half), TestDevice()).ok());  // into float32
  CheckRejected(ExpandText(Library(Changed(half, "fp16", "fp32")), TestDevice()).status(),
                {"fp32", "field", "steps[2].compute: float16 operands compute at fp16, not fp32"});
}

TEST_CASE("strided batches", "[unit]") {
  const std::string batched =
      R"("gemm_strided_batched", "compute": "fp32", "m": 8, "n": 8, "k": 8, "A": "a", "lda": 8, "strideA": 64, "B": "b",
         "ldb": 8, "strideB": 0, "C": "c", "ldc": 8, "strideC": 64, "batchCount": 32)";
  auto plan = ExpandText(Library(batched), TestDevice());
  INFO(Message(plan.status()));
  REQUIRE(plan.ok());
  CHECK(plan->steps(2).library().integers().at("strideB") == 0);
  const std::tuple<std::string, std::string, Rejection> cases[] = {
      {"\"batchCount\": 32", "\"batchCount\": 33", {"33", "range", "steps[2].A: 2112 elements are used"}},
      {"\"strideC\": 64", "\"strideC\": 63", {"63", "range", "steps[2].strideC: 63 lets batches of C overlap"}},
      {"\"strideA\": 64", "\"strideA\": -64", {"-64", "range", "steps[2].strideA: -64 is out of range: at least 0"}},
      {"\"strideA\": 64",
       "\"strideA\": 9223372036854775807",
       {"max", "range", "steps[2].A: its size overflows 64 bits"}},
      {", \"batchCount\": 32", "", {"none", "field", "steps[2].batchCount: this field is missing"}},
  };
  for (const auto& [from, to, rejection] : cases) {
    CheckRejected(ExpandText(Library(Changed(batched, from, to)), TestDevice()).status(), rejection);
  }
}

TEST_CASE("a convolution's result has the size that cuDNN gives it", "[unit]") {
  auto plan = ExpandText(Library(kConvolution), TestDevice());
  INFO(Message(plan.status()));
  REQUIRE(plan.ok());
  const v1::LibraryStep& step = plan->steps(2).library();
  const std::pair<const char*, int64_t> expected[] = {
      {"nbDims", 4},     {"dimA1", 4},  {"filterDimA0", 6}, {"padA1", 1},  {"filterStrideA0", 2}, {"dilationA1", 1},
      {"groupCount", 2}, {"yDimA0", 2}, {"yDimA1", 6},      {"yDimA2", 4}, {"yDimA3", 4}};
  for (const auto& [name, value] : expected) {
    INFO(name);
    CHECK(step.integers().at(name) == value);
  }
  CHECK(step.enums().at("format") == "NCHW");
  const std::tuple<std::string, std::string, Rejection> cases[] = {
      {"\"groupCount\": 2",
       "\"groupCount\": 1",
       {"groups", "range", "steps[2].filterDimA: 2 channels a group times groupCount 1"}},
      {"[6, 2, 3, 3]", "[5, 2, 3, 3]", {"filters", "range", "steps[2].groupCount: 2 does not divide the 5 filters"}},
      {"[6, 2, 3, 3]",
       "[6, 2, 11, 3]",
       {"window", "range", "steps[2].filterDimA: a window of 11 is wider than dimension 2 of x"}},
      {"[2, 4, 8, 8]", "[2, 4, 8, 9]", {"x", "range", "steps[2].x: 576 elements are used"}},
      {"[2, 4, 8, 8]", "[2, 4, 8]", {"three", "field", "steps[2].dimA: a list of 3; at least 4"}},
      {"[2, 4, 8, 8]", "[2, 4, 8, 8, 1, 1]", {"six", "field", "steps[2].dimA: a list of 6; at most 5"}},
      {"[2, 4, 8, 8]", "[2, 4, 8, 0]", {"0", "range", "steps[2].dimA[3]: 0 is out of range: at least 1"}},
      {"[2, 4, 8, 8]", "[2, 4, 2147483647, 2147483647]", {"large", "range", "steps[2]."}},
      {"[6, 2, 3, 3]", "[6, 2, 3]", {"filter", "field", "steps[2].filterDimA: a list of 3"}},
      {"\"padA\": [1, 1]", "\"padA\": [1]", {"pad", "field", "steps[2].padA: a list of 1; at least 2"}},
      {"\"padA\": [1, 1]", "\"padA\": 1", {"pad", "field", "steps[2].padA: expected a list"}},
      {"\"padA\": [1, 1]", "\"padA\": [-1, 1]", {"pad", "range", "steps[2].padA[0]: -1 is out of range"}},
      {"\"filterStrideA\": [2, 2]", "\"filterStrideA\": [1, 1]", {"y", "range", "steps[2].y: 768 elements are used"}},
      {"\"filterStrideA\": [2, 2]", "\"filterStrideA\": [0, 1]", {"stride", "range", "steps[2].filterStrideA[0]"}},
      {"\"filterStrideA\": [2, 2]", "\"format\": \"CHWN\"", {"format", "field", "steps[2].format"}},
  };
  for (const auto& [from, to, rejection] : cases) {
    CheckRejected(ExpandText(Library(Changed(kConvolution, from, to)), TestDevice()).status(), rejection);
  }
}

TEST_CASE("attention", "[unit]") {
  auto plan = ExpandText(Library(kAttention), TestDevice());
  INFO(Message(plan.status()));
  REQUIRE(plan.ok());
  const v1::LibraryStep& step = plan->steps(2).library();
  CHECK(step.scalars().at("attn_scale") == Approx(1 / std::sqrt(8.0)));
  CHECK(step.enums().at("causal_mask") == "none");
  plan = ExpandText(
      Library(Changed(kAttention, "\"b\": 2", "\"b\": 2, \"attn_scale\": 0.25, \"causal_mask\": \"top_left\"")),
      TestDevice());
  REQUIRE(plan.ok());
  CHECK(plan->steps(2).library().scalars().at("attn_scale") == 0.25);
  const std::tuple<std::string, std::string, Rejection> cases[] = {
      {"\"h_k\": 2", "\"h_k\": 3", {"h_k", "range", "steps[2].h_k: 3 does not divide h_q, 4"}},
      {"\"s_kv\": 32", "\"s_kv\": 33", {"s_kv", "range", "steps[2].k: 1056 elements are used"}},
      {"\"o\": \"o\"", "\"o\": \"c\"", {"float32", "field", "steps[2].o: is float32, but the inputs are float16"}},
      {"\"compute\": \"fp16\"", "\"compute\": \"tf32\"", {"tf32", "field", "steps[2].compute: float16 operands"}},
      {", \"d_v\": 8", "", {"d_v", "field", "steps[2].d_v: this field is missing"}},
      {"\"o\": \"o\"", "\"o\": \"q\"", {"in place", "arguments", "steps[2].o: q is also an input"}},
  };
  for (const auto& [from, to, rejection] : cases) {
    CheckRejected(ExpandText(Library(Changed(kAttention, from, to)), TestDevice()).status(), rejection);
  }
}

}  // namespace
}  // namespace warpsmith::plan
