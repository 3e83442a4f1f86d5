#include <catch2/catch.hpp>

#include "cli/transfer/clean_text.h"
#include "cli/transfer/python_text.h"
#include "cli/transfer/split.h"
#include "common/hash.h"

namespace warpsmith::transfer {
namespace {

TEST_CASE("expressions become Python that truncates, and C++", "[unit]") {
  const PythonNames names = {{"sm_count", "run.sm_count"}, {"T", "64"}, {"i", "i_2"}};
  CHECK(PythonExpression("2*(sm_count+1) - -T%3", names) == "2 * (run.sm_count + 1) - run.remainder(-64, 3)");
  CHECK(PythonExpression("i/4*2", names) == "run.quotient(i_2, 4) * 2");
  CHECK(PythonExpression("T / 8", names, /*exact=*/true) == "run.exact(64, 8)");
  CHECK(PythonExpression("min(1, max(i,2), T)", names) == "min(1, max(i_2, 2), 64)");
  CHECK(PythonExpression("--3 + +4", names) == "3 + 4");
  CHECK(CudaExpression("max(3, 7/2)", {}) == "Most(3LL, Quotient(7LL, 2LL))");
}

TEST_CASE("names of repeats are no words of Python's and each has its own", "[unit]") {
  CHECK(PythonVariable("t", 0) == "t");
  CHECK(PythonVariable("t", 1) == "t_2");
  CHECK(PythonVariable("in", 0) == "in_");
  CHECK(PythonVariable("run", 0) == "run_");
}

TEST_CASE("texts become literals that say the same", "[unit]") {
  CHECK(PythonString("a\"b\\\n\x01") == "\"a\\\"b\\\\\\n\\x01\"");
  CHECK(PythonBlock("int x;\n") == "r'''int x;\n'''");
  CHECK(PythonBlock("it's '''") == "(\n    \"it's '''\\n\"\n    \"\")");
}

TEST_CASE("paths of people's folders go, code stays", "[unit]") {
  CHECK(WithoutPaths("error in /home/ann/x/kernel.cu:12: no") == "error in [path]:12: no");
  CHECK(WithoutPaths("x /= 2; a/tmp/b; /* /tmp/ */") == "x /= 2; a/tmp/b; /* /tmp/ */");
  CHECK(WithoutPaths("\"/tmp/a b\"") == "\"[path] b\"");
  CHECK(WithoutPaths("cuda/std/array") == "cuda/std/array");
}

TEST_CASE("what looks like a key is seen, words are not", "[unit]") {
  CHECK(LooksSecret("key: sk-proj-a1b2c3d4e5f6g7h8i9j0k1"));
  CHECK(LooksSecret("Authorization: Bearer 0123456789abcdef0123456789"));
  CHECK(LooksSecret("-----BEGIN RSA PRIVATE KEY-----"));
  CHECK_FALSE(LooksSecret("risk-averse-tiling-of-the-whole-matrix-product"));
  CHECK_FALSE(LooksSecret("sk-long-words-without-any-number-in-them"));
}

TEST_CASE("a problem's split follows from its source alone", "[unit]") {
  SplitRules rules;
  int validation = 0;
  for (int i = 0; i < 2000; ++i) {
    v1::Problem problem;
    problem.set_source("class Model: " + std::to_string(i));
    const std::string split = SplitOf(rules, problem);
    problem.set_id(std::to_string(i));
    problem.set_name("other");
    CHECK(SplitOf(rules, problem) == split);
    validation += split == "validation" ? 1 : 0;
  }
  CHECK(validation > 140);
  CHECK(validation < 260);
  v1::Problem held;
  held.set_name("softmax");
  held.set_source("x");
  for (const std::string& name : {std::string("softmax"), std::string("softmax.py"), Sha256Hex("x")}) {
    rules.held_out = {name};
    CHECK(HeldOut(rules, held));
  }
  rules.held_out = {"soft"};
  CHECK_FALSE(HeldOut(rules, held));
}

}  // namespace
}  // namespace warpsmith::transfer
