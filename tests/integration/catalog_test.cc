// The honest suite: every recipe of the catalog, through the catalog provider and the real evaluator, on the problems
// that it is for. Each idea must be right at the fp32 class: the first ones of each problem with their first setting
// always, all of them with all of their settings in the slow suite.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <iostream>
#include <set>

#include "common/file.h"
#include "common/protocol_names.h"
#include "llm_gateway/catalog/recipe.h"
#include "llm_gateway/providers/catalog_provider.h"
#include "tests/gpu_worker/evaluate/testing.h"

namespace warpsmith {
namespace {

using gateway::CatalogProvider;

const std::vector<gateway::Recipe>& Recipes() {
  static const std::vector<gateway::Recipe> recipes = [] {
    auto folder = FindShare("llm_gateway/catalog/recipes");
    REQUIRE(folder.ok());
    auto loaded = gateway::LoadRecipes(*folder);
    INFO(Message(loaded.status()));
    REQUIRE(loaded.ok());
    return *loaded;
  }();
  return recipes;
}

v1::ProblemContext ContextOf(const std::string& problem) {
  v1::ProblemContext context;
  *context.mutable_problem() = evaluate::ProblemForTest(problem);
  context.mutable_device()->set_emulated(true);
  context.mutable_device()->set_device_class("emulated");
  return context;
}

// Everything that the catalog has for a problem, asked for as a search would, until it has no more.
std::vector<v1::Idea> AllIdeas(CatalogProvider& catalog, const v1::ProblemContext& context) {
  std::vector<v1::Idea> ideas;
  gateway::Cancellation cancellation;
  v1::ProposeIdeasRequest request;
  *request.mutable_context() = context;
  request.set_count(3);
  for (int call = 0; call < 20; ++call) {
    v1::ProposeIdeasReply reply = catalog.ProposeIdeas(request, cancellation);
    if (reply.ideas_size() == 0) break;
    for (const v1::Idea& idea : reply.ideas()) {
      ideas.push_back(idea);
      v1::TriedIdea* tried = request.add_tried();
      *tried->mutable_idea() = idea;
      tried->set_outcome("ok");
      tried->set_best_ms(1);
    }
  }
  return ideas;
}

// Settings from `first_setting` on, at most `settings` of them, of at most `most_ideas` ideas.
void CheckProblem(const std::string& problem, int first_setting, int settings, size_t most_ideas = 1000) {
  CatalogProvider catalog("catalog", Recipes());
  gateway::Cancellation cancellation;
  v1::ProblemContext context = ContextOf(problem);
  std::vector<v1::Idea> ideas = AllIdeas(catalog, context);
  INFO(problem);
  CHECK(!ideas.empty());
  if (ideas.size() > most_ideas) ideas.resize(most_ideas);
  double first = 0, best = 0;
  for (const v1::Idea& idea : ideas) {
    v1::ImplementIdeaRequest request;
    *request.mutable_context() = context;
    *request.mutable_idea() = idea;
    request.set_count(first_setting + settings);
    for (int index = first_setting; index < first_setting + settings; ++index) {
      v1::Implementation implementation = catalog.Implement(request, index, cancellation);
      if (implementation.status() == "exhausted") break;
      INFO(problem << " / " << idea.catalog_key() << " / setting " << index << "\n" << implementation.message());
      REQUIRE(implementation.status() == "ok");
      v1::Evaluation evaluation = evaluate::EvaluateForTest(problem, implementation.source());
      INFO(evaluation.message() << "\n" << implementation.source());
      CHECK(OutcomeName(evaluation.outcome()) == "ok");
      CHECK(evaluation.reached() == v1::PRECISION_CLASS_FP32);
      double ms = evaluation.timing().median_ms();
      if (ms > 0 && first == 0) first = ms;
      if (ms > 0 && (best == 0 || ms < best)) best = ms;
    }
  }
  std::cout << fmt::format("{:28} {} ideas, first {:.3f} ms, best {:.3f} ms (emulated)\n", problem, ideas.size(), first,
                           best);
}

TEST_CASE("each recipe has four ideas in three categories, each with two settings", "[unit]") {
  CHECK(Recipes().size() >= 6);
  for (const gateway::Recipe& recipe : Recipes()) {
    INFO(recipe.name);
    std::set<std::string> categories;
    for (const gateway::RecipeIdea& idea : recipe.ideas) {
      categories.insert(idea.idea.category());
      CHECK(idea.settings.size() >= 2);
    }
    CHECK(recipe.ideas.size() >= 4);
    CHECK(categories.size() >= 3);
  }
}

constexpr const char* kFamilies[] = {"softmax", "layer_norm", "matmul", "conv2d_bias", "gelu", "sum_dimension"};

TEST_CASE("the first ideas are right on their family's problem", "[honest]") {
  for (const char* problem : kFamilies) CheckProblem(problem, 0, 1, 4);
}

TEST_CASE("every idea with every setting is right on its family's problem", "[.slow]") {
  for (const char* problem : kFamilies) CheckProblem(problem, 0, 64);
}

constexpr const char* kOddShapes[] = {"softmax_odd", "layer_norm_mean1000", "matmul_odd", "conv2d_bias_strided",
                                      "relu",        "sum_dimension_last"};

TEST_CASE("the first ideas that claim to hold for odd shapes do", "[honest]") {
  for (const char* problem : kOddShapes) CheckProblem(problem, 0, 1, 3);
}

TEST_CASE("all ideas that claim to hold for odd shapes do", "[.slow]") {
  for (const char* problem : kOddShapes) CheckProblem(problem, 0, 1);
}

// Small problems of KernelBench's families, each in an even and an odd size.
std::vector<std::string> CatalogProblems() {
  std::set<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(WARPSMITH_SOURCE_DIR "/tests/problems/catalog")) {
    if (file.path().extension() == ".py") names.insert("catalog/" + file.path().stem().string());
  }
  return {names.begin(), names.end()};
}

TEST_CASE("a sample of each further family is right on odd sizes", "[honest]") {
  for (const char* problem : {"argmax_dimension_odd", "cumulative_sum_masked_odd", "max_pool_2d_odd", "group_norm_odd",
                              "rms_norm_odd", "mse_loss_odd", "cross_entropy_odd", "matmul_transposed_both_odd"}) {
    CheckProblem(std::string("catalog/") + problem, 0, 1, 1);
  }
}

TEST_CASE("every idea with every setting is right on every small problem of the catalog", "[.slow]") {
  for (const std::string& problem : CatalogProblems()) CheckProblem(problem, 0, 64);
}

}  // namespace
}  // namespace warpsmith
