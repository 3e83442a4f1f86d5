#include "gpu_worker/plan/plan_expander.h"

#include <catch2/catch.hpp>

#include "gpu_worker/plan/plan_error.h"
#include "gpu_worker/plan/plan_parser.h"
#include "tests/gpu_worker/plan/plan_fixture.h"

namespace warpsmith::plan {
namespace {

std::string Bytes(std::initializer_list<int> bytes) { return std::string(bytes.begin(), bytes.end()); }

TEST_CASE("buffers are the signature's tensors, aliases resolved, then scratch", "[unit]") {
  auto plan = ExpandText(PlanOf(Launch("f<128,4>", "\"tied\""), R"(, "scratch": [
      {"name": "s", "dtype": "float16", "shape": [3, 5]}, {"name": "one", "dtype": "int64", "shape": []}])"),
                         TestDevice());
  INFO(Message(plan.status()));
  REQUIRE(plan.ok());
  struct Expected {
    std::string name, dtype;
    int64_t bytes;
    v1::BufferKind kind;
  };
  const std::vector<Expected> expected = {
      {"x", "float32", 262144, v1::BUFFER_KIND_READ_ONLY},   {"h", "float16", 131072, v1::BUFFER_KIND_READ_ONLY},
      {"t", "float32", 2048, v1::BUFFER_KIND_READ_ONLY},     {"gap", "float32", 112, v1::BUFFER_KIND_READ_ONLY},
      {"none", "float32", 0, v1::BUFFER_KIND_READ_ONLY},     {"w", "float32", 4096, v1::BUFFER_KIND_READ_ONLY},
      {"running", "float32", 32, v1::BUFFER_KIND_READ_ONLY}, {"output0", "float32", 262144, v1::BUFFER_KIND_OUTPUT},
      {"output1", "int64", 512, v1::BUFFER_KIND_OUTPUT},     {"s", "float16", 30, v1::BUFFER_KIND_SCRATCH},
      {"one", "int64", 8, v1::BUFFER_KIND_SCRATCH},
  };
  REQUIRE(plan->buffers_size() == static_cast<int>(expected.size()));
  for (int i = 0; i < plan->buffers_size(); ++i) {
    INFO(expected[i].name);
    CHECK(plan->buffers(i).name() == expected[i].name);
    CHECK(plan->buffers(i).dtype() == expected[i].dtype);
    CHECK(plan->buffers(i).bytes() == expected[i].bytes);
    CHECK(plan->buffers(i).kind() == expected[i].kind);
    CHECK_FALSE(plan->buffers(i).persistent());
  }
  CHECK(plan->steps(1).kernel().arguments(0).view().buffer() == 5);  // tied is w's
  CHECK(plan->kernel_symbols_size() == 2);
  CHECK(plan->kernel_symbols(1) == "_Zf<128,4>");
  CHECK_FALSE(plan->uses_library());
}

TEST_CASE("nested repeats give exactly these launches and offsets", "[unit]") {
  auto plan = ExpandText(PlanOf(std::string(kBoth) + R"(,
      {"repeat": 2, "index": "t", "steps": [
        {"memset": "s", "value": 255},
        {"repeat": "t + 2", "index": "u", "steps": [
          {"kernel": "g", "grid": ["(t+1)*2", "u+1"], "block": [32, "(u+1)*2"], "shared_bytes": "t*1024",
           "args": [{"tensor": "x", "offset": "t*100 + u"}, {"i32": "t*10 - u"}, {"f32": 1.5}]}]}]},
      {"copy": "s", "to": "output0"})",
                                R"(, "scratch": [{"name": "s", "dtype": "float32", "shape": [65536]}])"),
                         TestDevice());
  INFO(Message(plan.status()));
  REQUIRE(plan.ok());
  REQUIRE(plan->steps_size() == 1 + (1 + 2) + (1 + 3) + 1);
  int at = 1;
  for (int t = 0; t < 2; ++t) {
    const v1::MemsetStep& memset = plan->steps(at++).memset();
    CHECK(memset.view().buffer() == 9);
    CHECK(memset.value() == 255);
    CHECK(memset.width() == 1);
    CHECK(memset.count() == 262144);
    for (int u = 0; u < t + 2; ++u) {
      INFO("t " << t << " u " << u);
      const v1::KernelLaunch& launch = plan->steps(at++).kernel();
      CHECK(plan->kernel_symbols(static_cast<int>(launch.kernel())) == "_Zg");
      CHECK(launch.grid_x() == static_cast<uint32_t>((t + 1) * 2));
      CHECK(launch.grid_y() == static_cast<uint32_t>(u + 1));
      CHECK(launch.grid_z() == 1);
      CHECK(launch.block_x() == 32);
      CHECK(launch.block_y() == static_cast<uint32_t>(2 * (u + 1)));
      CHECK(launch.block_z() == 1);
      CHECK(launch.dynamic_shared_bytes() == static_cast<uint32_t>(t * 1024));
      CHECK_FALSE(launch.cooperative());
      REQUIRE(launch.arguments_size() == 3);
      CHECK(launch.arguments(0).view().buffer() == 0);
      CHECK(launch.arguments(0).view().offset_bytes() == 4 * (t * 100 + u));
      const int value = t * 10 - u;
      CHECK(launch.arguments(1).literal() ==
            Bytes({value & 255, value >> 8 & 255, value >> 16 & 255, value >> 24 & 255}));
      CHECK(launch.arguments(2).literal() == Bytes({0, 0, 0xC0, 0x3F}));
    }
  }
  const v1::CopyStep& copy = plan->steps(at).copy();
  CHECK(copy.source().buffer() == 9);
  CHECK(copy.target().buffer() == 7);
  CHECK(copy.bytes() == 262144);
}

TEST_CASE("sm_count and tune values stand in expressions", "[unit]") {
  const std::string text =
      PlanOf(R"({"kernel": "both", "grid": ["4*sm_count"], "block": ["TILE"], "args": ["x", "output0", "output1"]})",
             R"(, "tune": {"TILE": [64, 128]})");
  Plan plan = ParsePlan(text).value();
  auto expanded = Expand(plan, Problem(), Kernels(), TestDevice(), {{"TILE", 128}});
  REQUIRE(expanded.ok());
  CHECK(expanded->steps(0).kernel().grid_x() == 528);
  CHECK(expanded->steps(0).kernel().block_x() == 128);
  expanded = Expand(plan, Problem(), Kernels(), DeviceLimits::Emulated(std::nullopt), {{"TILE", 64}});
  REQUIRE(expanded.ok());
  CHECK(expanded->steps(0).kernel().grid_x() == 16);
  // An assignment that is not the plan's is our mistake, not the candidate's.
  for (const TuneAssignment& wrong :
       {TuneAssignment{}, TuneAssignment{{"OTHER", 1}}, TuneAssignment{{"TILE", 1}, {"A", 1}}}) {
    auto failed = Expand(plan, Problem(), Kernels(), TestDevice(), wrong);
    CHECK(failed.status().code() == absl::StatusCode::kInternal);
    CHECK(PlanErrorOutcome(failed.status()) == v1::OUTCOME_INFRA_ERROR);
  }
}

TEST_CASE("arguments match the compiled kernel", "[unit]") {
  const std::pair<std::string, std::string> good[] = {
      {"g", R"("x", {"i32": 1}, {"f32": 1})"},
      {"g", R"("x", {"u32": 4294967295}, {"f32": 1})"},
      {"half", R"({"f16": 1})"},
      {"half", R"({"bf16": 1})"},
      {"wide", R"({"i64": 1})"},
      {"wide", R"({"u64": 18446744073709551615})"},
      {"wide", R"("x")"},             // PTX does not tell an address from an integer
      {"f<128,4>", R"({"i64": 1})"},  // nor the other way round
      {"byte", R"({"bool": true})"},
      {"byte", R"({"i8": -1})"},
      {"double", R"({"f64": 0.1})"},
      {"unknown", R"({"f64": 0.1})"},
      {"unknown", R"("x")"},
      {"mapped", R"({"tensor_map": {"tensor": "x", "box": [32, 8], "swizzle": "128B"}})"},
  };
  for (const auto& [kernel, args] : good) {
    INFO(kernel << " " << args);
    auto plan = ExpandText(PlanOf(Launch(kernel, args)), TestDevice());
    INFO(Message(plan.status()));
    CHECK(plan.ok());
  }
  const std::tuple<std::string, std::string, Rejection> bad[] = {
      {"g",
       R"("x", {"i32": 1})",
       {"too few", "arguments", "steps[1].args: 2 given, but the kernel g has 3 parameters"}},
      {"g", R"("x", {"i32": 1}, {"f32": 1}, "x")", {"too many", "arguments", "steps[1].args: 4 given"}},
      {"g",
       R"({"i32": 1}, {"i32": 1}, {"f32": 1})",
       {"i32 to pointer", "arguments", "steps[1].args[0]: i32 (a literal)"}},
      {"g", R"("x", {"i64": 1}, {"f32": 1})", {"i64 to int", "arguments", "steps[1].args[1]: i64"}},
      {"g", R"("x", {"f32": 1}, {"f32": 1})", {"f32 to int", "arguments", "steps[1].args[1]: f32"}},
      {"g",
       R"("x", {"i32": 1}, {"i32": 1})",
       {"i32 to float", "arguments",
        "steps[1].args[2]: i32 (a literal) does not fit the kernel's parameter, "
        "a floating-point number of 4 bytes"}},
      {"g", R"("x", {"i32": 1}, {"f64": 1})", {"f64 to float", "arguments", "steps[1].args[2]: f64"}},
      {"g", R"("x", "x", {"f32": 1})", {"tensor to int", "arguments", "steps[1].args[1]: the address of x"}},
      {"double", R"("x")", {"tensor to double", "arguments", "steps[1].args[0]: the address of x"}},
      {"double", R"({"i64": 1})", {"i64 to double", "arguments", "steps[1].args[0]: i64"}},
      {"wide", R"({"f64": 1})", {"f64 to i64", "arguments", "steps[1].args[0]: f64"}},
      {"half", R"({"i8": 1})", {"i8 to half", "arguments", "steps[1].args[0]: i8"}},
      {"mapped", R"("x")", {"tensor to map", "arguments", "steps[1].args[0]: the address of x"}},
      {"g",
       R"({"tensor_map": {"tensor": "x", "box": [32, 8]}}, {"i32": 1}, {"f32": 1})",
       {"map to pointer", "arguments", "steps[1].args[0]: a tensor_map"}},
      {"absent",
       R"("x")",
       {"absent", "names", "steps[1].kernel: the compiled module has no kernel absent; it has both, "}},
      {"f<128, 4>", R"("x")", {"other spelling", "names", "steps[1].kernel"}},
  };
  for (const auto& [kernel, args, rejection] : bad) {
    CheckRejected(ExpandText(PlanOf(Launch(kernel, args)), TestDevice()).status(), rejection);
  }
}

TEST_CASE("the emulated build tells pointers from 64-bit integers", "[unit]") {
  const DeviceLimits emulated = DeviceLimits::Emulated(std::nullopt);
  CheckRejected(ExpandText(PlanOf(Launch("f<128,4>", R"({"i64": 1})")), emulated).status(),
                {"i64 to pointer", "arguments", "steps[1].args[0]: i64"});
  CheckRejected(ExpandText(PlanOf(Launch("wide", R"("x")")), emulated).status(),
                {"tensor to i64", "arguments", "steps[1].args[0]: the address of x"});
  CHECK(ExpandText(PlanOf(Launch("wide", R"({"i64": 1})")), emulated).ok());
  CHECK(ExpandText(PlanOf(Launch("f<128,4>", R"("x")")), emulated).ok());
}

TEST_CASE("views stay within their tensor's bytes", "[unit]") {
  const std::pair<std::string, bool> cases[] = {
      {R"({"tensor": "x", "offset": 65535})", true},
      {R"({"tensor": "x", "offset": 65536})", false},
      {R"({"tensor": "x", "offset": -1})", false},
      {R"({"tensor": "x", "offset": "64*1024-1"})", true},
      {R"({"tensor": "h", "offset": 65535})", true},
      {R"({"tensor": "h", "offset": 65536})", false},
      {R"({"tensor": "gap", "offset": 27})", true},
      {R"({"tensor": "gap", "offset": 28})", false},
      {R"({"tensor": "none", "offset": 0})", true},
      {R"({"tensor": "none", "offset": 1})", false},
      {R"({"tensor": "one", "offset": 0})", true},
      {R"({"tensor": "one", "offset": 1})", false},
      {R"({"tensor": "output1", "offset": 63})", true},
      {R"({"tensor": "output1", "offset": 64})", false},
      {R"({"tensor": "x", "offset": 9223372036854775807})", false},
      {R"({"tensor": "x", "offset": 4611686018427387904})", false},
  };
  for (const auto& [view, fits] : cases) {
    INFO(view);
    auto plan = ExpandText(
        PlanOf(Launch("f<128,4>", view), R"(, "scratch": [{"name": "one", "dtype": "float32", "shape": []}])"),
        TestDevice());
    CHECK(plan.ok() == fits);
    if (!plan.ok()) CheckRejected(plan.status(), {view, "range", "steps[1].args[0].offset: "});
  }
  CheckRejected(ExpandText(PlanOf(Launch("f<128,4>", R"({"tensor": "y", "offset": 0})")), TestDevice()).status(),
                {"y", "names", "steps[1].args[0]: no tensor is called \"y\"; there are x, h, t"});
  // The turn that goes wrong is told.
  CheckRejected(
      ExpandText(PlanOf(std::string(kBoth) + R"(, {"repeat": 100, "index": "t", "steps": [{"kernel": "f<128,4>",
                           "grid": [1], "block": [1], "args": [{"tensor": "x", "offset": "t*1024"}]}]})"),
                 TestDevice())
          .status(),
      {"t=64", "range",
       "steps[1].steps[0].args[0].offset: 65536 is outside x, which reaches over 65536 elements "
       "(sm_count=132, t=64)"});
}

TEST_CASE("literals that depend on an index are checked at each turn", "[unit]") {
  CheckRejected(ExpandText(PlanOf(std::string(kBoth) + R"(, {"repeat": 300, "index": "t", "steps": [{"kernel": "byte",
                           "grid": [1], "block": [1], "args": [{"u8": "t"}]}]})"),
                           TestDevice())
                    .status(),
                {"t=256", "range", "steps[1].steps[0].args[0].u8: 256 is out of u8's range: 0 to 255"});
}

TEST_CASE("memset and copy write outputs and scratch only", "[unit]") {
  const std::string scratch =
      R"(, "scratch": [{"name": "s", "dtype": "float32", "shape": [64, 1024]}, {"name": "odd", "dtype": "uint8", "shape": [6]},
         {"name": "g", "dtype": "float32", "shape": [16]}, {"name": "t2", "dtype": "float32", "shape": [512]},
         {"name": "e", "dtype": "int32", "shape": [65536]}])";
  const std::pair<std::string, Rejection> bad[] = {
      {R"({"memset": "x", "value": 0})", {"input", "names", "steps[1].memset: x may not be written"}},
      {R"({"memset": "w", "value": 0})", {"parameter", "names", "steps[1].memset: w may not be written"}},
      {R"({"memset": "running", "value": 0})", {"buffer", "names", "steps[1].memset: running may not be written"}},
      {R"({"memset": "nothing", "value": 0})",
       {"unknown", "names", "steps[1].memset: no tensor is called \"nothing\""}},
      {R"({"memset": "odd", "value": 0, "width": 4})",
       {"6 by 4", "range", "steps[1].width: 4 does not divide the 6 bytes"}},
      {R"({"copy": "s", "to": "x"})", {"to input", "names", "steps[1].to: x may not be written"}},
      {R"({"copy": "y", "to": "s"})", {"from unknown", "names", "steps[1].copy: no tensor is called"}},
      {R"({"copy": "x", "to": "y"})", {"to unknown", "names", "steps[1].to: no tensor is called"}},
      {R"({"copy": "w", "to": "s"})",
       {"count", "arguments", "steps[1].to: s has 65536 elements of float32, but w has 1024"}},
      {R"({"copy": "x", "to": "e"})", {"dtype", "arguments", "steps[1].to: e has 65536 elements of int32"}},
      {R"({"copy": "gap", "to": "g"})", {"gaps", "arguments", "steps[1].copy: gap has gaps"}},
      {R"({"copy": "s", "to": "s"})", {"itself", "arguments", "steps[1].to: s and s are the same memory"}},
  };
  for (const auto& [step, rejection] : bad) {
    CheckRejected(ExpandText(PlanOf(std::string(kBoth) + ", " + step, scratch), TestDevice()).status(), rejection);
  }
  auto plan = ExpandText(PlanOf(R"({"memset": "output1", "value": 1, "width": 2}, {"copy": "x", "to": "output0"},
                                   {"copy": "t", "to": "t2"})",
                                scratch),
                         TestDevice());
  INFO(Message(plan.status()));
  REQUIRE(plan.ok());  // a plan without kernels is legal
  CHECK(plan->steps(0).memset().count() == 256);
  CHECK(plan->kernel_symbols_size() == 0);
}

TEST_CASE("tensors without elements need no memset and no copy", "[unit]") {
  v1::ProblemSignature signature;
  for (const auto& [name, role] :
       {std::pair{"x", v1::TENSOR_ROLE_INPUT}, std::pair{"output", v1::TENSOR_ROLE_OUTPUT}}) {
    v1::TensorSpec* tensor = signature.add_tensors();
    tensor->set_name(name);
    tensor->set_dtype("float32");
    tensor->add_shape(0);
    tensor->add_strides(1);
    tensor->set_role(role);
  }
  auto plan = Expand(ParsePlan(PlanOf(R"({"memset": "output", "value": 0}, {"copy": "x", "to": "output"})")).value(),
                     signature, {}, TestDevice());
  REQUIRE(plan.ok());
  CHECK(plan->steps_size() == 0);
  CHECK(plan->buffers(1).bytes() == 0);
}

TEST_CASE("every output stands somewhere as written", "[unit]") {
  CheckRejected(ExpandText(PlanOf(R"({"memset": "output0", "value": 0})"), TestDevice()).status(),
                {"output1", "names", "steps: nothing writes output1"});
  CheckRejected(ExpandText(PlanOf(R"({"memset": "output1", "value": 0})"), TestDevice()).status(),
                {"output0", "names", "steps: nothing writes output0"});
  CheckRejected(ExpandText(PlanOf(R"({"memset": "output1", "value": 0}, {"copy": "output0", "to": "s"})",
                                  R"(, "scratch": [{"name": "s", "dtype": "float32", "shape": [65536]}])"),
                           TestDevice())
                    .status(),
                {"read only", "names", "steps: nothing writes output0"});
  CHECK(ExpandText(PlanOf(R"({"memset": "output1", "value": 0},
      {"kernel": "mapped", "grid": [1], "block": [1], "args": [{"tensor_map": {"tensor": "output0", "box": [4, 1]}}]})"),
                   TestDevice())
            .ok());
}

TEST_CASE("a buffer whose change is part of the answer may be written", "[unit]") {
  v1::ProblemSignature signature = Problem();
  signature.set_mutates_policy(v1::MUTATES_POLICY_REQUIRED);
  Plan plan = ParsePlan(PlanOf(std::string(kBoth) + R"(, {"memset": "running", "value": 0})")).value();
  auto expanded = Expand(plan, signature, Kernels(), TestDevice());
  REQUIRE(expanded.ok());
  CHECK(expanded->buffers(6).kind() == v1::BUFFER_KIND_UPDATED);
}

TEST_CASE("scratch names differ from the problem's", "[unit]") {
  CheckRejected(ExpandText(PlanOf(kBoth, R"(, "scratch": [{"name": "a", "dtype": "bool", "shape": []},
                           {"name": "w", "dtype": "bool", "shape": []}])"),
                           TestDevice())
                    .status(),
                {"w", "names", "scratch[1].name: w is a tensor of the problem"});
}

TEST_CASE("prepare reads parameters and writes persistent scratch", "[unit]") {
  const std::string scratch = R"(, "scratch": [{"name": "p", "dtype": "float32", "shape": [1024], "persistent": true},
                                               {"name": "s", "dtype": "float32", "shape": [1024]}])";
  ExpandOptions frozen;
  frozen.frozen_weights = true;
  auto with = [&](std::string_view prepare, std::string_view steps = "") {
    return PlanOf(std::string(kBoth) + std::string(steps), scratch + ", \"prepare\": [" + std::string(prepare) + "]");
  };
  const std::string pack =
      R"({"copy": "w", "to": "p"}, {"kernel": "f<128,4>", "grid": [1], "block": [1], "args": ["p"]})";
  auto plan = ExpandText(with(pack, R"(, {"kernel": "f<128,4>", "grid": [1], "block": [1], "args": ["p"]})"),
                         TestDevice(), frozen);
  INFO(Message(plan.status()));
  REQUIRE(plan.ok());
  CHECK(plan->prepare_steps_size() == 2);
  CHECK(plan->steps_size() == 2);
  CHECK(plan->buffers(9).persistent());
  CHECK_FALSE(plan->buffers(10).persistent());

  CheckRejected(ExpandText(with(pack), TestDevice()).status(),
                {"not allowed", "frozen_weights", "prepare: this search does not"});
  const std::pair<std::string, Rejection> bad[] = {
      {with(R"({"kernel": "f<128,4>", "grid": [1], "block": [1], "args": ["x"]})"),
       {"input", "frozen_weights", "prepare[0].args[0]: x is neither a parameter nor persistent"}},
      {with(R"({"kernel": "f<128,4>", "grid": [1], "block": [1], "args": ["running"]})"),
       {"buffer", "frozen_weights", "prepare[0].args[0]: running is neither"}},
      {with(R"({"kernel": "f<128,4>", "grid": [1], "block": [1], "args": ["output0"]})"),
       {"output", "frozen_weights", "prepare[0].args[0]: output0 is neither"}},
      {with(R"({"copy": "w", "to": "s"})"), {"scratch", "frozen_weights", "prepare[0].to: s is no persistent scratch"}},
      {with(R"({"repeat": 2, "steps": [{"memset": "w", "value": 0}]})"),
       {"parameter", "frozen_weights", "prepare[0].steps[0].memset: w is no persistent scratch"}},
      {with(pack, R"(, {"memset": "p", "value": 0})"),
       {"persistent in steps", "frozen_weights", "steps[1].memset: p is persistent"}},
      {PlanOf(kBoth, scratch), {"no prepare", "frozen_weights", "scratch[0].persistent: without prepare steps"}},
  };
  for (const auto& [text, rejection] : bad) CheckRejected(ExpandText(text, TestDevice(), frozen).status(), rejection);
  // What prepare names does not make an output written: it cannot even name one.
  CheckRejected(ExpandText(PlanOf(R"({"memset": "output0", "value": 0})", scratch + ", \"prepare\": [" + pack + "]"),
                           TestDevice(), frozen)
                    .status(),
                {"output1", "names", "nothing writes output1"});
}

}  // namespace
}  // namespace warpsmith::plan
