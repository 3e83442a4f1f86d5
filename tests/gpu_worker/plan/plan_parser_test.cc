#include "gpu_worker/plan/plan_parser.h"

#include <catch2/catch.hpp>

#include "gpu_worker/plan/plan_error.h"
#include "tests/gpu_worker/plan/plan_fixture.h"

namespace warpsmith::plan {
namespace {

// A kernel step with one more field, or one argument.
std::string KernelWith(std::string_view field) {
  return R"({"kernel": "f", "grid": [1], "block": [1], "args": [], )" + std::string(field) + "}";
}
std::string Argument(std::string_view argument) {
  return R"({"kernel": "f", "grid": [1], "block": [1], "args": ["x", "x", )" + std::string(argument) + "]}";
}

void CheckSteps(const std::vector<Rejection>& cases) {
  for (const Rejection& rejection : cases) CheckRejected(ParsePlan(PlanOf(rejection.text)).status(), rejection);
}

TEST_CASE("a full plan is read field by field", "[unit]") {
  auto plan = ParsePlan(R"({
    "version": 1, "min_arch": "sm_90a", "options": ["--use_fast_math", "-DX=3"],
    "tune": {"TILE": [64, 128], "STAGES": [2]},
    "scratch": [{"name": "partial", "dtype": "float32", "shape": [16, 32]}, {"name": "one", "dtype": "bool", "shape": []},
                {"name": "packed", "dtype": "bfloat16", "shape": [8], "persistent": true}],
    "prepare": [{"kernel": "pack", "grid": [1], "block": [32], "args": ["w", "packed"]}],
    "steps": [
      {"memset": "partial", "value": 4294967295, "width": 4},
      {"copy": "x", "to": "partial"},
      {"repeat": "TILE / 2", "index": "t", "steps": [
        {"kernel": "f<128,4>", "grid": ["4*sm_count", 2], "block": [32, 8, 1], "shared_bytes": "TILE*STAGES",
         "cluster": [2], "cooperative": true,
         "args": ["x", {"tensor": "partial", "offset": "t*4"}, {"i32": "t - 1"}, {"u64": 18446744073709551615},
                  {"bool": true}, {"f32": 1}, {"bf16": -0.5},
                  {"tensor_map": {"tensor": "x", "box": [64, 8], "swizzle": "128B"}}]}]}]})");
  INFO(Message(plan.status()));
  REQUIRE(plan.ok());
  CHECK(plan->min_arch->number == 90);
  CHECK(plan->min_arch->suffix == 'a');
  CHECK(CompileArchitecture(*plan, 100) == "sm_100a");
  CHECK(plan->options == std::vector<std::string>{"--use_fast_math", "-DX=3"});
  REQUIRE(plan->tune.size() == 2);
  CHECK(plan->tune[1].name == "TILE");
  CHECK(plan->tune[1].values == std::vector<int64_t>{64, 128});
  REQUIRE(plan->scratch.size() == 3);
  CHECK(plan->scratch[0].shape == std::vector<int64_t>{16, 32});
  CHECK(plan->scratch[1].shape.empty());
  CHECK(plan->scratch[2].persistent);
  CHECK(KernelNames(*plan) == std::vector<std::string>{"pack", "f<128,4>"});
  REQUIRE(plan->steps.size() == 3);
  const auto& memset = std::get<MemsetStep>(plan->steps[0].value);
  CHECK(memset.value == 4294967295u);
  CHECK(memset.width == 4);
  CHECK(std::get<CopyStep>(plan->steps[1].value).target == "partial");
  const auto& repeat = std::get<RepeatStep>(plan->steps[2].value);
  CHECK(repeat.index == "t");
  CHECK(repeat.count.text() == "TILE / 2");
  const auto& kernel = std::get<KernelStep>(repeat.steps[0].value);
  CHECK(kernel.grid[0].text() == "4*sm_count");
  CHECK(kernel.block.size() == 3);
  CHECK(kernel.cooperative);
  REQUIRE(kernel.args.size() == 8);
  CHECK(std::get<View>(kernel.args[0]).tensor == "x");
  CHECK(std::get<View>(kernel.args[1]).offset.text() == "t*4");
  CHECK(std::get<Literal>(kernel.args[3]).large == UINT64_MAX);
  CHECK(std::get<Literal>(kernel.args[4]).integer.constant() == 1);
  CHECK(std::get<Literal>(kernel.args[6]).number == -0.5);
  CHECK(std::get<TensorMapArgument>(kernel.args[7]).box == std::vector<int64_t>{64, 8});
}

TEST_CASE("JSON that is not strict is refused", "[unit]") {
  std::string deep;
  for (int i = 0; i < 40; ++i) deep += "[";
  const std::string large = "{\"version\": 1, \"x\": \"" + std::string(257 << 10, 'a') + "\"}";
  const std::vector<std::pair<std::string, Rejection>> cases = {
      {"", {"empty", "json", "line 1"}},
      {"[]", {"list", "json", "no JSON object"}},
      {"null", {"null", "json", "no JSON object"}},
      {"\xEF\xBB\xBF{}", {"mark", "json", "no JSON object"}},
      {"{\"version\": 1", {"open", "json", "line 1"}},
      {"{\"version\": 1,}", {"trailing comma", "json", "line 1, column"}},
      {"{\"version\": 1} x", {"text after", "json", "line 1"}},
      {"{\"version\": 1} {}", {"two values", "json", "line 1"}},
      {"{version: 1}", {"bare key", "json", "line 1"}},
      {"{'version': 1}", {"single quotes", "json", "line 1"}},
      {"{\"version\": 01}", {"leading zero", "json", "line 1"}},
      {"{\"version\": +1}", {"plus", "json", "line 1"}},
      {"{\"version\": NaN}", {"NaN", "json", "line 1"}},
      {"{\"version\": Infinity}", {"Infinity", "json", "line 1"}},
      {"{\"version\": 1e999}", {"1e999", "json", "JSON"}},
      {"{\"version\": 1 /* c */}", {"comment", "json", "line 1"}},
      {"{\"version\": 1 // c\n}", {"line comment", "json", "line 1"}},
      {"{\"version\": 1, \"version\": 1, \"steps\": []}", {"duplicate", "json", "\"version\" stands twice"}},
      {"{\"version\": 1, \"steps\": [{\"memset\": \"a\", \"value\": 0, \"value\": 1}]}",
       {"inner duplicate", "json", "\"value\" stands twice"}},
      {"{\"version\": 1, \"steps\": [{\"memset\": \"a\", \"value\": 0, \"val\\u0075e\": 1}]}",
       {"escaped duplicate", "json", "\"value\" stands twice"}},
      {"{\"a\": " + deep, {"deep", "json", "the limit is 32"}},
      {"{\"a\": \"" + std::string(100000, 'b'), {"long open string", "json", "missing closing quote"}},
      {"{\"" + std::string(100000, 'b') + "\": 1, \"" + std::string(100000, 'b') + "\": 1}",
       {"long key", "json", "bbb"}},
      {large, {"large", "json", "the limit is 262144 (256 KiB)"}},
      {"{\"a\": \"\\x\"}", {"bad escape", "json", "line 1"}},
      {"{\"a\": \"\n\"}", {"control character", "json", "JSON"}},
      {"{\"a\": \"\xFF\"}", {"not UTF-8", "json", "JSON"}},
  };
  for (const auto& [text, rejection] : cases) CheckRejected(ParsePlan(text).status(), rejection);
  // Lines are the file's.
  CHECK(Message(ParsePlan("{\n\n  \"a\" 1}", 7).status()).find("line 9, column") != std::string::npos);
}

TEST_CASE("fields of the plan itself", "[unit]") {
  const std::string steps = std::string(", \"steps\": [") + kKernel + "]}";
  const std::vector<std::pair<std::string, Rejection>> cases = {
      {"{}", {"none", "field", "version: this field is missing"}},
      {"{\"version\": 1}", {"no steps", "field", "steps: this field is missing"}},
      {"{\"version\": 2" + steps, {"2", "field", "version: 2 is not known"}},
      {"{\"version\": \"1\"" + steps, {"string", "field", "version: expected an integer, got the string \"1\""}},
      {"{\"version\": 1.0" + steps,
       {"1.0", "field", "version: expected an integer, got the floating-point number 1.0"}},
      {"{\"version\": true" + steps, {"true", "field", "version: expected an integer, got true"}},
      {"{\"version\": null" + steps, {"null", "field", "version: expected an integer, got null"}},
      {"{\"version\": 1, \"stepz\": []" + steps, {"stepz", "field", "stepz: unknown field; known here: version"}},
      {"{\"version\": 1, \"steps\": {}}", {"steps {}", "field", "steps: expected a list, got an object"}},
      {"{\"version\": 1, \"steps\": []}", {"steps []", "field", "steps: a list of 0; at least 1 expected"}},
      {"{\"version\": 1, \"scratch\": 3" + steps,
       {"scratch 3", "field", "scratch: expected a list, got the integer 3"}},
      {"{\"version\": 1, \"tune\": []" + steps, {"tune []", "field", "tune: expected an object, got a list"}},
      {"{\"version\": 1, \"prepare\": []" + steps, {"prepare []", "field", "prepare: a list of 0"}},
      {"{\"version\": 1, \"options\": \"-DX\"" + steps, {"options", "field", "options: expected a list"}},
      {"{\"version\": 1, \"min_arch\": 90" + steps, {"min_arch 90", "field", "min_arch: expected a string"}},
  };
  for (const auto& [text, rejection] : cases) CheckRejected(ParsePlan(text).status(), rejection);
}

TEST_CASE("steps and their fields", "[unit]") {
  CheckSteps({
      {"1", "field", "steps[0]: expected an object, got the integer 1"},
      {"[]", "field", "steps[0]: expected an object, got a list"},
      {"{}", "field", "steps[0]: a step has exactly one of kernel, memset, copy, library, repeat; this one has none"},
      {R"({"kernal": "f"})", "field", "steps[0]: a step has exactly one of"},
      {R"({"kernel": "f", "memset": "a"})", "field", "this one has 2"},
      {R"({"kernel": "f"})", "field", "steps[0].grid: this field is missing"},
      {R"({"kernel": "f", "grid": [1]})", "field", "steps[0].block: this field is missing"},
      {R"({"kernel": "f", "grid": [1], "block": [1]})", "field", "steps[0].args: this field is missing"},
      {R"({"kernel": 1, "grid": [1], "block": [1], "args": []})", "field", "steps[0].kernel: expected a string"},
      {R"({"kernel": "", "grid": [1], "block": [1], "args": []})", "field",
       "steps[0].kernel: \"\" is no kernel's name"},
      {R"({"kernel": "f; int", "grid": [1], "block": [1], "args": []})", "field", "steps[0].kernel"},
      {R"({"kernel": "f<1", "grid": [1], "block": [1], "args": []})", "field", "steps[0].kernel"},
      {R"({"kernel": "f>1<", "grid": [1], "block": [1], "args": []})", "field", "steps[0].kernel"},
      {R"({"kernel": "f(1) ", "grid": [1], "block": [1], "args": []})", "field", "steps[0].kernel"},
      {R"({"kernel": "1f", "grid": [1], "block": [1], "args": []})", "field", "steps[0].kernel"},
      {R"({"kernel": "f\n", "grid": [1], "block": [1], "args": []})", "field", "\"f?\" is no kernel's name"},
      {R"({"kernel": "f", "grid": 1, "block": [1], "args": []})", "field", "steps[0].grid: expected a list"},
      {R"({"kernel": "f", "grid": [], "block": [1], "args": []})", "field", "steps[0].grid: a list of 0"},
      {R"({"kernel": "f", "grid": [1,1,1,1], "block": [1], "args": []})", "field",
       "steps[0].grid: a list of 4; at most 3"},
      {R"({"kernel": "f", "grid": [1.5], "block": [1], "args": []})", "field",
       "steps[0].grid[0]: expected an integer or an expression, got the floating-point number 1.5"},
      {R"({"kernel": "f", "grid": [1], "block": [1, true], "args": []})", "field",
       "steps[0].block[1]: expected an integer"},
      {R"({"kernel": "f", "grid": ["2*"], "block": [1], "args": []})", "field", "steps[0].grid[0]: \"2*\" is not an"},
      {R"({"kernel": "f", "grid": ["n"], "block": [1], "args": []})", "names",
       "steps[0].grid[0]: \"n\" has the unknown name n"},
      {R"({"kernel": "f", "grid": ["1\n"], "block": [1], "args": []})", "field", "steps[0].grid[0]"},
      {R"({"kernel": "f", "grid": [9223372036854775808], "block": [1], "args": []})", "range", "steps[0].grid[0]"},
      {R"({"kernel": "f", "grid": [1], "block": [1], "args": {}})", "field", "steps[0].args: expected a list"},
  });
  const std::pair<std::string, Rejection> kernels[] = {
      {"\"shared_bytes\": 1.0", {"1.0", "field", "steps[0].shared_bytes: expected an integer"}},
      {"\"shared\": 1", {"shared", "field", "steps[0].shared: unknown field"}},
      {"\"cluster\": 2", {"2", "field", "steps[0].cluster: expected a list"}},
      {"\"cluster\": [9]", {"[9]", "range", "steps[0].cluster[0]: 9 is out of range: 1 to 8"}},
      {"\"cluster\": [\"2\"]", {"\"2\"", "field", "steps[0].cluster[0]: expected an integer"}},
      {"\"cooperative\": 1", {"1", "field", "steps[0].cooperative: expected true or false, got the integer 1"}},
      {"\"index\": \"t\"", {"index", "field", "steps[0].index: unknown field"}},
  };
  for (const auto& [field, rejection] : kernels) {
    CheckRejected(ParsePlan(PlanOf(KernelWith(field))).status(), rejection);
  }
  CheckSteps({
      {R"({"memset": 1, "value": 0})", "field", "steps[0].memset: expected a string"},
      {R"({"memset": "a"})", "field", "steps[0].value: this field is missing"},
      {R"({"memset": "a", "value": -1})", "range", "steps[0].value: -1 is out of range: 0 to 255"},
      {R"({"memset": "a", "value": 256})", "range", "steps[0].value: 256 is out of range: 0 to 255"},
      {R"({"memset": "a", "value": 65536, "width": 2})", "range", "steps[0].value"},
      {R"({"memset": "a", "value": 4294967296, "width": 4})", "range", "steps[0].value"},
      {R"({"memset": "a", "value": "0"})", "field", "steps[0].value: expected an integer, got the string"},
      {R"({"memset": "a", "value": 0.0})", "field", "steps[0].value: expected an integer"},
      {R"({"memset": "a", "value": 0, "width": 8})", "field", "steps[0].width: expected 1, 2 or 4"},
      {R"({"memset": "a", "value": 0, "count": 8})", "field", "steps[0].count: unknown field"},
      {R"({"copy": "a"})", "field", "steps[0].to: this field is missing"},
      {R"({"copy": "a", "to": {"tensor": "b"}})", "field", "steps[0].to: expected a string, got an object"},
      {R"({"copy": "a", "to": "b", "from": "c"})", "field", "steps[0].from: unknown field"},
  });
}

TEST_CASE("arguments", "[unit]") {
  const std::pair<std::string, Rejection> cases[] = {
      {"1", {"1", "field", "steps[0].args[2]: expected a tensor's name"}},
      {"null", {"null", "field", "steps[0].args[2]: expected a tensor's name"}},
      {"[]", {"[]", "field", "got a list"}},
      {"{}", {"{}", "field", "got an object of 0 fields"}},
      {R"({"i32": 1, "i64": 1})", {"two", "field", "got an object of 2 fields"}},
      {R"({"i16": 1})", {"i16", "field", "steps[0].args[2].i16: unknown field"}},
      {R"({"float": 1})", {"float", "field", "steps[0].args[2].float: unknown field"}},
      {R"({"tensor": 1})", {"tensor 1", "field", "steps[0].args[2].tensor: expected a string"}},
      {R"({"tensor": "x", "off": 1})", {"off", "field", "steps[0].args[2].off: unknown field"}},
      {R"({"tensor": "x", "offset": 1.5})", {"1.5", "field", "steps[0].args[2].offset: expected an integer"}},
      {R"({"tensor": "x", "offset": "t"})", {"t", "names", "steps[0].args[2].offset: \"t\" has the unknown name t"}},
      {R"({"i32": 1.5})", {"1.5", "field", "steps[0].args[2].i32: expected an integer"}},
      {R"({"i32": true})", {"true", "field", "steps[0].args[2].i32: expected an integer"}},
      {R"({"i32": 2147483648})", {"2^31", "range", "steps[0].args[2].i32: 2147483648 is out of i32's range"}},
      {R"({"u32": -1})", {"-1", "range", "steps[0].args[2].u32: -1 is out of u32's range: 0 to 4294967295"}},
      {R"({"i8": 128})", {"128", "range", "steps[0].args[2].i8"}},
      {R"({"u8": "256"})", {"256", "range", "steps[0].args[2].u8: 256 is out of u8's range"}},
      {R"({"bool": 2})", {"2", "range", "steps[0].args[2].bool"}},
      {R"({"bool": "yes"})", {"yes", "names", "steps[0].args[2].bool"}},
      {R"({"i64": 9223372036854775808})", {"2^63", "range", "steps[0].args[2].i64"}},
      {R"({"u64": -1})", {"-1", "range", "steps[0].args[2].u64: -1 is out of u64's range: 0 to 18446744073709551615"}},
      {R"({"u64": 18446744073709551616})", {"2^64", "field", "steps[0].args[2].u64"}},
      {R"({"f32": "1.5"})", {"string", "field", "steps[0].args[2].f32: expected a number, got the string"}},
      {R"({"f32": true})", {"true", "field", "steps[0].args[2].f32: expected a number"}},
      {R"({"f32": 1e39})", {"1e39", "range", "steps[0].args[2].f32: 1e+39 is out of f32's range"}},
      {R"({"f16": 70000})", {"70000", "range", "steps[0].args[2].f16"}},
      {R"({"bf16": 1e39})", {"1e39", "range", "steps[0].args[2].bf16"}},
      {R"({"tensor_map": "x"})", {"x", "field", "steps[0].args[2].tensor_map: expected an object"}},
      {R"({"tensor_map": {"tensor": "x"}})",
       {"no box", "field", "steps[0].args[2].tensor_map.box: this field is missing"}},
      {R"({"tensor_map": {"tensor": "x", "box": []}})", {"[]", "field", "tensor_map.box: a list of 0"}},
      {R"({"tensor_map": {"tensor": "x", "box": [257]}})", {"257", "range", "tensor_map.box[0]: 257 is out of range"}},
      {R"({"tensor_map": {"tensor": "x", "box": [1,1,1,1,1,1]}})", {"six", "field", "box: a list of 6; at most 5"}},
      {R"({"tensor_map": {"tensor": "x", "box": [64], "swizzle": "256B"}})",
       {"256B", "field", "tensor_map.swizzle: \"256B\" is none of none, 32B"}},
      {R"({"tensor_map": {"tensor": "x", "box": [64], "offset": 1}})",
       {"offset", "field", "tensor_map.offset: unknown"}},
  };
  for (const auto& [argument, rejection] : cases)
    CheckRejected(ParsePlan(PlanOf(Argument(argument))).status(), rejection);
}

TEST_CASE("repeats", "[unit]") {
  auto nested = [](int levels) {
    std::string text = kKernel;
    for (int i = 0; i < levels; ++i) text = R"({"repeat": 2, "steps": [)" + text + "]}";
    return PlanOf(text);
  };
  CHECK(ParsePlan(nested(3)).ok());
  CheckRejected(ParsePlan(nested(4)).status(),
                {"four", "limits", "steps[0].steps[0].steps[0].steps[0]: repeats nest to 3"});
  CheckSteps({
      {R"({"repeat": 2})", "field", "steps[0].steps: this field is missing"},
      {R"({"repeat": 2, "steps": []})", "field", "steps[0].steps: a list of 0"},
      {R"({"repeat": 0, "steps": [{"memset": "a", "value": 0}]})", "range", "steps[0].repeat: 0 is out of range"},
      {R"({"repeat": -1, "steps": [{"memset": "a", "value": 0}]})", "range", "steps[0].repeat"},
      {R"({"repeat": true, "steps": [{"memset": "a", "value": 0}]})", "field", "steps[0].repeat: expected an integer"},
      {R"({"repeat": "t", "index": "t", "steps": [{"memset": "a", "value": 0}]})", "names", "steps[0].repeat"},
      {R"({"repeat": 2, "index": "2", "steps": [{"memset": "a", "value": 0}]})", "field", "steps[0].index"},
      {R"({"repeat": 2, "index": "min", "steps": [{"memset": "a", "value": 0}]})", "field", "steps[0].index"},
      {R"({"repeat": 2, "index": "sm_count", "steps": [{"memset": "a", "value": 0}]})", "names", "sm_count is taken"},
      {R"({"repeat": 2, "index": "t", "steps": [{"repeat": 2, "index": "t", "steps": [{"memset": "a", "value": 0}]}]})",
       "names", "steps[0].steps[0].index: the name t is taken"},
      {R"({"repeat": 2, "name": "t", "steps": [{"memset": "a", "value": 0}]})", "field",
       "steps[0].name: unknown field"},
      {R"({"repeat": 2, "index": "t", "steps": [{"memset": "a", "value": 0}, {"kernel": "f", "grid": [1], "block": ["u"],
          "args": []}]})",
       "names", "steps[0].steps[1].block[0]"},
  });
  // An index is known inside its repeat only.
  CheckRejected(ParsePlan(PlanOf(R"({"repeat": 2, "index": "t", "steps": [{"memset": "a", "value": 0}]},
                {"kernel": "f", "grid": ["t"], "block": [1], "args": []})"))
                    .status(),
                {"t outside", "names", "steps[1].grid[0]"});
}

TEST_CASE("scratch", "[unit]") {
  const std::pair<std::string, Rejection> cases[] = {
      {R"("a")", {"a", "field", "scratch[0]: expected an object"}},
      {R"({"name": "a", "dtype": "float32"})", {"no shape", "field", "scratch[0].shape: this field is missing"}},
      {R"({"name": "a b", "dtype": "float32", "shape": []})",
       {"a b", "field", "scratch[0].name: \"a b\" is no C identifier"}},
      {R"({"name": "", "dtype": "float32", "shape": []})", {"empty", "field", "scratch[0].name"}},
      {R"({"name": "output", "dtype": "float32", "shape": []})",
       {"output", "names", "scratch[0].name: output is reserved"}},
      {R"({"name": "output12", "dtype": "float32", "shape": []})", {"output12", "names", "scratch[0].name"}},
      {R"({"name": "a", "dtype": "float", "shape": []})",
       {"float", "field", "scratch[0].dtype: \"float\" is none of float32"}},
      {R"({"name": "a", "dtype": "float32", "shape": 4})", {"4", "field", "scratch[0].shape: expected a list"}},
      {R"({"name": "a", "dtype": "float32", "shape": [0]})", {"0", "range", "scratch[0].shape[0]: 0 is out of range"}},
      {R"({"name": "a", "dtype": "float32", "shape": [2, -1]})", {"-1", "range", "scratch[0].shape[1]"}},
      {R"({"name": "a", "dtype": "float32", "shape": ["4"]})",
       {"\"4\"", "field", "scratch[0].shape[0]: expected an integer"}},
      {R"({"name": "a", "dtype": "float32", "shape": [4.0]})", {"4.0", "field", "scratch[0].shape[0]"}},
      {R"({"name": "a", "dtype": "float32", "shape": [1,1,1,1,1,1,1,1,1]})",
       {"nine", "field", "scratch[0].shape: a list of 9"}},
      {R"({"name": "a", "dtype": "float32", "shape": [], "bytes": 4})",
       {"bytes", "field", "scratch[0].bytes: unknown"}},
      {R"({"name": "a", "dtype": "float32", "shape": [], "persistent": 1})", {"1", "field", "scratch[0].persistent"}},
      {R"({"name": "a", "dtype": "float32", "shape": []}, {"name": "a", "dtype": "bool", "shape": []})",
       {"twice", "names", "scratch[1].name: a stands twice"}},
  };
  for (const auto& [scratch, rejection] : cases) {
    CheckRejected(ParsePlan(PlanOf(kKernel, ", \"scratch\": [" + scratch + "]")).status(), rejection);
  }
}

TEST_CASE("a field's name in a message is printable and short", "[unit]") {
  CheckRejected(ParsePlan("{\"version\": 1, \"a\\n\\u0000b\": 1, \"steps\": []}").status(),
                {"odd name", "field", "a??b: unknown field"});
  CheckRejected(ParsePlan("{\"version\": 1, \"" + std::string(5000, 'a') + "\": 1, \"steps\": []}").status(),
                {"long name", "field", "aaa: unknown field"});
}

}  // namespace
}  // namespace warpsmith::plan
