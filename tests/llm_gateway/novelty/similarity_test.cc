// What people say of pairs of ideas, against the similarity. The threshold was chosen on idea_pairs.jsonl; the pairs
// held out and the catalog's ideas had no part in it.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <iostream>

#include "common/file.h"
#include "common/json.h"
#include "llm_gateway/catalog/recipe.h"
#include "llm_gateway/http/cancellation.h"
#include "llm_gateway/novelty/embedding_similarity.h"
#include "llm_gateway/novelty/text_similarity.h"

namespace warpsmith::gateway {
namespace {

using Catch::Matchers::Contains;

struct Pair {
  v1::Idea a, b;
  bool same = false;
};

v1::Idea IdeaOf(const Json& json, const std::string& category) {
  v1::Idea idea;
  idea.set_title(json["title"].get<std::string>());
  idea.set_category(category);
  for (const Json& step : json["plan"]) idea.add_plan(step.get<std::string>());
  return idea;
}

std::vector<Pair> PairsOf(const std::string& file) {
  std::vector<Pair> pairs;
  std::string text = ReadFile(WARPSMITH_SOURCE_DIR "/tests/llm_gateway/novelty/" + file).value();
  for (size_t at = 0; at < text.size();) {
    size_t end = text.find('\n', at);
    Json row = Json::parse(text.substr(at, end - at));
    std::string category = row["category"];
    pairs.push_back({IdeaOf(row["a"], category), IdeaOf(row["b"], category), row["same"].get<bool>()});
    at = end + 1;
  }
  return pairs;
}

struct Quality {
  double precision = 0, recall = 0;
};

Quality Judge(const std::vector<Pair>& pairs, double threshold, const std::string& name) {
  int found = 0, right = 0, same = 0;
  for (const Pair& pair : pairs) {
    double value = TextSimilarity::Of(pair.a, pair.b);
    same += pair.same;
    found += value >= threshold;
    right += pair.same && value >= threshold;
    if (pair.same != (value >= threshold)) {
      std::cout << fmt::format("  {:.3f} {} \"{}\" / \"{}\"\n", value,
                               pair.same ? "same, missed:" : "different, taken:", pair.a.title(), pair.b.title());
    }
  }
  Quality quality{found == 0 ? 1.0 : static_cast<double>(right) / found, static_cast<double>(right) / same};
  std::cout << fmt::format("{}: {} pairs, {} the same; threshold {:.2f}: precision {:.3f}, recall {:.3f}\n", name,
                           pairs.size(), same, threshold, quality.precision, quality.recall);
  return quality;
}

TEST_CASE("ideas in other words are found, different ones of a category are not", "[unit]") {
  const double threshold = TextSimilarity().threshold();
  const std::vector<Pair> pairs = PairsOf("idea_pairs.jsonl");
  REQUIRE(pairs.size() >= 40);
  Quality chosen_on = Judge(pairs, threshold, "chosen on");
  CHECK(chosen_on.precision >= 0.95);
  CHECK(chosen_on.recall >= 0.85);
  const std::vector<Pair> held_out = PairsOf("idea_pairs_held_out.jsonl");
  REQUIRE(held_out.size() >= 25);
  Quality quality = Judge(held_out, threshold, "held out");
  // A near duplicate that is missed costs what every idea costs; a new idea that is refused costs a call and the idea.
  CHECK(quality.precision >= 0.95);
  CHECK(quality.recall >= 0.6);
}

TEST_CASE("hardly ever are two ideas of a recipe taken for one", "[unit]") {
  const auto recipes = LoadRecipes(WARPSMITH_SOURCE_DIR "/llm_gateway/catalog/recipes").value();
  int pairs = 0, taken = 0;
  for (const Recipe& recipe : recipes) {
    for (size_t i = 0; i < recipe.ideas.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        const double value = TextSimilarity::Of(recipe.ideas[i].idea, recipe.ideas[j].idea);
        ++pairs;
        if (value < TextSimilarity().threshold()) continue;
        ++taken;
        std::cout << fmt::format("  {:.3f} taken for one: {}: \"{}\" / \"{}\"\n", value, recipe.name,
                                 recipe.ideas[i].idea.title(), recipe.ideas[j].idea.title());
      }
    }
  }
  std::cout << fmt::format("catalog: {} pairs of different ideas, {} taken for one\n", pairs, taken);
  CHECK(pairs >= 100);
  CHECK(taken * 50 <= pairs);  // 2 %
}

TEST_CASE("similarity is symmetric, 1 for the same title, and bounded", "[unit]") {
  for (const Pair& pair : PairsOf("idea_pairs.jsonl")) {
    const double value = TextSimilarity::Of(pair.a, pair.b);
    CHECK(value == Approx(TextSimilarity::Of(pair.b, pair.a)));
    CHECK(value >= 0);
    CHECK(value < 1);
    CHECK(TextSimilarity::Of(pair.a, pair.a) == 1);
  }
  v1::Idea a, b;
  CHECK(TextSimilarity::Of(a, b) == 0);
  a.set_title("Use FLOAT4-loads!");
  b.set_title("use float4 loads");
  b.add_plan("something else entirely");
  CHECK(TextSimilarity::Of(a, b) == 1);
}

class FakeEmbeddings final : public EmbeddingModel {
 public:
  absl::StatusOr<std::vector<std::vector<float>>> Embed(const std::vector<std::string>& texts, Asking&) override {
    asked.push_back(texts);
    if (!status.ok()) return status;
    std::vector<std::vector<float>> vectors;
    for (const std::string& text : texts) {
      vectors.push_back({static_cast<float>(std::count(text.begin(), text.end(), 'a')),
                         static_cast<float>(std::count(text.begin(), text.end(), 'b'))});
      if (uneven && vectors.size() == 2) vectors.back().push_back(1);
    }
    if (lose_one) vectors.pop_back();
    return vectors;
  }
  std::string name() const override { return "fake"; }

  absl::Status status;
  bool uneven = false, lose_one = false;
  std::vector<std::vector<std::string>> asked;
};

TEST_CASE("embeddings: one question for all texts, cosines, and what a server may do wrong", "[unit]") {
  FakeEmbeddings model;
  EmbeddingSimilarity similarity(model);
  Cancellation cancellation;
  Asking asking(cancellation);
  v1::Idea first, second, third;
  first.set_title("aa");
  second.set_title("a");
  second.add_plan("a");
  third.set_title("b");
  auto values = similarity.Between({&first, &third}, {&first, &second, &third}, asking).value();
  REQUIRE(model.asked.size() == 1);
  CHECK(model.asked[0] == std::vector<std::string>{"aa", "b", "a\na"});
  CHECK(values[0][0] == Approx(1));
  CHECK(values[0][1] == Approx(1));
  CHECK(values[0][2] == Approx(0));
  CHECK(values[1][2] == Approx(1));
  v1::Idea nothing;
  CHECK(similarity.Between({&nothing}, {&first}, asking).value()[0][0] == 0);
  CHECK(similarity.Between({}, {&first}, asking).value().empty());
  model.uneven = true;
  CHECK_THAT(Message(similarity.Between({&first}, {&third}, asking).status()), Contains("different lengths"));
  model.lose_one = true;
  CHECK_THAT(Message(similarity.Between({&first}, {&third}, asking).status()), Contains("1 embeddings for 2"));
  model.status = Unavailable("down");
  CHECK(similarity.Between({&first}, {&third}, asking).status().code() == absl::StatusCode::kUnavailable);
  v1::Idea endless;
  endless.set_title(std::string(3999, 'x') + "\xE2\x82\xAC");
  CHECK(EmbeddedText(endless).size() == 3999);  // no half character
}

}  // namespace
}  // namespace warpsmith::gateway
