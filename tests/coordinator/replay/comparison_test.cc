// Ways to search held against each other on recorded trees.
#include "coordinator/replay/comparison.h"

#include <catch2/catch.hpp>
#include <random>

#include "tests/coordinator/replay/recordings.h"

namespace warpsmith::replay {
namespace {

std::vector<RecordedTree> Trees(int count) {
  std::vector<RecordedTree> trees;
  for (int i = 0; i < count; ++i) {
    auto tree = RecordedTree::Make(Climbing());
    REQUIRE(tree.ok());
    trees.push_back(*std::move(tree));
  }
  return trees;
}

Policy Named(const std::string& name, int rounds) {
  Policy policy;
  policy.name = name;
  policy.settings.set_rounds(rounds);
  return policy;
}

TEST_CASE("where going on from the best pays, three rounds beat one at the same price", "[unit]") {
  Policy wide = Named("one round", 1);
  wide.settings.set_ideas(6);  // 24 kernels, as three rounds have
  const auto comparison = Compare(Trees(1), {wide, Named("three rounds", 3)}, {20, 1, {}, nullptr});
  REQUIRE(comparison.ok());
  REQUIRE(comparison->policies.size() == 2);
  CHECK(comparison->budget_unit == "tokens");
  CHECK(comparison->budgets.size() == 4);
  const PolicyResult& one = comparison->policies[0];
  const PolicyResult& three = comparison->policies[1];
  CHECK(three.against_first.low > 0.3);
  CHECK(three.first_at_budget.back().low > 0.1);
  CHECK(one.surrogate_ideas > 0.5);  // the recording has four ideas for the module
  CHECK(three.surrogate_ideas == 0);
  CHECK(three.found == 1);
  CHECK(three.finish_reasons.at("rounds") == 20);
}

TEST_CASE("a policy differs from itself by nothing at all", "[unit]") {
  const auto comparison = Compare(Trees(2), {Named("a", 2), Named("b", 2)}, {10, 5, {}, nullptr});
  REQUIRE(comparison.ok());
  const Interval& difference = comparison->policies[1].against_first;
  CHECK(difference.mean == 0);
  CHECK(difference.low == 0);
  CHECK(difference.high == 0);
  CHECK(comparison->trees == 2);
}

TEST_CASE("95 % intervals hold the true mean about that often", "[unit]") {
  std::mt19937_64 random(2);
  std::normal_distribution<double> noise(3.0, 1.0);
  int held = 0;
  constexpr int kTrials = 200;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<std::vector<double>> values(1);
    for (int i = 0; i < 40; ++i) values[0].push_back(noise(random));
    const Interval interval = Bootstrap(values, static_cast<uint64_t>(trial));
    held += interval.low <= 3.0 && 3.0 <= interval.high ? 1 : 0;
  }
  CHECK(held >= 175);
  CHECK(held <= 199);
}

TEST_CASE("between several trees the interval is wider than within one", "[unit]") {
  const std::vector<std::vector<double>> apart = {{1, 1, 1}, {5, 5, 5}, {9, 9, 9}};
  const Interval interval = Bootstrap(apart, 1);
  CHECK(interval.mean == Approx(5));
  CHECK(interval.high - interval.low > 2);
  const Interval alone = Bootstrap({{5, 5, 5}}, 1);
  CHECK(alone.low == 5);
  CHECK(alone.high == 5);
}

TEST_CASE("without tokens the budget is GPU time; an interruption ends a comparison", "[unit]") {
  v1::Recording recording = Climbing();
  recording.clear_calls();
  auto tree = RecordedTree::Make(recording);
  REQUIRE(tree.ok());
  const auto comparison = Compare({*tree}, {Named("a", 1)}, {2, 1, {}, nullptr});
  REQUIRE(comparison.ok());
  CHECK(comparison->budget_unit == "gpu_seconds");
  CHECK(comparison->budgets.back() > 0);
  ComparisonOptions stopped{5, 1, {}, [](int done, int total) {
                              CHECK(total == 5);
                              return done == 2 ? absl::CancelledError("interrupted") : absl::OkStatus();
                            }};
  CHECK(Compare({*tree}, {Named("a", 1)}, stopped).status().code() == absl::StatusCode::kCancelled);
  CHECK_FALSE(Compare({}, {Named("a", 1)}, {}).ok());
  CHECK_FALSE(Compare({*tree}, {}, {}).ok());
}

}  // namespace
}  // namespace warpsmith::replay
