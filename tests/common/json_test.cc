#include "common/json.h"

#include <catch2/catch.hpp>
#include <string>

namespace warpsmith {
namespace {

TEST_CASE("strict JSON takes what RFC 8259 allows", "[unit]") {
  auto parsed = ParseStrictJson(R"({"a": [1, 2.5, "x{[", true, null], "b": {"a": 1}})");
  REQUIRE(parsed.ok());
  CHECK((*parsed)["a"][2] == "x{[");
}

TEST_CASE("strict JSON refuses the rest and says why", "[unit]") {
  struct Case {
    std::string text, expected;
  };
  std::string deep(40, '[');
  for (const Case& c : {Case{R"({"a": 1, "a": 2})", "stands twice"}, Case{R"({"b": {"x": 1, "x": 1}})", "\"x\""},
                        Case{"{\"a\": 1,}", "syntax error"}, Case{"// c\n1", "syntax error"},
                        Case{"NaN", "syntax error"}, Case{"", "syntax error"}, Case{"1 2", "syntax error"},
                        Case{deep, "nests 40 deep"}, Case{"\"\xff\"", "UTF-8"}}) {
    auto parsed = ParseStrictJson(c.text);
    INFO(c.text);
    REQUIRE_FALSE(parsed.ok());
    CHECK_THAT(Message(parsed.status()), Catch::Contains(c.expected));
  }
  CHECK(ParseStrictJson(std::string(300 << 10, ' ')).status().code() == absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace warpsmith
