#include "gpu_worker/plan/expression.h"

#include <catch2/catch.hpp>
#include <memory>
#include <random>

#include "gpu_worker/plan/plan_error.h"
#include "tests/gpu_worker/plan/plan_fixture.h"

namespace warpsmith::plan {
namespace {

const std::vector<std::string> kNames = {"sm_count", "t", "TILE"};
const Variables kVariables = {{"sm_count", 132}, {"TILE", 64}, {"t", 7}};

absl::StatusOr<int64_t> Value(std::string_view text, Division division = Division::kTruncating) {
  WARPSMITH_ASSIGN_OR_RETURN(Expression expression, Expression::Parse(text, kNames));
  return expression.Evaluate(kVariables, division);
}

TEST_CASE("expressions have the values that arithmetic gives them", "[unit]") {
  const std::pair<std::string_view, int64_t> cases[] = {
      {"0", 0},
      {"42", 42},
      {"4*sm_count", 528},
      {"t*4096", 28672},
      {" ( 1 + 2 ) * 3 ", 9},
      {"1+2*3", 7},
      {"10-3-2", 5},
      {"100/7", 14},
      {"-100/7", -14},
      {"100%7", 2},
      {"-100%7", -2},
      {"100/10/5", 2},
      {"2*3%4", 2},
      {"-t", -7},
      {"--t", 7},
      {"+t", 7},
      {"3 - -2", 5},
      {"min(3, 2)", 2},
      {"max(3, 2, 9, t)", 9},
      {"min(max(1, 5), 3)", 3},
      {"max(min(t, TILE), sm_count % 100)", 32},
      {"(1024 + TILE - 1) / TILE", 16},
      {"9223372036854775807", INT64_MAX},
      {"-9223372036854775808", INT64_MIN},
      {"-9223372036854775808 % -1", 0},
      {"9223372036854775806 + 1", INT64_MAX},
  };
  for (const auto& [text, expected] : cases) {
    INFO(text);
    auto value = Value(text);
    REQUIRE(value.ok());
    CHECK(*value == expected);
  }
}

TEST_CASE("what is no expression is refused and named", "[unit]") {
  const std::string long_text = std::string(Expression::kMaxCharacters, ' ') + "1";
  std::string deep = "1", deep_calls = "1";
  for (int i = 0; i <= Expression::kMaxDepth; ++i) {
    deep = "(" + deep + ")";
    deep_calls = "min(1," + deep_calls + ")";
  }
  const Rejection cases[] = {
      {"", "field", "expected an integer"},
      {" ", "field", "expected an integer"},
      {"1 +", "field", "at character 4"},
      {"* 2", "field", "at character 1"},
      {"(1", "field", "\")\""},
      {"1)", "field", "an operator or the end"},
      {"1 2", "field", "an operator or the end"},
      {"1.5", "field", "decimal integer"},
      {"1e3", "field", "decimal integer"},
      {"0x10", "field", "decimal integer"},
      {"010", "field", "leading zero"},
      {"a", "names", "unknown name a; known here: sm_count, t, TILE"},
      {"tt", "names", "unknown name tt"},
      {"min(1)", "field", "two values"},
      {"min", "field", "after min"},
      {"min()", "field", "expected an integer"},
      {"min(1,2", "field", "\",\" or \")\""},
      {"abs(1)", "names", "unknown name abs"},
      {"1 << 2", "field", "at character 3"},
      {"1 == 2", "field", "at character 3"},
      {"1\n+2", "field", "an operator"},
      {"t t", "field", "an operator"},
      {"9223372036854775808", "range", "outside 64 bits"},
      {"99999999999999999999999999", "range", "outside 64 bits"},
      {long_text, "limits", "the limit is 1024"},
      {deep, "limits", "deeper than 32"},
      {deep_calls, "limits", "deeper than 32"},
  };
  for (const Rejection& rejection : cases) {
    // The text itself may hold a line break, which the JSON layer refuses before this one.
    if (rejection.text.find('\n') != std::string_view::npos) {
      CHECK(PlanErrorReason(Value(rejection.text).status()) == rejection.reason);
      continue;
    }
    CheckRejected(Value(rejection.text).status(), rejection);
  }
}

TEST_CASE("arithmetic is checked, and the message shows the values", "[unit]") {
  const Rejection cases[] = {
      {"1/0", "range", "divides by zero"},
      {"1%(t-7)", "range", "\"1%(t-7)\" with t=7: divides by zero"},
      {"9223372036854775807 + 1", "range", "overflows 64 bits"},
      {"-9223372036854775808 - 1", "range", "overflows 64 bits"},
      {"-9223372036854775808 / -1", "range", "overflows 64 bits"},
      {"-(-9223372036854775807 - 1)", "range", "overflows 64 bits"},
      {"sm_count * 9223372036854775807", "range", "with sm_count=132: overflows"},
      {"9223372036854775807 * 2 / 2", "range", "overflows"},
  };
  for (const Rejection& rejection : cases) CheckRejected(Value(rejection.text).status(), rejection);
}

TEST_CASE("an exact division refuses a remainder", "[unit]") {
  CHECK(Value("1024/TILE", Division::kExact).value() == 16);
  CHECK(Value("-128/TILE", Division::kExact).value() == -2);
  CHECK(Value("100/TILE").value() == 1);
  CheckRejected(Value("100/TILE", Division::kExact).status(),
                {"100/TILE", "range", "\"100/TILE\" with TILE=64: 100 is not a multiple of 64"});
  CHECK(Value("(100 + TILE - 1 - (100 + TILE - 1) % TILE) / TILE", Division::kExact).value() == 2);
}

TEST_CASE("a plain integer is a constant", "[unit]") {
  CHECK(Expression(5).constant() == 5);
  CHECK(Expression().constant() == 0);
  CHECK(Expression::Parse("17", {})->constant() == 17);
  CHECK_FALSE(Expression::Parse("t", kNames)->constant().has_value());
  CHECK_FALSE(Expression::Parse("1+1", kNames)->constant().has_value());
}

TEST_CASE("a name without a value is an error, the innermost value of a name counts", "[unit]") {
  Expression expression = Expression::Parse("t", kNames).value();
  CHECK(PlanErrorReason(expression.Evaluate({}).status()) == "names");
  CHECK(expression.Evaluate({{"t", 1}, {"t", 2}}).value() == 2);
}

TEST_CASE("identifiers", "[unit]") {
  for (const char* good : {"a", "_", "A9", "a_b"}) CHECK(IsIdentifier(good));
  for (const char* bad : {"", "9a", "a-b", "a b", "a.b", "\xC3\xA9", "a\n"}) CHECK_FALSE(IsIdentifier(bad));
  CHECK(IsIdentifier(std::string(64, 'a')));
  CHECK_FALSE(IsIdentifier(std::string(65, 'a')));
}

// A random tree that is written as text and evaluated on its own, in 128-bit arithmetic with a check at each node.
struct Tree {
  char op = 'n';  // n: number, v: name, one of + - * / % m M, ~ for a sign
  int64_t number = 0;
  std::string name;
  std::unique_ptr<Tree> left, right;
};

std::unique_ptr<Tree> RandomTree(std::mt19937_64& random, int depth) {
  auto tree = std::make_unique<Tree>();
  if (depth == 0 || random() % 5 == 0) {
    if (random() % 3 == 0) {
      tree->op = 'v';
      tree->name = kNames[random() % kNames.size()];
    } else {
      tree->number = static_cast<int64_t>(random() % 4 == 0 ? random() >> (1 + random() % 40) : random() % 20);
    }
    return tree;
  }
  tree->op = "+-*/%mM~"[random() % 8];
  tree->left = RandomTree(random, depth - 1);
  if (tree->op != '~') tree->right = RandomTree(random, depth - 1);
  return tree;
}

std::string Text(const Tree& tree, std::mt19937_64& random) {
  const std::string space = random() % 2 == 0 ? " " : "";
  switch (tree.op) {
    case 'n':
      return std::to_string(tree.number);
    case 'v':
      return tree.name;
    case 'm':
    case 'M':
      return std::string(tree.op == 'm' ? "min" : "max") + space + "(" + Text(*tree.left, random) + "," + space +
             Text(*tree.right, random) + ")";
    case '~':
      return "-" + space + "(" + Text(*tree.left, random) + ")";
    default:
      return "(" + Text(*tree.left, random) + ")" + space + tree.op + space + "(" + Text(*tree.right, random) + ")";
  }
}

std::optional<__int128_t> Check64(__int128_t value) {
  if (value < INT64_MIN || value > INT64_MAX) return std::nullopt;
  return value;
}

std::optional<__int128_t> Oracle(const Tree& tree, bool exact) {
  if (tree.op == 'n') return tree.number;
  if (tree.op == 'v') {
    for (const auto& [name, value] : kVariables) {
      if (name == tree.name) return value;
    }
    return std::nullopt;
  }
  auto left = Oracle(*tree.left, exact);
  if (!left.has_value()) return std::nullopt;
  if (tree.op == '~') return Check64(-*left);
  auto right = Oracle(*tree.right, exact);
  if (!right.has_value()) return std::nullopt;
  const __int128_t a = *left, b = *right;
  switch (tree.op) {
    case '+':
      return Check64(a + b);
    case '-':
      return Check64(a - b);
    case '*':
      return Check64(a * b);
    case '/':
      if (b == 0 || (exact && a % b != 0)) return std::nullopt;
      return Check64(a / b);
    case '%':
      if (b == 0) return std::nullopt;
      return Check64(a % b);
    case 'm':
      return a < b ? a : b;
    default:
      return a > b ? a : b;
  }
}

TEST_CASE("random expressions agree with an evaluator of another make", "[unit]") {
  std::mt19937_64 random(20250501);
  int values = 0, errors = 0;
  for (int round = 0; round < 20000; ++round) {
    auto tree = RandomTree(random, 1 + static_cast<int>(random() % 5));
    const std::string text = Text(*tree, random);
    if (text.size() > Expression::kMaxCharacters) continue;
    const bool exact = random() % 2 == 0;
    auto expected = Oracle(*tree, exact);
    auto got = Value(text, exact ? Division::kExact : Division::kTruncating);
    INFO(text);
    REQUIRE(got.ok() == expected.has_value());
    if (got.ok()) {
      ++values;
      REQUIRE(*got == static_cast<int64_t>(*expected));
    } else {
      ++errors;
      REQUIRE(PlanErrorReason(got.status()) == "range");
    }
  }
  // Both kinds were met.
  CHECK(values > 5000);
  CHECK(errors > 1000);
}

TEST_CASE("random text never gets past the parser as something else", "[unit]") {
  std::mt19937_64 random(7);
  const std::string alphabet = "0123456789+-*/%(), mintaxsTILE_";
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (size_t i = random() % 24; i > 0; --i) text += alphabet[random() % alphabet.size()];
    auto value = Value(text);
    INFO(text);
    if (!value.ok()) REQUIRE_FALSE(PlanErrorReason(value.status()).empty());
  }
}

}  // namespace
}  // namespace warpsmith::plan
