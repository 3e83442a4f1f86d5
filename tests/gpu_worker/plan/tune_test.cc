#include "gpu_worker/plan/tune.h"

#include <catch2/catch.hpp>
#include <set>

namespace warpsmith::plan {
namespace {

Plan WithTune(std::vector<TuneParameter> tune) {
  Plan plan;
  plan.tune = std::move(tune);
  plan.options = {"--use_fast_math"};
  return plan;
}

TEST_CASE("a plan without tune has one variant", "[unit]") {
  auto variants = TuneVariants(WithTune({}), 10);
  REQUIRE(variants.size() == 1);
  CHECK(variants[0].empty());
  CHECK(TuneVariants(WithTune({}), 0).size() == 1);
}

TEST_CASE("variants begin with the first values and go outwards", "[unit]") {
  Plan plan = WithTune({{"A", {1, 2, 3}}, {"B", {10, 20}}});
  const std::vector<TuneAssignment> expected = {{{"A", 1}, {"B", 10}}, {{"A", 2}, {"B", 10}}, {{"A", 3}, {"B", 10}},
                                                {{"A", 1}, {"B", 20}}, {{"A", 2}, {"B", 20}}, {{"A", 3}, {"B", 20}}};
  CHECK(TuneVariants(plan, 100) == expected);
  CHECK(TuneVariants(plan, 4) == std::vector<TuneAssignment>(expected.begin(), expected.begin() + 4));
  CHECK(TuneVariants(plan, 0).size() == 1);
}

TEST_CASE("all variants are different, and bounded for any size", "[unit]") {
  std::vector<TuneParameter> tune;
  for (char name = 'A'; name <= 'H'; ++name) {
    TuneParameter parameter{std::string(1, name), {}};
    for (int64_t i = 0; i < 32; ++i) parameter.values.push_back(i);
    tune.push_back(parameter);
  }
  auto variants = TuneVariants(WithTune(tune), 1000);  // of 32^8
  CHECK(variants.size() == 1000);
  CHECK(std::set<TuneAssignment>(variants.begin(), variants.end()).size() == 1000);
  // Each single value is tried before pairs.
  for (size_t i = 0; i < 1 + 8 * 31; ++i) {
    int changed = 0;
    for (const auto& [name, value] : variants[i]) changed += value != 0;
    CHECK(changed == (i == 0 ? 0 : 1));
  }
  tune.resize(3);
  for (TuneParameter& parameter : tune) parameter.values.resize(3);
  variants = TuneVariants(WithTune(tune), 1000);
  CHECK(variants.size() == 27);
  CHECK(std::set<TuneAssignment>(variants.begin(), variants.end()).size() == 27);
}

TEST_CASE("an assignment becomes -D options after the plan's own", "[unit]") {
  CHECK(CompilerOptions(WithTune({{"A", {1}}}), {{"A", -1}, {"B", 2}}) ==
        std::vector<std::string>{"--use_fast_math", "-DA=-1", "-DB=2"});
}

}  // namespace
}  // namespace warpsmith::plan
