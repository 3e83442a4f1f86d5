#include "llm_gateway/catalog/recipe_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <vector>

namespace warpsmith::gateway {

struct RecipeExpression::Node {
  std::string op;  // number, name, an operator, min, max, ceil_div, negate
  int64_t number = 0;
  std::string name;
  std::vector<std::shared_ptr<const Node>> children;

  bool comparison() const { return op == "==" || op == "!=" || op == "<" || op == "<=" || op == ">" || op == ">="; }
};

namespace {

constexpr size_t kMaxText = 2000;
constexpr int kMaxDepth = 50;

}  // namespace

class RecipeExpressionParser {
 public:
  using Node = RecipeExpression::Node;
  using NodePtr = std::shared_ptr<const Node>;

  explicit RecipeExpressionParser(std::string_view text) : text_(text) {}

  absl::StatusOr<NodePtr> Parse() {
    NodePtr left = Sum();
    for (const char* op : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (left && Take(op)) {
        left = Make(op, {left, Sum()});
        break;
      }
    }
    Skip();
    if (error_.empty() && at_ != text_.size()) Fail("an operator is due");
    if (!error_.empty()) return InvalidArgument(fmt::format("\"{}\": {}", text_, error_));
    return left;
  }

 private:
  void Skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool Take(std::string_view token) {
    Skip();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  NodePtr Fail(std::string_view what) {
    if (error_.empty()) error_ = fmt::format("{} at character {}", what, at_ + 1);
    return nullptr;
  }
  NodePtr Make(std::string op, std::vector<NodePtr> children) {
    if (std::any_of(children.begin(), children.end(), [](const NodePtr& child) { return child == nullptr; }))
      return nullptr;
    auto node = std::make_shared<Node>();
    node->op = std::move(op);
    node->children = std::move(children);
    return node;
  }
  NodePtr Sum() {
    NodePtr left = Product();
    while (left) {
      if (Take("+")) {
        left = Make("+", {left, Product()});
      } else if (Take("-")) {
        left = Make("-", {left, Product()});
      } else {
        break;
      }
    }
    return left;
  }
  NodePtr Product() {
    NodePtr left = Unary();
    while (left) {
      if (Take("*")) {
        left = Make("*", {left, Unary()});
      } else if (Take("/")) {
        left = Make("/", {left, Unary()});
      } else if (Take("%")) {
        left = Make("%", {left, Unary()});
      } else {
        break;
      }
    }
    return left;
  }
  NodePtr Unary() {
    if (++depth_ > kMaxDepth) return Fail("nested too deeply");
    NodePtr node = Take("-") ? Make("negate", {Unary()}) : Primary();
    --depth_;
    return node;
  }
  NodePtr Primary() {
    if (Take("(")) {
      NodePtr inner = Sum();
      return Take(")") ? inner : Fail("\")\" is due");
    }
    Skip();
    size_t start = at_;
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) {
      auto node = std::make_shared<Node>();
      node->op = "number";
      auto [end, code] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), node->number);
      if (code != std::errc()) return Fail("a number is too large");
      at_ = static_cast<size_t>(end - text_.data());
      return node;
    }
    auto in_name = [this] {
      char c = text_[at_];
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
    };
    while (at_ < text_.size() && in_name()) ++at_;
    if (at_ == start) return Fail("a number, a name or \"(\" is due");
    std::string name(text_.substr(start, at_ - start));
    if ((name == "min" || name == "max" || name == "ceil_div") && Take("(")) {
      std::vector<NodePtr> children{Sum()};
      while (Take(",")) children.push_back(Sum());
      if (name == "ceil_div" && children.size() != 2) return Fail("ceil_div(a, b) takes two numbers; they end");
      return Take(")") ? Make(name, std::move(children)) : Fail("\")\" or \",\" is due");
    }
    auto node = std::make_shared<Node>();
    node->op = "name";
    node->name = std::move(name);
    return node;
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  std::string error_;
};

RecipeValue ToRecipeValue(const std::string& text) {
  int64_t number = 0;
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code == std::errc() && end == text.data() + text.size() && !text.empty()) return number;
  return text;
}

std::string ToText(const RecipeValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  return std::get<std::string>(value);
}

absl::StatusOr<RecipeExpression> RecipeExpression::Parse(const std::string& text) {
  if (text.size() > kMaxText) return InvalidArgument("an expression is too long");
  RecipeExpression expression;
  expression.text_ = text;
  WARPSMITH_ASSIGN_OR_RETURN(expression.root_, RecipeExpressionParser(text).Parse());
  return expression;
}

absl::StatusOr<RecipeValue> RecipeExpression::Value(const Node& node, const RecipeValues& values) const {
  if (node.op == "name") {
    auto found = values.find(node.name);
    return found != values.end() ? found->second : RecipeValue(node.name);
  }
  WARPSMITH_ASSIGN_OR_RETURN(int64_t number, Integer(node, values));
  return RecipeValue(number);
}

absl::StatusOr<int64_t> RecipeExpression::Integer(const Node& node, const RecipeValues& values) const {
  auto fail = [this](std::string_view what) { return InvalidArgument(fmt::format("\"{}\": {}", text_, what)); };
  if (node.op == "number") return node.number;
  if (node.op == "name") {
    auto found = values.find(node.name);
    if (found == values.end()) return fail(node.name + " has no value");
    if (const auto* number = std::get_if<int64_t>(&found->second)) return *number;
    return fail(fmt::format("{} is the text {}, not a number", node.name, std::get<std::string>(found->second)));
  }
  if (node.comparison()) return fail("a number is due, not a comparison");
  std::vector<int64_t> operands;
  for (const auto& child : node.children) {
    WARPSMITH_ASSIGN_OR_RETURN(int64_t operand, Integer(*child, values));
    operands.push_back(operand);
  }
  if (node.op == "min") return *std::min_element(operands.begin(), operands.end());
  if (node.op == "max") return *std::max_element(operands.begin(), operands.end());
  int64_t a = node.op == "negate" ? 0 : operands[0], b = operands.back(), result = 0;
  bool overflow = false;
  if (node.op == "+") {
    overflow = __builtin_add_overflow(a, b, &result);
  } else if (node.op == "-" || node.op == "negate") {
    overflow = __builtin_sub_overflow(a, b, &result);
  } else if (node.op == "*") {
    overflow = __builtin_mul_overflow(a, b, &result);
  } else {
    if (b == 0) return fail("division by zero");
    if (a == INT64_MIN && b == -1) return fail("overflow");
    result = node.op == "%" ? a % b : a / b;
    if (node.op == "ceil_div" && a % b != 0 && (a > 0) == (b > 0)) ++result;
  }
  if (overflow) return fail("overflow");
  return result;
}

absl::StatusOr<int64_t> RecipeExpression::Evaluate(const RecipeValues& values) const { return Integer(*root_, values); }

absl::StatusOr<bool> RecipeExpression::Holds(const RecipeValues& values) const {
  if (!root_->comparison()) return InvalidArgument(fmt::format("\"{}\": a comparison is due", text_));
  WARPSMITH_ASSIGN_OR_RETURN(RecipeValue left, Value(*root_->children[0], values));
  WARPSMITH_ASSIGN_OR_RETURN(RecipeValue right, Value(*root_->children[1], values));
  const std::string& op = root_->op;
  if (left.index() != right.index()) {  // text and a number: never equal, and without an order
    if (op == "==") return false;
    if (op == "!=") return true;
    return InvalidArgument(fmt::format("\"{}\": text and a number cannot be ordered", text_));
  }
  if (op == "==") return left == right;
  if (op == "!=") return left != right;
  if (op == "<") return left < right;
  if (op == "<=") return left <= right;
  if (op == ">") return left > right;
  return left >= right;
}

absl::Status RecipeExpression::CheckNames(const Node& node,
                                          const std::function<bool(const std::string&)>& known) const {
  if (node.op == "name" && !known(node.name)) {
    return InvalidArgument(fmt::format("\"{}\": nothing is called {} here", text_, node.name));
  }
  for (const auto& child : node.children) WARPSMITH_RETURN_IF_ERROR(CheckNames(*child, known));
  return absl::OkStatus();
}

absl::Status RecipeExpression::Check(const std::function<bool(const std::string&)>& known, bool comparison) const {
  if (root_->comparison() != comparison) {
    return InvalidArgument(fmt::format("\"{}\": {} is due", text_, comparison ? "a comparison" : "a number"));
  }
  if (!comparison) return CheckNames(*root_, known);
  const Node& left = *root_->children[0];
  const Node& right = *root_->children[1];
  auto text_of_its_own = [&](const Node& node) { return node.op == "name" && !known(node.name); };
  if (text_of_its_own(left) && text_of_its_own(right)) return CheckNames(left, known);
  if (!text_of_its_own(left)) WARPSMITH_RETURN_IF_ERROR(CheckNames(left, known));
  if (!text_of_its_own(right)) WARPSMITH_RETURN_IF_ERROR(CheckNames(right, known));
  return absl::OkStatus();
}

}  // namespace warpsmith::gateway
