#include "llm_gateway/novelty/too_close.h"

#include <catch2/catch.hpp>

#include "llm_gateway/http/cancellation.h"
#include "llm_gateway/novelty/text_similarity.h"

namespace warpsmith::gateway {
namespace {

v1::Idea Idea(const std::string& title) {
  v1::Idea idea;
  idea.set_title(title);
  return idea;
}

struct Tried {
  google::protobuf::RepeatedPtrField<v1::TriedIdea> ideas;

  v1::TriedIdea& Add(const std::string& title, const std::string& parent, const std::string& outcome) {
    v1::TriedIdea& tried = *ideas.Add();
    tried.mutable_idea()->set_title(title);
    tried.set_parent_candidate_id(parent);
    tried.set_outcome(outcome);
    return tried;
  }
};

std::vector<SimilarPair> Pairs(const std::vector<v1::Idea>& proposed, const Tried& tried,
                               const std::string& parent = "p") {
  Cancellation cancellation;
  Asking asking(cancellation);
  return TooClose(TextSimilarity(), proposed, tried.ideas, parent, asking).value();
}

TEST_CASE("ideas close to one tried on the same kernel are told, with what became of it", "[unit]") {
  Tried tried;
  tried.Add("Use float4 vectorized loads", "p", "ok").set_ratio_to_parent(1.2);
  tried.Add("Split-K parallelism", "p", "wrong_output");
  auto pairs = Pairs({Idea("Warp shuffles for the reduction"), Idea("Vectorized float4 loads")}, tried);
  REQUIRE(pairs.size() == 1);
  CHECK(pairs[0].index == 1);
  CHECK(pairs[0].title == "Vectorized float4 loads");
  CHECK(pairs[0].earlier_title == "Use float4 vectorized loads");
  CHECK(pairs[0].earlier_outcome == "ok");
  CHECK(pairs[0].earlier_ratio == 1.2);
  CHECK_FALSE(pairs[0].in_same_answer);
  CHECK(pairs[0].similarity >= TextSimilarity().threshold());
}

TEST_CASE("ideas tried on another kernel may come again", "[unit]") {
  Tried tried;
  tried.Add("Use float4 loads", "grandparent", "ok");
  CHECK(Pairs({Idea("Use float4 loads")}, tried).empty());
  CHECK(Pairs({Idea("Use float4 loads")}, tried, "grandparent").size() == 1);
  tried.Add("Unroll the loop", "", "ok");  // the first round has no kernel
  CHECK(Pairs({Idea("Unroll the loop")}, tried, "").size() == 1);
}

TEST_CASE("ideas of an earlier search may come again, whatever their kernel", "[unit]") {
  Tried tried;
  tried.Add("Use float4 loads", "", "ok").set_earlier_search(true);
  tried.Add("Unroll the loop", "p", "wrong_output").set_earlier_search(true);
  CHECK(Pairs({Idea("Use float4 loads"), Idea("Unroll the loop")}, tried, "").empty());
  CHECK(Pairs({Idea("Use float4 loads"), Idea("Unroll the loop")}, tried, "p").empty());
  CHECK(TakenTitles(tried.ideas, "").empty());
}

TEST_CASE("an idea of which nothing ever ran keeps no other away", "[unit]") {
  for (const char* outcome : {"compile_error", "plan_error", "untried", "no_code", "truncated", "host_code", "refused",
                              "model_error", "exhausted", "needs_gpu", "infra_error", ""}) {
    INFO(outcome);
    Tried tried;
    tried.Add("Use float4 loads", "p", outcome);
    CHECK_FALSE(WasJudged(tried.ideas[0]));
    CHECK(Pairs({Idea("Use float4 loads")}, tried).empty());
  }
  for (const char* outcome : {"ok", "wrong_output", "timeout", "illegal_access", "launch_error", "out_of_bounds",
                              "input_modified", "unwritten_output", "non_finite", "suspicious", "out_of_memory"}) {
    INFO(outcome);
    Tried tried;
    tried.Add("Use float4 loads", "p", outcome);
    CHECK(WasJudged(tried.ideas[0]));
    CHECK(Pairs({Idea("Use float4 loads")}, tried).size() == 1);
  }
}

TEST_CASE("what another model has just proposed is taken, on whatever kernel", "[unit]") {
  Tried tried;
  tried.Add("Use float4 loads", "", "proposed");
  tried.Add("Unroll the loop", "p", "compile_error");
  tried.Add("Split-K parallelism", "p", "wrong_output");
  tried.Add("Warp shuffles", "another", "ok");
  CHECK(Pairs({Idea("Use float4 loads")}, tried).size() == 1);
  CHECK(TakenTitles(tried.ideas, "p") == std::vector<std::string>{"Use float4 loads", "Split-K parallelism"});
}

TEST_CASE("of two like ideas in one answer the first is kept", "[unit]") {
  auto pairs =
      Pairs({Idea("Use float4 loads"), Idea("Use wide float4 loads"), Idea("Unroll the loop"), Idea("float4 loads")},
            Tried());
  REQUIRE(pairs.size() == 2);
  for (const SimilarPair& pair : pairs) {
    CHECK(pair.in_same_answer);
    CHECK(pair.earlier_title == "Use float4 loads");
    CHECK(pair.earlier_outcome.empty());
  }
  CHECK(pairs[0].index == 1);
  CHECK(pairs[1].index == 3);
  CHECK(Pairs({}, Tried()).empty());
  CHECK(Pairs({Idea("alone")}, Tried()).empty());
}

class Broken final : public IdeaSimilarity {
 public:
  absl::StatusOr<std::vector<std::vector<double>>> Between(const std::vector<const v1::Idea*>&,
                                                           const std::vector<const v1::Idea*>&,
                                                           Asking&) const override {
    return Unavailable("no embeddings today");
  }
  double threshold() const override { return 0.9; }
  std::string name() const override { return "broken"; }
};

TEST_CASE("a similarity that cannot answer says so", "[unit]") {
  Cancellation cancellation;
  Asking asking(cancellation);
  Tried tried;
  tried.Add("a", "p", "ok");
  CHECK(TooClose(Broken(), {Idea("b")}, tried.ideas, "p", asking).status().code() == absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace warpsmith::gateway
