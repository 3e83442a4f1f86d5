// A recipe: hand-written optimisation ideas for one family of operators, each with a parametrised candidate file and at
// least two settings. A folder with recipe.yaml and its template files; everything in it is checked when it is loaded.
// Threading: immutable after loading. Errors: InvalidArgument with file:line, field and remedy.
#ifndef WARPSMITH_LLM_GATEWAY_CATALOG_RECIPE_H_
#define WARPSMITH_LLM_GATEWAY_CATALOG_RECIPE_H_

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "llm_gateway/catalog/recipe_expression.h"
#include "llm_gateway/catalog/recipe_template.h"
#include "warpsmith/v1/gateway.pb.h"

namespace re2 {
class RE2;
}

namespace warpsmith::gateway {

// Which tensor of a problem a recipe's name stands for.
struct TensorBinding {
  std::string name;  // in the recipe
  v1::TensorRole role = v1::TENSOR_ROLE_UNSPECIFIED;
  int index = 0;       // among the tensors that fit the rest
  std::string suffix;  // of the tensor's name: "weight" fits "weight" and "ln.weight"
  bool optional = false;
  bool any_strides = false;  // otherwise the tensor must be contiguous
};

// A value found in the problem's source: the first group of the first match.
struct Extraction {
  std::string name;
  std::shared_ptr<const re2::RE2> pattern;
  std::string fallback;
};

// A value that follows from another one: {float32: float, int64: long long} of output.dtype. Without an entry for what
// the other one is, the recipe does not fit.
struct Choice {
  std::string name;
  std::string of;
  RecipeValues values;
};

struct RecipeIdea {
  std::string key;
  v1::Idea idea;                      // with catalog_key "RECIPE/KEY"
  int least_capability = 0;           // 80 for sm_80
  bool only_this_capability = false;  // for sm_90a: instructions that later architectures lack
  bool needs_gpu = false;             // what the emulated device cannot run
  std::vector<std::string> after;
  std::vector<RecipeValues> settings;
  std::vector<std::pair<std::string, RecipeExpression>> derived;  // from settings and what stands before
  std::vector<RecipeExpression> require;                          // may use settings and what is derived from them
  RecipeTemplate source;
};

struct Recipe {
  std::string name;  // its folder's
  std::string family;
  std::vector<std::string> operators_any;
  std::vector<TensorBinding> bindings;
  std::vector<Extraction> extractions;
  std::vector<Choice> choices;
  std::vector<std::pair<std::string, RecipeExpression>> variables;
  std::vector<RecipeExpression> require;
  std::vector<RecipeIdea> ideas;
};

absl::StatusOr<Recipe> LoadRecipe(const std::filesystem::path& folder);
// Every folder in `root` that has a recipe.yaml, by name. NotFound without any.
absl::StatusOr<std::vector<Recipe>> LoadRecipes(const std::filesystem::path& root);

// "numel", "dim0", "dim_1" (from the end), "stride0", "rank", "dtype", "name".
bool IsTensorProperty(const std::string& name);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_CATALOG_RECIPE_H_
