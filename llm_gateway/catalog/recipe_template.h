// A candidate file with slots: @{NAME} is replaced by a value; @{?NAME} … @{/NAME} stays only where NAME has a value,
// and
// @{!NAME} … @{/NAME} only where it has none (for optional tensors).
// Threading: immutable after Parse. Errors: InvalidArgument with file:line.
#ifndef WARPSMITH_LLM_GATEWAY_CATALOG_RECIPE_TEMPLATE_H_
#define WARPSMITH_LLM_GATEWAY_CATALOG_RECIPE_TEMPLATE_H_

#include <functional>
#include <string>
#include <vector>

#include "common/status.h"
#include "llm_gateway/catalog/recipe_expression.h"

namespace warpsmith::gateway {

class RecipeTemplate {
 public:
  // `known` says whether a name can have a value.
  static absl::StatusOr<RecipeTemplate> Parse(const std::string& text, const std::string& file,
                                              const std::function<bool(const std::string&)>& known);
  absl::StatusOr<std::string> Expand(const RecipeValues& values) const;

 private:
  enum class Kind { kText, kSlot, kIfBound, kIfUnbound, kEnd };
  struct Part {
    Kind kind;
    std::string text;  // of kText, else the name
    int line;
  };
  std::string file_;
  std::vector<Part> parts_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_CATALOG_RECIPE_TEMPLATE_H_
