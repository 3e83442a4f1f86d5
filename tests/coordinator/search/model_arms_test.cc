#include "coordinator/search/model_arms.h"

#include <catch2/catch.hpp>

namespace warpsmith::search {
namespace {

v1::ModelDescription* Add(v1::ListModelsReply* models, const std::string& name) {
  v1::ModelDescription* model = models->add_models();
  model->set_name(name);
  model->set_provider("openai");
  model->set_enabled(true);
  return model;
}

std::vector<std::string> Names(const std::vector<ModelArm>& arms) {
  std::vector<std::string> names;
  for (const ModelArm& arm : arms) names.push_back(arm.Name());
  return names;
}

TEST_CASE("arms are the usable models with each effort and variant", "[unit]") {
  v1::ListModelsReply models;
  v1::ModelDescription* first = Add(&models, "first");
  first->add_efforts("low");
  first->add_efforts("high");
  first->set_reservation_usd(0.5);
  first->set_max_output_tokens(1000);
  v1::ModelDescription* second = Add(&models, "second");
  second->add_prompt_variants("default");
  second->add_prompt_variants("terse");
  Add(&models, "off")->set_enabled(false);
  Add(&models, "ill")->set_circuit("open");
  Add(&models, "catalog")->set_provider("catalog");
  v1::SearchSettings settings;
  CHECK(Names(ArmsOf(models, settings)) == std::vector<std::string>{"first||", "first|low|", "first|high|",
                                                                    "second||default", "second||terse", "catalog||"});
  const std::vector<ModelArm> arms = ArmsOf(models, settings);
  CHECK(arms[1].usd_a_call == 0.5);
  CHECK(arms[1].output_tokens_a_call == 1000);
  CHECK(arms[3].output_tokens_a_call == 32000);
  CHECK(arms[5].catalog);
  CHECK(arms[5].output_tokens_a_call == 0);

  settings.add_models("second");
  settings.add_models("off");
  CHECK(Names(ArmsOf(models, settings)) == std::vector<std::string>{"second||default", "second||terse"});
  // Better one that is likely to fail than none.
  settings.clear_models();
  settings.add_models("ill");
  settings.add_models("catalog");
  CHECK(Names(ArmsOf(models, settings)) == std::vector<std::string>{"catalog||", "ill||"});
}

TEST_CASE("a split's weight of a model is shared by its arms, but for those that have their own", "[unit]") {
  v1::ListModelsReply models;
  Add(&models, "first")->add_efforts("high");
  v1::ModelDescription* second = Add(&models, "second");
  second->add_efforts("low");
  second->add_efforts("high");
  v1::SearchSettings settings;
  const std::vector<ModelArm> arms = ArmsOf(models, settings);
  CHECK(SplitWeights(arms, settings.model_split()) == std::vector<double>(5, 1));
  auto& split = *settings.mutable_model_split();
  split["second"] = 3;
  split["second|high|"] = 1;
  CHECK(SplitWeights(arms, settings.model_split()) == std::vector<double>{0, 0, 1.5, 1.5, 1});
}

}  // namespace
}  // namespace warpsmith::search
