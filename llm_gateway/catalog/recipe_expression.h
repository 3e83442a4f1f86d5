// The expressions of recipes: integers with + - * / % min() max() ceil_div() ( ), and one comparison == != < <= > >=
// where a condition is due. Names may hold dots (input.dim0). A name that nothing is bound to stands for its own text,
// so that "input.dtype == float32" can be written; arithmetic on text is an error. Threading: immutable after Parse.
// Errors: InvalidArgument with the text; overflow and division by zero included.
#ifndef WARPSMITH_LLM_GATEWAY_CATALOG_RECIPE_EXPRESSION_H_
#define WARPSMITH_LLM_GATEWAY_CATALOG_RECIPE_EXPRESSION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "common/status.h"

namespace warpsmith::gateway {

using RecipeValue = std::variant<int64_t, std::string>;
using RecipeValues = std::map<std::string, RecipeValue>;

// An integer where all of the text is one, text otherwise.
RecipeValue ToRecipeValue(const std::string& text);
std::string ToText(const RecipeValue& value);

class RecipeExpression {
 public:
  static absl::StatusOr<RecipeExpression> Parse(const std::string& text);

  absl::StatusOr<int64_t> Evaluate(const RecipeValues& values) const;  // an error for comparisons and text
  absl::StatusOr<bool> Holds(const RecipeValues& values) const;        // an error for anything but a comparison

  // Whether every name can have a value: names in arithmetic, and one side of each comparison, must be `known`.
  absl::Status Check(const std::function<bool(const std::string&)>& known, bool comparison) const;
  const std::string& text() const { return text_; }

 private:
  friend class RecipeExpressionParser;
  struct Node;
  absl::StatusOr<RecipeValue> Value(const Node& node, const RecipeValues& values) const;
  absl::StatusOr<int64_t> Integer(const Node& node, const RecipeValues& values) const;
  absl::Status CheckNames(const Node& node, const std::function<bool(const std::string&)>& known) const;

  std::string text_;
  std::shared_ptr<const Node> root_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_CATALOG_RECIPE_EXPRESSION_H_
