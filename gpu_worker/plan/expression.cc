#include "gpu_worker/plan/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gpu_worker/plan/plan_error.h"

namespace warpsmith::plan {
namespace {

constexpr int kMaxStack = 160;  // above what kMaxDepth levels can take, four values each

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool IsIdentifier(std::string_view text) {
  if (text.empty() || text.size() > 64 || !IsLetter(text[0])) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return IsLetter(c) || IsDigit(c); });
}

// Recursive descent into a postfix program; depth is bounded, so neither recursion nor the program's stack can grow.
class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, const std::vector<std::string>& known) : text_(text), known_(known) {}

  absl::StatusOr<Expression> Parse() {
    result_.program_.clear();
    result_.text_ = text_;
    WARPSMITH_RETURN_IF_ERROR(Sum());
    if (SkipSpace(); at_ < text_.size()) return Unexpected("an operator or the end");
    result_.max_stack_ = max_stack_;
    return std::move(result_);
  }

 private:
  using Op = Expression::Op;

  absl::Status Sum() {
    WARPSMITH_RETURN_IF_ERROR(Product());
    while (true) {
      if (Take('+')) {
        WARPSMITH_RETURN_IF_ERROR(Product());
        Emit(Op::kAdd);
      } else if (Take('-')) {
        WARPSMITH_RETURN_IF_ERROR(Product());
        Emit(Op::kSubtract);
      } else {
        return absl::OkStatus();
      }
    }
  }

  absl::Status Product() {
    WARPSMITH_RETURN_IF_ERROR(Signed());
    while (true) {
      Op op;
      if (Take('*')) {
        op = Op::kMultiply;
      } else if (Take('/')) {
        op = Op::kDivide;
      } else if (Take('%')) {
        op = Op::kRemainder;
      } else {
        return absl::OkStatus();
      }
      WARPSMITH_RETURN_IF_ERROR(Signed());
      Emit(op);
    }
  }

  absl::Status Signed() {
    bool negative = false;
    while (true) {
      if (Take('-')) {
        negative = !negative;
      } else if (!Take('+')) {
        break;
      }
    }
    WARPSMITH_RETURN_IF_ERROR(Primary(negative));
    return absl::OkStatus();
  }

  absl::Status Primary(bool negative) {
    SkipSpace();
    if (at_ < text_.size() && IsDigit(text_[at_])) return Number(negative);
    if (at_ < text_.size() && IsLetter(text_[at_])) {
      WARPSMITH_RETURN_IF_ERROR(NameOrCall());
    } else if (Take('(')) {
      WARPSMITH_RETURN_IF_ERROR(Nested([this] { return Sum(); }));
      if (!Take(')')) return Unexpected("\")\"");
    } else {
      return Unexpected("an integer, a name or \"(\"");
    }
    if (negative) Emit(Op::kNegate);
    return absl::OkStatus();
  }

  absl::Status Number(bool negative) {
    size_t start = at_;
    uint64_t value = 0;
    const uint64_t most = static_cast<uint64_t>(INT64_MAX) + (negative ? 1 : 0);
    for (; at_ < text_.size() && IsDigit(text_[at_]); ++at_) {
      uint64_t digit = text_[at_] - '0';
      if (value > (most - digit) / 10) {
        return PlanError(reason::kRange, fmt::format("\"{}\" has a number outside 64 bits", text_));
      }
      value = value * 10 + digit;
    }
    if (at_ < text_.size() && (IsLetter(text_[at_]) || text_[at_] == '.')) return Unexpected("a decimal integer");
    if (at_ - start > 1 && text_[start] == '0') {
      return PlanError(reason::kField,
                       fmt::format("\"{}\" has a number with a leading zero; write it in decimal", text_));
    }
    Push(Op::kPush, static_cast<int64_t>(negative ? 0 - value : value));
    return absl::OkStatus();
  }

  absl::Status NameOrCall() {
    size_t start = at_;
    while (at_ < text_.size() && (IsLetter(text_[at_]) || IsDigit(text_[at_]))) ++at_;
    std::string_view name = text_.substr(start, at_ - start);
    if (name == "min" || name == "max") return Call(name, name == "min" ? Op::kMin : Op::kMax);
    if (std::find(known_.begin(), known_.end(), name) == known_.end()) {
      return PlanError(reason::kNames, fmt::format("\"{}\" has the unknown name {}; known here: {}", text_, name,
                                                   fmt::join(known_, ", ")));
    }
    auto& names = result_.names_;
    auto found = std::find(names.begin(), names.end(), name);
    int64_t index = found - names.begin();
    if (found == names.end()) names.emplace_back(name);
    Push(Op::kName, index);
    return absl::OkStatus();
  }

  absl::Status Call(std::string_view name, Op op) {
    if (!Take('(')) return Unexpected(fmt::format("\"(\" after {}", name));
    int count = 0;
    do {
      WARPSMITH_RETURN_IF_ERROR(Nested([this] { return Sum(); }));
      if (++count > 1) Emit(op);
    } while (Take(','));
    if (!Take(')')) return Unexpected("\",\" or \")\"");
    if (count < 2) return PlanError(reason::kField, fmt::format("\"{}\": {} takes two values or more", text_, name));
    return absl::OkStatus();
  }

  template <typename Function>
  absl::Status Nested(Function function) {
    if (++depth_ > Expression::kMaxDepth) {
      return PlanError(reason::kLimits, fmt::format("the expression nests deeper than {}", Expression::kMaxDepth));
    }
    absl::Status status = function();
    --depth_;
    return status;
  }

  void Push(Op op, int64_t value) {
    result_.program_.push_back({op, value});
    max_stack_ = std::max(max_stack_, ++stack_);
  }
  void Emit(Op op) {
    result_.program_.push_back({op, 0});
    if (op != Op::kNegate) --stack_;
  }
  void SkipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool Take(char c) {
    SkipSpace();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  absl::Status Unexpected(std::string_view wanted) const {
    return PlanError(reason::kField, fmt::format("\"{}\" is not an integer expression: expected {} at character {}",
                                                 text_, wanted, at_ + 1));
  }

  std::string_view text_;
  const std::vector<std::string>& known_;
  Expression result_;
  size_t at_ = 0;
  int depth_ = 0;
  int stack_ = 0;
  int max_stack_ = 1;
};

Expression::Expression(int64_t constant) : text_(fmt::format("{}", constant)), program_{{Op::kPush, constant}} {}

absl::StatusOr<Expression> Expression::Parse(std::string_view text, const std::vector<std::string>& names) {
  if (text.size() > kMaxCharacters) {
    return PlanError(reason::kLimits,
                     fmt::format("an expression of {} characters; the limit is {}", text.size(), kMaxCharacters));
  }
  WARPSMITH_ASSIGN_OR_RETURN(Expression result, ExpressionParser(text, names).Parse());
  if (result.max_stack_ > kMaxStack) return PlanError(reason::kLimits, "the expression nests too deep");
  return result;
}

std::optional<int64_t> Expression::constant() const {
  if (program_.size() != 1 || program_[0].op != Op::kPush) return std::nullopt;
  return program_[0].value;
}

absl::Status Expression::Fail(std::string_view what, const Variables& variables) const {
  std::string values;
  for (const std::string& name : names_) {
    for (auto variable = variables.rbegin(); variable != variables.rend(); ++variable) {
      if (variable->first != name) continue;
      values += fmt::format("{}{}={}", values.empty() ? " with " : ", ", name, variable->second);
      break;
    }
  }
  return PlanError(reason::kRange, fmt::format("\"{}\"{}: {}", text_, values, what));
}

absl::StatusOr<int64_t> Expression::Evaluate(const Variables& variables, Division division) const {
  std::array<int64_t, kMaxStack> stack;
  int top = 0;
  for (const Instruction& instruction : program_) {
    if (instruction.op == Op::kPush) {
      stack[top++] = instruction.value;
      continue;
    }
    if (instruction.op == Op::kName) {
      const std::string& name = names_[instruction.value];
      auto found = std::find_if(variables.rbegin(), variables.rend(), [&](const auto& v) { return v.first == name; });
      if (found == variables.rend()) return PlanError(reason::kNames, fmt::format("the name {} has no value", name));
      stack[top++] = found->second;
      continue;
    }
    if (instruction.op == Op::kNegate) {
      if (__builtin_sub_overflow(int64_t{0}, stack[top - 1], &stack[top - 1]))
        return Fail("overflows 64 bits", variables);
      continue;
    }
    const int64_t right = stack[--top];
    int64_t& left = stack[top - 1];
    bool overflow = false;
    switch (instruction.op) {
      case Op::kAdd:
        overflow = __builtin_add_overflow(left, right, &left);
        break;
      case Op::kSubtract:
        overflow = __builtin_sub_overflow(left, right, &left);
        break;
      case Op::kMultiply:
        overflow = __builtin_mul_overflow(left, right, &left);
        break;
      case Op::kDivide:
      case Op::kRemainder: {
        if (right == 0) return Fail("divides by zero", variables);
        if (right == -1) {  // INT64_MIN / -1 traps on the processor
          overflow = instruction.op == Op::kDivide && __builtin_sub_overflow(int64_t{0}, left, &left);
          if (instruction.op == Op::kRemainder) left = 0;
          break;
        }
        if (instruction.op == Op::kRemainder) {
          left %= right;
          break;
        }
        if (division == Division::kExact && left % right != 0) {
          return Fail(fmt::format("{} is not a multiple of {}; here a division has to be exact, so round up yourself: "
                                  "(a + b - 1 - (a + b - 1) % b) / b",
                                  left, right),
                      variables);
        }
        left /= right;
        break;
      }
      case Op::kMin:
        left = std::min(left, right);
        break;
      case Op::kMax:
        left = std::max(left, right);
        break;
      default:
        return Internal("unknown instruction in an expression");
    }
    if (overflow) return Fail("overflows 64 bits", variables);
  }
  return stack[0];
}

}  // namespace warpsmith::plan
