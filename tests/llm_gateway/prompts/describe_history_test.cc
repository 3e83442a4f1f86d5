#include "llm_gateway/prompts/describe_history.h"

#include <catch2/catch.hpp>

namespace warpsmith::gateway {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;

void Add(TriedIdeas& tried, const std::string& title, const std::string& category, const std::string& outcome,
         double ratio, const std::string& parent = "") {
  v1::TriedIdea& one = *tried.Add();
  one.mutable_idea()->set_title(title);
  one.mutable_idea()->set_category(category);
  one.set_outcome(outcome);
  one.set_ratio_to_parent(ratio);
  one.set_why("because | it is");
  one.set_parent_candidate_id(parent);
}

TEST_CASE("a line an idea, with the kernel it was for, the outcome and the change", "[unit]") {
  TriedIdeas tried;
  CHECK(DescribeTried(tried, "p") == "None.");
  Add(tried, "Use float4", "memory_access", "ok", 1.31, "p");
  tried[0].set_best_ms(0.5);
  Add(tried, "Unroll", "control_flow", "wrong_output", 0, "q");
  Add(tried, "Slower", "compute", "ok", 0.8, "p");
  CHECK(DescribeTried(tried, "p") ==
        "title | category | kernel | outcome | change | why\n"
        "Use float4 | memory_access | this | ok | +31 % (0.5 ms) | because / it is\n"
        "Unroll | control_flow | another | wrong_output | - | because / it is\n"
        "Slower | compute | this | ok | -20 % | because / it is");
  CHECK(CountCategories(tried) ==
        "memory_access 1, async_latency 0, precision 0, compute 1, parallelism_occupancy 0, control_flow 1");
}

TEST_CASE("a long history is folded, and says how much", "[unit]") {
  TriedIdeas tried;
  for (int i = 0; i < 150; ++i) {
    Add(tried, "Idea number " + std::to_string(i), i % 2 ? "compute" : "precision", i == 3 ? "ok" : "wrong_output",
        i == 3 ? 1.4 : 0);
  }
  HistoryLimits limits;
  limits.lines = 20;
  std::string text = DescribeTried(tried, "", 0, limits);
  CHECK_THAT(text, Contains("Further 130 ideas") && Contains("compute, wrong_output (64)") &&
                       Contains("precision, wrong_output (66)"));
  for (int i = 0; i < 150; ++i) CHECK_THAT(text, Contains("Idea number " + std::to_string(i)));  // none is lost
  CHECK_THAT(text, Contains("Idea number 3 | compute | this | ok | +40 %"));  // what helped stays whole
  CHECK_THAT(text, Contains("Idea number 149 | compute"));
  limits.lines = 1000;
  limits.line_bytes = 2000;
  CHECK_THAT(DescribeTried(tried, "", 0, limits), Contains("Further "));
}

TEST_CASE("an endless history stays short, and every idea is counted", "[unit]") {
  TriedIdeas tried;
  for (int i = 0; i < 20000; ++i) {
    Add(tried, "Idea number " + std::to_string(i) + std::string(60, 't'), i % 3 ? "compute" : "precision",
        i % 2 ? "ok" : "timeout", i % 2 ? 0.9 : 0);
  }
  std::string text = DescribeTried(tried, "");
  CHECK(text.size() < 40000);
  const size_t further = text.find("Further ");
  REQUIRE(further != text.npos);
  int counted = 0;
  for (size_t at = text.find("\n- ", further); at != text.npos; at = text.find("\n- ", at + 1)) {
    counted += std::stoi(text.substr(text.find(" (", at) + 2));
  }
  CHECK(counted == std::stoi(text.substr(further + 8)));
  CHECK(std::count(text.begin(), text.begin() + static_cast<long>(further), '\n') - 1 + counted == 20000);
  CHECK_THAT(text, Contains("older ones whose titles are left out"));
}

TEST_CASE("ideas of earlier searches are told as such, and drive out no more than half of the lines", "[unit]") {
  TriedIdeas tried;
  for (int i = 0; i < 300; ++i) {
    Add(tried, "Earlier idea " + std::to_string(i), "compute", "ok", 1.5);
    tried[i].set_earlier_search(true);
  }
  for (int i = 0; i < 40; ++i) Add(tried, "Own idea " + std::to_string(i), "precision", "wrong_output", 0, "p");
  const std::string text = DescribeTried(tried, "p", 7);
  CHECK_THAT(text, Contains("Own idea 39 | precision | this | wrong_output") &&
                       Contains("Own idea 11 | precision | this | wrong_output") &&
                       Contains("Earlier idea 299 | compute | earlier search | ok | +50 %") &&
                       Contains("Earlier idea 270 | compute | earlier search") && !Contains("Earlier idea 269 |") &&
                       Contains("Further 280 ideas, folded to their titles") && Contains("compute, ok (270)") &&
                       EndsWith("Besides these, 7 older ideas of earlier searches that are not listed."));
  CHECK_THAT(CountCategories(tried), Contains("compute 300") && Contains("precision 40"));
  tried.Clear();
  CHECK_THAT(DescribeTried(tried, "p", 3),
             EndsWith("Besides these, 3 older ideas of earlier searches that are not listed."));
}

TEST_CASE("earlier turns: the last two whole, the others by outcome", "[unit]") {
  google::protobuf::RepeatedPtrField<v1::EarlierTurn> turns;
  CHECK(DescribeEarlierTurns(turns).empty());
  for (int i = 0; i < 3; ++i) {
    v1::EarlierTurn& turn = *turns.Add();
    turn.set_source("source of turn " + std::to_string(i));
    turn.mutable_evaluation()->set_outcome(v1::OUTCOME_TIMEOUT);
  }
  std::string text = DescribeEarlierTurns(turns);
  CHECK_THAT(text, Contains("Turn 1: timeout") && !Contains("source of turn 0") && Contains("source of turn 1") &&
                       Contains("source of turn 2") && Contains("first 1 turns are left out"));

  // What has no source of its own, the idea behind a turn, a reply without code.
  turns.Mutable(1)->clear_source();
  turns.Mutable(2)->set_idea_title("Vector loads, repair 1");
  turns.Mutable(0)->mutable_evaluation()->set_outcome(v1::OUTCOME_UNSPECIFIED);
  turns.Mutable(0)->mutable_evaluation()->set_reason("no_code");
  text = DescribeEarlierTurns(turns);
  CHECK_THAT(text, Contains("Turn 1: no_code.") && !Contains("source of turn 1") &&
                       Contains("Turn 3 (Vector loads, repair 1): timeout") && EndsWith("\n\n"));
  CHECK(text.find("```") == text.rfind("```cuda"));
}

TEST_CASE("many earlier turns are folded, and every one is counted", "[unit]") {
  google::protobuf::RepeatedPtrField<v1::EarlierTurn> turns;
  for (int i = 0; i < 100; ++i) {
    v1::Evaluation& evaluation = *turns.Add()->mutable_evaluation();
    evaluation.set_outcome(i % 4 == 0 ? v1::OUTCOME_OK : v1::OUTCOME_TIMEOUT);
    if (i % 4 == 0) evaluation.mutable_timing()->set_median_ms(100 - i);
  }
  turns.Mutable(1)->mutable_evaluation()->set_outcome(v1::OUTCOME_UNSPECIFIED);
  turns.Mutable(1)->mutable_evaluation()->set_reason("truncated");
  const std::string text = DescribeEarlierTurns(turns);
  CHECK_THAT(text, Contains("Turns 1 to 40, by outcome: ok 10 (the fastest 64 ms), timeout 29, truncated 1.") &&
                       !Contains("Turn 40:") && Contains("Turn 41: ok, 60 ms") && Contains("Turn 100: timeout"));
  CHECK_THAT(DescribeEarlierTurns(turns, 100), Contains("Turn 1: ok, 100 ms") && !Contains("by outcome"));
}

TEST_CASE("what became of an answer", "[unit]") {
  v1::Idea idea;
  idea.set_title("A");
  idea.set_category("compute");
  CHECK(DescribeKept({idea, idea}) == "- A (compute)\n- A (compute)");
  CHECK(DescribeKept({}) == "nothing");
  SimilarPair tried, within;
  tried.title = "Vector loads";
  tried.earlier_title = "float4";
  tried.earlier_outcome = "ok";
  tried.earlier_ratio = 0.9;
  within.title = "B";
  within.earlier_title = "C";
  within.in_same_answer = true;
  CHECK(DescribeTooClose({tried, within}) ==
        "- \"Vector loads\" is too close to \"float4\", tried already: ok, -10 %\n"
        "- \"B\" is too close to \"C\", which stands in the same answer");
  CHECK(DescribeTooClose({}).find("fewer") != std::string::npos);
}

}  // namespace
}  // namespace warpsmith::gateway
