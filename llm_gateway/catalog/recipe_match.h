// Whether a recipe fits a problem, and with what values: tensors by their roles, values out of the source, variables.
// Threading: pure functions. Errors: FailedPrecondition says what does not fit.
#ifndef WARPSMITH_LLM_GATEWAY_CATALOG_RECIPE_MATCH_H_
#define WARPSMITH_LLM_GATEWAY_CATALOG_RECIPE_MATCH_H_

#include "llm_gateway/catalog/recipe.h"

namespace warpsmith::gateway {

// The values of every name that has one, settings aside; training_mode (0 or 1) among them.
absl::StatusOr<RecipeValues> MatchRecipe(const Recipe& recipe, const v1::Problem& problem);

// The settings of an idea that fit problem and device, in order; none where the idea does not. Ideas may use
// device_capability (90) and device_shared_bytes (the most of a block).
std::vector<RecipeValues> FittingSettings(const RecipeIdea& idea, const RecipeValues& matched,
                                          const v1::DeviceDescription& device);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_CATALOG_RECIPE_MATCH_H_
