// Integer expressions of a plan: + - * / % (sign too), min(a, b, ...), max(a, b, ...), parentheses, decimal integers
// and names, in checked 64-bit arithmetic. Parsed once into a postfix program, evaluated for every launch. Threading:
// values are immutable after Parse. Errors: plan errors with reasons field, names, range or limits. Source of the
// method: recursive descent; division as C++ truncates.
#ifndef WARPSMITH_GPU_WORKER_PLAN_EXPRESSION_H_
#define WARPSMITH_GPU_WORKER_PLAN_EXPRESSION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/status.h"

namespace warpsmith::plan {

// Names with their values, innermost last.
using Variables = std::vector<std::pair<std::string, int64_t>>;

enum class Division {
  kTruncating,  // towards zero
  kExact,       // a remainder is an error
};

class Expression {
 public:
  static constexpr size_t kMaxCharacters = 1024;
  static constexpr int kMaxDepth = 32;

  Expression() : Expression(0) {}
  explicit Expression(int64_t constant);

  // Names outside `names` are errors.
  static absl::StatusOr<Expression> Parse(std::string_view text, const std::vector<std::string>& names);

  // Overflow, division by zero and inexact division are errors that show the text and the values of its names.
  absl::StatusOr<int64_t> Evaluate(const Variables& variables, Division division = Division::kTruncating) const;

  // The value where there is nothing to evaluate: a plain integer.
  std::optional<int64_t> constant() const;
  const std::string& text() const { return text_; }
  // Steps of the program: what one evaluation costs.
  size_t size() const { return program_.size(); }

 private:
  friend class ExpressionParser;
  enum class Op : uint8_t { kPush, kName, kAdd, kSubtract, kMultiply, kDivide, kRemainder, kMin, kMax, kNegate };
  struct Instruction {
    Op op;
    int64_t value;  // kPush: the constant; kName: index into names_
  };
  absl::Status Fail(std::string_view what, const Variables& variables) const;

  std::string text_;
  std::vector<Instruction> program_;
  std::vector<std::string> names_;
  int max_stack_ = 1;
};

// Whether `text` is a C identifier (ASCII) of at most 64 characters.
bool IsIdentifier(std::string_view text);

}  // namespace warpsmith::plan

#endif  // WARPSMITH_GPU_WORKER_PLAN_EXPRESSION_H_
