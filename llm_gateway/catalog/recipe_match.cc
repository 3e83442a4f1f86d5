#include "llm_gateway/catalog/recipe_match.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

namespace warpsmith::gateway {
namespace {

constexpr int kDimensions = 10;
constexpr int kEmulatedCapability = 80;  // the limits that the emulated device has

void AddTensor(const std::string& name, const v1::TensorSpec& tensor, RecipeValues& values) {
  int64_t elements = 1;
  for (int64_t extent : tensor.shape()) elements *= std::max<int64_t>(0, extent);  // intake bounds the product
  int rank = tensor.shape_size();
  values[name + ".numel"] = elements;
  values[name + ".rank"] = rank;
  values[name + ".dtype"] = tensor.dtype();
  values[name + ".name"] = tensor.name();
  for (int i = 0; i < kDimensions; ++i) {  // dimensions that are not there have extent 1, as in broadcasting
    values[fmt::format("{}.dim{}", name, i)] = i < rank ? tensor.shape(i) : int64_t{1};
    if (i < tensor.strides_size()) values[fmt::format("{}.stride{}", name, i)] = tensor.strides(i);
    if (i >= 1) values[fmt::format("{}.dim_{}", name, i)] = i <= rank ? tensor.shape(rank - i) : int64_t{1};
  }
}

bool Contiguous(const v1::TensorSpec& tensor) {
  if (tensor.strides_size() != tensor.shape_size()) return true;
  int64_t expected = 1;
  for (int i = tensor.shape_size() - 1; i >= 0; --i) {
    if (tensor.shape(i) != 1 && tensor.strides(i) != expected) return false;
    expected *= std::max<int64_t>(1, tensor.shape(i));
  }
  return true;
}

bool HasSuffix(const std::string& name, const std::string& suffix) {
  if (suffix.empty() || name == suffix) return true;
  return name.size() > suffix.size() && name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0 &&
         name[name.size() - suffix.size() - 1] == '.';
}

// Every traced operator must be one of the recipe's: one more, and the recipe would compute something else. Where
// nothing was traced, the family decides.
bool OperatorsFit(const Recipe& recipe, const v1::ProblemSignature& signature) {
  if (recipe.operators_any.empty() || signature.operators().empty())
    return signature.operator_family() == recipe.family;
  return std::all_of(signature.operators().begin(), signature.operators().end(), [&](const std::string& traced) {
    return traced == "contiguous" ||
           std::any_of(recipe.operators_any.begin(), recipe.operators_any.end(),
                       [&](const std::string& name) { return traced.find(name) != traced.npos; });
  });
}

// Most shared memory of a block, in bytes, by compute capability; what every GPU has where that is unknown.
int64_t SharedBytes(int capability) {
  if (capability == 80 || capability == 87) return 163 << 10;
  if (capability >= 90 && capability < 120) return 227 << 10;
  if (capability >= 86) return 99 << 10;
  return 48 << 10;
}

bool Derive(const RecipeIdea& idea, RecipeValues& values) {
  for (const auto& [name, expression] : idea.derived) {
    auto value = expression.Evaluate(values);
    if (!value.ok()) return false;
    values[name] = *value;
  }
  return true;
}

}  // namespace

absl::StatusOr<RecipeValues> MatchRecipe(const Recipe& recipe, const v1::Problem& problem) {
  const v1::ProblemSignature& signature = problem.signature();
  if (!OperatorsFit(recipe, signature)) return FailedPrecondition(recipe.name + ": other operators");
  RecipeValues values;
  values["training_mode"] = int64_t{signature.training_mode() ? 1 : 0};
  for (const v1::TensorSpec& tensor : signature.tensors()) AddTensor(tensor.name(), tensor, values);
  for (const TensorBinding& binding : recipe.bindings) {
    const v1::TensorSpec* found = nullptr;
    int left = binding.index;
    for (const v1::TensorSpec& tensor : signature.tensors()) {
      if (tensor.role() != binding.role || !HasSuffix(tensor.name(), binding.suffix) || left-- > 0) continue;
      found = &tensor;
      break;
    }
    if (found == nullptr) {
      if (binding.optional) continue;
      return FailedPrecondition(fmt::format("{}: no tensor for {}", recipe.name, binding.name));
    }
    if (!binding.any_strides && !Contiguous(*found)) {
      return FailedPrecondition(fmt::format("{}: {} is not contiguous", recipe.name, found->name()));
    }
    values[binding.name] = found->name();
    AddTensor(binding.name, *found, values);
  }
  for (const Extraction& extraction : recipe.extractions) {
    std::string text;
    bool found = re2::RE2::PartialMatch(problem.source(), *extraction.pattern, &text);
    values[extraction.name] = ToRecipeValue(found ? text : extraction.fallback);
  }
  for (const Choice& choice : recipe.choices) {
    auto of = values.find(choice.of);
    auto chosen = of == values.end() ? choice.values.end() : choice.values.find(ToText(of->second));
    if (chosen == choice.values.end()) {
      return FailedPrecondition(fmt::format("{}: no {} for {} {}", recipe.name, choice.name, choice.of,
                                            of == values.end() ? "without a value" : ToText(of->second)));
    }
    values[choice.name] = chosen->second;
  }
  for (const auto& [name, expression] : recipe.variables) {
    auto value = expression.Evaluate(values);
    if (!value.ok()) return FailedPrecondition(fmt::format("{}: {}: {}", recipe.name, name, Message(value.status())));
    values[name] = *value;
  }
  for (const RecipeExpression& condition : recipe.require) {
    auto holds = condition.Holds(values);
    if (!holds.ok()) return FailedPrecondition(recipe.name + ": " + Message(holds.status()));
    if (!*holds) return FailedPrecondition(fmt::format("{}: it needs {}", recipe.name, condition.text()));
  }
  return values;
}

std::vector<RecipeValues> FittingSettings(const RecipeIdea& idea, const RecipeValues& matched,
                                          const v1::DeviceDescription& device) {
  std::vector<RecipeValues> fitting;
  if (idea.needs_gpu && device.emulated()) return fitting;
  const int capability = device.emulated() ? kEmulatedCapability : device.compute_capability();
  if (idea.least_capability > capability) return fitting;
  if (idea.only_this_capability && idea.least_capability != capability) return fitting;
  for (const RecipeValues& setting : idea.settings) {
    RecipeValues values = matched;
    values["device_capability"] = int64_t{capability};
    values["device_shared_bytes"] = SharedBytes(capability);
    for (const auto& [name, value] : setting) values[name] = value;
    bool all = Derive(idea, values);
    all = all && std::all_of(idea.require.begin(), idea.require.end(), [&](const RecipeExpression& condition) {
            auto holds = condition.Holds(values);
            return holds.ok() && *holds;
          });
    if (all) fitting.push_back(std::move(values));
  }
  return fitting;
}

}  // namespace warpsmith::gateway
