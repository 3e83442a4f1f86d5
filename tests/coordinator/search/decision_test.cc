#include "coordinator/search/decision.h"

#include <catch2/catch.hpp>
#include <set>

namespace warpsmith::search {

TEST_CASE("actions to JSON and back", "[unit]") {
  const std::vector<Action> actions = {Propose{"", 9, 1}, Propose{"c", 3, 2, 4},    Implement{"i", 3, {0, 2}, 1},
                                       Repair{"c", 1},    Evaluate{"c", "confirm"}, CloseRound{1},
                                       Finish{"rounds"}};
  const std::string json = ActionsToJson(actions);
  CHECK_THAT(json, Catch::Contains(R"({"action":"propose","count":9,"parent_id":"","round":1})"));
  auto parsed = ActionsFromJson(json);
  REQUIRE(parsed.ok());
  CHECK(*parsed == actions);
  CHECK(ActionsFromJson("[]")->empty());
  CHECK_THAT(json, Catch::Contains(R"({"action":"propose","count":3,"island":4,"parent_id":"c","round":2})"));
  CHECK(Describe(actions[0]) == "propose 9 ideas from the module (round 1)");
  CHECK(Describe(actions[1]) == "propose 3 ideas from c (round 2, island 4)");
}

TEST_CASE("damaged action logs are refused by place and field", "[unit]") {
  CHECK_THAT(Message(ActionsFromJson(R"([{"action":"finish","reason":"x"},{"action":"repair","attempt":1}])").status()),
             Catch::Contains("action 1") && Catch::Contains("candidate_id"));
  CHECK_THAT(Message(ActionsFromJson(R"([{"action":"close_round","round":1.5}])").status()), Catch::Contains("round"));
  CHECK_THAT(Message(ActionsFromJson(R"([{"action":"close_round","round":99999999999}])").status()),
             Catch::Contains("round"));
  CHECK(!ActionsFromJson(R"([{"action":"fly"}])").ok());
  CHECK_THAT(
      Message(ActionsFromJson(R"([{"action":"propose","count":1,"parent_id":"","round":1,"island":"x"}])").status()),
      Catch::Contains("island"));
  CHECK(!ActionsFromJson(R"({"action":"finish"})").ok());
  CHECK(!ActionsFromJson("[").ok());
}

TEST_CASE("the snapshot's hash sees every part and stands still", "[unit]") {
  Snapshot snapshot;
  snapshot.search_id = "s";
  const std::string empty = SnapshotHash(snapshot);
  CHECK(empty.size() == 64);
  CHECK(empty == SnapshotHash(snapshot));
  std::vector<Snapshot> changed(10, snapshot);
  changed[0].round = 2;
  changed[1].values.repairs = 1;
  changed[2].candidates.resize(1);
  changed[3].ideas.resize(1);
  changed[4].tasks.resize(1);
  changed[5].usage.usd = 0.25;
  changed[6].exhausted_parents = {""};
  changed[7].values.islands = 7;
  changed[8].values.migration_rounds = 0;
  changed[9].values.stop_at_roofline_share = 0;
  std::set<std::string> hashes = {empty};
  for (const Snapshot& other : changed) hashes.insert(SnapshotHash(other));
  CHECK(hashes.size() == 11);
  Snapshot viewed = snapshot;
  viewed.candidates.resize(1);
  viewed.ideas.resize(1);
  const std::string plain = SnapshotHash(viewed);
  viewed.candidates[0].roofline_share = 0.5;
  const std::string rated = SnapshotHash(viewed);
  viewed.ideas[0].island = 2;
  CHECK(std::set<std::string>({plain, rated, SnapshotHash(viewed)}).size() == 3);
  // A model's broken text must not stop a decision.
  snapshot.ideas.resize(1);
  snapshot.ideas[0].title = "\xff\xfe";
  CHECK(SnapshotHash(snapshot).size() == 64);
}

}  // namespace warpsmith::search
