#include "gpu_worker/plan/tensor_table.h"

#include <catch2/catch.hpp>

#include "gpu_worker/plan/plan_error.h"
#include "tests/gpu_worker/plan/plan_fixture.h"

namespace warpsmith::plan {
namespace {

v1::TensorSpec* Add(v1::ProblemSignature* signature, const std::string& name, v1::TensorRole role,
                    const std::string& alias_of = "") {
  v1::TensorSpec* tensor = signature->add_tensors();
  tensor->set_name(name);
  tensor->set_dtype("float32");
  tensor->add_shape(4);
  tensor->add_strides(1);
  tensor->set_storage_bytes(16);
  tensor->set_role(role);
  tensor->set_alias_of(alias_of);
  return tensor;
}

TEST_CASE("aliases share a buffer, whichever stands first, and outputs never do", "[unit]") {
  v1::ProblemSignature signature;
  Add(&signature, "early", v1::TENSOR_ROLE_PARAMETER, "late");
  Add(&signature, "late", v1::TENSOR_ROLE_PARAMETER);
  Add(&signature, "again", v1::TENSOR_ROLE_PARAMETER, "early")->set_storage_bytes(64);
  Add(&signature, "output", v1::TENSOR_ROLE_OUTPUT, "late");
  auto table = TensorTable::Build(signature, {});
  REQUIRE(table.ok());
  REQUIRE(table->buffers().size() == 2);
  CHECK(table->buffers()[0].name() == "late");
  CHECK(table->buffers()[0].bytes() == 64);  // the longest of those that share it
  CHECK(table->Find("early")->buffer == 0);
  CHECK(table->Find("again")->buffer == 0);
  CHECK(table->Find("output")->buffer == 1);
  CHECK(table->Find("early")->bytes == 16);
  CHECK(table->Find("nothing") == nullptr);
}

TEST_CASE("a signature that contradicts itself is our mistake", "[unit]") {
  auto fails = [](auto change) {
    v1::ProblemSignature signature;
    Add(&signature, "a", v1::TENSOR_ROLE_INPUT);
    change(&signature);
    auto table = TensorTable::Build(signature, {});
    CHECK(table.status().code() == absl::StatusCode::kInternal);
    CHECK(PlanErrorReason(table.status()).empty());
    CHECK(Message(table.status()).find("signature: ") == 0);
  };
  fails([](auto* s) { Add(s, "a", v1::TENSOR_ROLE_INPUT); });
  fails([](auto* s) { Add(s, "b", v1::TENSOR_ROLE_INPUT, "missing"); });
  fails([](auto* s) { Add(s, "b", v1::TENSOR_ROLE_INPUT, "b"); });
  fails([](auto* s) {
    Add(s, "b", v1::TENSOR_ROLE_INPUT, "c");
    Add(s, "c", v1::TENSOR_ROLE_INPUT, "b");
  });
  fails([](auto* s) { s->mutable_tensors(0)->set_dtype("float128"); });
  fails([](auto* s) { s->mutable_tensors(0)->set_shape(0, -1); });
  fails([](auto* s) { s->mutable_tensors(0)->set_strides(0, INT64_MAX); });
}

TEST_CASE("scratch is counted in units of 256 bytes", "[unit]") {
  auto table =
      TensorTable::Build({}, {{"a", "float32", {64}, false}, {"b", "int8", {}, false}, {"c", "float64", {33}, true}});
  REQUIRE(table.ok());
  CHECK(table->scratch_bytes() == 256 + 256 + 512);
  CHECK(table->buffers()[2].persistent());
  CHECK(table->Find("c")->strides == std::vector<int64_t>{1});
}

TEST_CASE("bytes are what the strides reach over", "[unit]") {
  auto table = TensorTable::Build(Problem(), {});
  REQUIRE(table.ok());
  CHECK(table->Find("t")->bytes == 2048);
  CHECK(table->Find("t")->dense());
  CHECK(table->Find("gap")->bytes == 112);
  CHECK_FALSE(table->Find("gap")->dense());
  CHECK(table->Find("none")->bytes == 0);
  CHECK(table->Find("none")->dense());
}

}  // namespace
}  // namespace warpsmith::plan
