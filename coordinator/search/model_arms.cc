#include "coordinator/search/model_arms.h"

#include <algorithm>
#include <cmath>

#include "coordinator/search/numbers.h"

namespace warpsmith::search {
namespace {

constexpr int64_t kUnknownOutput = 32'000;  // tokens, where a model does not say its cap
constexpr size_t kMostArms = 200;

// The field's values, "" (as configured) first.
std::vector<std::string> Choices(const google::protobuf::RepeatedPtrField<std::string>& values, bool with_default) {
  std::vector<std::string> choices;
  if (with_default || values.empty()) choices.emplace_back();
  for (const std::string& value : values) {
    if (std::find(choices.begin(), choices.end(), value) == choices.end()) choices.push_back(value);
  }
  return choices;
}

}  // namespace

std::vector<ModelArm> ArmsOf(const v1::ListModelsReply& models, const v1::SearchSettings& settings) {
  std::vector<ModelArm> arms;
  std::vector<ModelArm> open;
  for (const v1::ModelDescription& model : models.models()) {
    const auto& allowed = settings.models();
    if (!model.enabled() ||
        (!allowed.empty() && std::find(allowed.begin(), allowed.end(), model.name()) == allowed.end())) {
      continue;
    }
    ModelArm arm;
    arm.model = model.name();
    arm.catalog = model.provider() == "catalog";
    arm.usd_a_call = Amount(model.reservation_usd());
    arm.input_usd = Amount(model.input_usd_per_million()) * 1e-6;
    arm.output_tokens_a_call =
        arm.catalog ? 0 : (model.max_output_tokens() > 0 ? model.max_output_tokens() : kUnknownOutput);
    std::vector<ModelArm>& list = model.circuit() == "open" ? open : arms;
    if (arm.catalog) {
      list.push_back(arm);
      continue;
    }
    for (const std::string& effort : Choices(model.efforts(), true)) {
      for (const std::string& variant : Choices(model.prompt_variants(), false)) {
        arm.effort = effort;
        arm.variant = variant;
        list.push_back(arm);
      }
    }
  }
  if (std::none_of(arms.begin(), arms.end(), [](const ModelArm& arm) { return !arm.catalog; })) {
    arms.insert(arms.end(), open.begin(), open.end());
  }
  if (arms.size() > kMostArms) arms.resize(kMostArms);
  return arms;
}

std::vector<double> SplitWeights(const std::vector<ModelArm>& arms,
                                 const google::protobuf::Map<std::string, double>& split) {
  std::vector<double> weights(arms.size(), split.empty() ? 1 : 0);
  for (size_t i = 0; i < arms.size() && !split.empty(); ++i) {
    if (const auto own = split.find(arms[i].Name()); own != split.end()) {
      weights[i] = Amount(own->second);
    } else if (const auto whole = split.find(arms[i].model); whole != split.end()) {
      const auto sharing = std::count_if(arms.begin(), arms.end(), [&](const ModelArm& arm) {
        return arm.model == arms[i].model && split.find(arm.Name()) == split.end();
      });
      weights[i] = Amount(whole->second) / static_cast<double>(sharing);
    }
  }
  return weights;
}

}  // namespace warpsmith::search
