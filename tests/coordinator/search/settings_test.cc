#include "coordinator/search/settings.h"

#include <catch2/catch.hpp>
#include <limits>

namespace warpsmith::search {

TEST_CASE("presets and defaults", "[unit]") {
  v1::SearchSettings settings;
  auto values = ResolveSettings(settings);
  REQUIRE(values.ok());
  CHECK(values->strategy == "branching");
  CHECK(values->rounds == 5);
  CHECK(values->parents == 3);
  CHECK(values->ideas == 3);
  CHECK(values->implementations == 3);
  CHECK(values->repairs == 2);
  CHECK(values->round_deadline_seconds == 1800);
  CHECK(values->round_close_share == 0.9);

  settings.set_preset("quick");
  settings.set_implementations(7);
  settings.set_repairs(-1);
  values = ResolveSettings(settings);
  REQUIRE(values.ok());
  CHECK(values->parents == 2);
  CHECK(values->ideas == 2);
  CHECK(values->implementations == 7);
  CHECK(values->repairs == 0);

  settings.set_preset("deep");
  CHECK(ResolveSettings(settings)->parents == 4);
}

TEST_CASE("islands, migration and the roofline", "[unit]") {
  v1::SearchSettings settings;
  CHECK(ResolveSettings(settings)->islands == 3);
  CHECK(ResolveSettings(settings)->migration_rounds == 2);
  CHECK(ResolveSettings(settings)->stop_at_roofline_share == 0.95);
  settings.set_parents(1);
  CHECK(ResolveSettings(settings)->islands == 2);
  settings.set_parents(64);
  CHECK(ResolveSettings(settings)->islands == 8);
  settings.set_islands(1);
  settings.set_migration_rounds(-1);
  settings.set_stop_at_roofline_share(0);
  CHECK(ResolveSettings(settings)->islands == 1);
  CHECK(ResolveSettings(settings)->migration_rounds == 0);
  CHECK(ResolveSettings(settings)->stop_at_roofline_share == 0);
  for (const std::string& name : StrategyNames()) {
    settings.set_strategy(name);
    CHECK(ResolveSettings(settings)->strategy == name);
  }
}

TEST_CASE("a round costs the same with every strategy", "[unit]") {
  SearchValues values;
  CHECK(CallsARound(values) == 30);
  values.parents = values.ideas = values.implementations = 64;
  CHECK(CallsARound(values) == 64 * 4097);
}

TEST_CASE("a wrong setting is named", "[unit]") {
  v1::SearchSettings settings;
  std::string field;
  SECTION("strategy") { settings.set_strategy(field = "greedy"); }
  SECTION("those there are") { settings.set_strategy("greedy"), field = "branching, sequential, best_of_n, evolve"; }
  SECTION("preset") { settings.set_preset(field = "huge"); }
  SECTION("rounds") { settings.set_rounds(-1), field = "settings.rounds"; }
  SECTION("parents") { settings.set_parents(65), field = "settings.parents"; }
  SECTION("repairs") { settings.set_repairs(-2), field = "settings.repairs"; }
  SECTION("max_usd") { settings.set_max_usd(-1), field = "settings.max_usd"; }
  SECTION("max_gpu_hours") { settings.set_max_gpu_hours(std::numeric_limits<double>::quiet_NaN()), field = "max_gpu"; }
  SECTION("deadline") { settings.set_round_deadline_seconds(-5), field = "round_deadline_seconds"; }
  SECTION("islands") { settings.set_islands(65), field = "settings.islands"; }
  SECTION("migration") { settings.set_migration_rounds(-2), field = "settings.migration_rounds"; }
  SECTION("roofline") { settings.set_stop_at_roofline_share(1.01), field = "settings.stop_at_roofline_share"; }
  SECTION("no roofline") {
    settings.set_stop_at_roofline_share(std::numeric_limits<double>::quiet_NaN());
    field = "settings.stop_at_roofline_share";
  }
  SECTION("baselines") { settings.set_baselines("none"), field = "settings.baselines"; }
  SECTION("share") { settings.set_round_close_share(1.5), field = "round_close_share"; }
  SECTION("model_choice") { settings.set_model_choice("oracle"), field = "model_choice"; }
  SECTION("a split without its choice") { (*settings.mutable_model_split())["m"] = 1, field = "model_split"; }
  SECTION("a negative weight") {
    settings.set_model_choice("fixed_split");
    (*settings.mutable_model_split())["dear"] = -1;
    field = "model_split[\"dear\"]";
  }
  SECTION("no weight at all") {
    settings.set_model_choice("fixed_split");
    (*settings.mutable_model_split())["m"] = 0;
    field = "model_split";
  }
  auto values = ResolveSettings(settings);
  REQUIRE(!values.ok());
  CHECK_THAT(Message(values.status()), Catch::Contains(field));
}

}  // namespace warpsmith::search
