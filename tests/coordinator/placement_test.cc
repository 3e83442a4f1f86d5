// Which task goes to which device, against a real PostgreSQL; and what people are told when none does.
#include <catch2/catch.hpp>

#include "coordinator/api/explanation_placement.h"
#include "coordinator/queue/postgres_task_queue.h"
#include "tests/coordinator/database_fixture.h"

namespace warpsmith {
namespace {

using queue::Placement;
using queue::Task;
using queue::TaskKind;

constexpr int64_t kGiB = int64_t{1} << 30;

struct PlacementFixture : testing::DatabaseFixture {
  PlacementFixture() {
    Query("INSERT INTO blob (sha256, size, data) VALUES (repeat('a', 64), 1, 'x')");
    for (const char* id : {"p1", "p2"}) {
      Query(std::string("INSERT INTO problem (id, name, source_sha256, intake_settings) VALUES ('") + id + "', '" + id +
            "', repeat('a', 64), '')");
    }
  }
  // A search on a problem that needs so much memory.
  void Search(const std::string& id, const std::string& problem, int64_t bytes_min = 0, int priority = 0) {
    Query("INSERT INTO search (id, name, problem_id, state, settings, strategy, seed, bytes_min, priority) VALUES ('" +
          id + "', 's', '" + problem + "', 'running', '', 'branching', 1, " + std::to_string(bytes_min) + ", " +
          std::to_string(priority) + ")");
  }
  int64_t Put(const std::string& search, TaskKind kind = TaskKind::kEvaluate) {
    queue::TaskSpec spec;
    spec.kind = kind;
    spec.search_id = search;
    spec.dedupe_key = "t" + std::to_string(++keys_);
    return Run<int64_t>([&](store::Transaction& transaction) { return queue.Put(transaction, spec); });
  }
  std::vector<int64_t> Claim(const Placement& placement, int limit = 1) {
    const queue::Owner owner{"w", "b"};
    const std::vector<queue::Claimant> claimants{{owner, placement, limit}};
    const std::vector<TaskKind> kinds{TaskKind::kIntake, TaskKind::kEvaluate};
    const auto tasks = Run<std::vector<Task>>([&](store::Transaction& transaction) {
      if (together) return queue.ClaimForMany(transaction, claimants);
      return queue.Claim(transaction, owner, kinds, placement, limit);
    });
    std::vector<int64_t> ids;
    for (const Task& task : tasks) ids.push_back(task.id);
    return ids;
  }
  std::vector<int64_t> ClaimCalls() {
    const auto tasks = Run<std::vector<Task>>([&](store::Transaction& transaction) {
      return queue.Claim(transaction, {"c", "b"}, {TaskKind::kPropose, TaskKind::kImplement}, "", 10);
    });
    std::vector<int64_t> ids;
    for (const Task& task : tasks) ids.push_back(task.id);
    return ids;
  }
  void Age(int64_t id, int seconds) {
    Query("UPDATE task SET run_at = run_at - interval '" + std::to_string(seconds) +
          " s' WHERE id = " + std::to_string(id));
  }

  queue::PostgresTaskQueue queue{queue::QueueSettings{}};
  bool together = true;  // as the coordinator claims for its workers; else for one at a time

 private:
  int keys_ = 0;
};

using Tasks = std::vector<int64_t>;

TEST_CASE("a task goes to a device with memory for its problem", "[pg]") {
  PlacementFixture fixture;
  fixture.together = GENERATE(false, true);
  fixture.Search("big", "p1", 24 * kGiB);
  fixture.Search("unknown", "p2");
  const int64_t big = fixture.Put("big");
  const int64_t unknown = fixture.Put("unknown");
  CHECK(fixture.Claim({"L40S", 16 * kGiB, ""}, 10) == Tasks{unknown});
  CHECK(fixture.Claim({"L40S", 24 * kGiB - 1, ""}, 10).empty());
  CHECK(fixture.Claim({"L40S", 24 * kGiB, ""}, 10) == Tasks{big});
  // A worker that does not say takes everything.
  const int64_t again = fixture.Put("big");
  CHECK(fixture.Claim("H200", 10) == Tasks{again});
}

TEST_CASE("a device stays at its problem, but nobody waits for that longer than its bound", "[pg]") {
  PlacementFixture fixture;
  fixture.together = GENERATE(false, true);
  fixture.Search("a", "p1");
  fixture.Search("b", "p2");
  const int64_t first = fixture.Put("a");
  const int64_t second = fixture.Put("b");
  const int64_t third = fixture.Put("b");
  // The task of another problem is older, by less than the bound.
  fixture.Age(first, 20);
  CHECK(fixture.Claim({"H200", 0, "p2"}) == Tasks{second});
  CHECK(fixture.Claim({"H200", 0, ""}) == Tasks{first});
  const int64_t old = fixture.Put("a");
  fixture.Age(old, 40);
  CHECK(fixture.Claim({"H200", 0, "p2"}) == Tasks{old});
  CHECK(fixture.Claim({"H200", 0, "p2"}) == Tasks{third});
  // A stream of new tasks of the device's problem does not starve the others: it overtakes by the bound at most.
  const int64_t waiting = fixture.Put("a");
  fixture.Age(waiting, 29);
  CHECK(fixture.Claim({"H200", 0, "p2"}) == Tasks{waiting});
}

TEST_CASE("a batch's priority goes before age and the device's problem", "[pg]") {
  PlacementFixture fixture;
  fixture.Search("late", "p1", 0, 5);
  fixture.Search("early", "p2");
  fixture.Search("low", "p2", 0, -5);
  const int64_t low = fixture.Put("low");
  const int64_t early = fixture.Put("early");
  const int64_t late = fixture.Put("late");
  fixture.Age(low, 3600);
  CHECK(fixture.Claim({"H200", 0, "p2"}) == Tasks{late});
  CHECK(fixture.Claim({"H200", 0, "p2"}) == Tasks{early});
  CHECK(fixture.Claim({"H200", 0, "p2"}) == Tasks{low});
}

TEST_CASE("tasks of paused searches and of those that wait for a place are not claimed", "[pg]") {
  PlacementFixture fixture;
  fixture.Search("a", "p1");
  fixture.Search("b", "p2");
  const int64_t first = fixture.Put("a");
  const int64_t call = fixture.Put("a", TaskKind::kPropose);
  const int64_t other = fixture.Put("b");
  const auto hold = [&](const std::string& id) {
    fixture.Run<bool>([&](store::Transaction& transaction) -> absl::StatusOr<bool> {
      WARPSMITH_RETURN_IF_ERROR(transaction.Execute("task_hold_of_search", {id}).status());
      return true;
    });
  };
  fixture.Query("UPDATE search SET paused_at = now() WHERE id = 'a'");
  hold("a");
  const int64_t later = fixture.Put("a");  // inherits it
  CHECK(fixture.Claim("H200", 10) == Tasks{other});
  CHECK(fixture.ClaimCalls().empty());
  fixture.Query("UPDATE search SET paused_at = NULL, admitted = false WHERE id = 'a'");
  hold("a");
  CHECK(fixture.Claim("H200", 10).empty());
  fixture.Query("UPDATE search SET admitted = true WHERE id = 'a'");
  hold("a");
  CHECK(fixture.Claim("H200", 10) == Tasks{first, later});
  CHECK(fixture.ClaimCalls() == Tasks{call});
}

TEST_CASE("findings name what is missing, most important first", "[unit]") {
  using Catch::Contains;
  const auto only = [](const api::PlacementView& view) {
    const auto findings = api::PlacementFindings(view);
    REQUIRE(findings.size() == 1);
    return findings[0];
  };
  api::PlacementView view;
  CHECK(api::PlacementFindings(view).empty());
  view.waiting = {{"evaluate", "H200", 24 * kGiB, false, 3, 5}};
  CHECK_THAT(only(view), Contains("3 evaluations need a worker and none is connected"));
  view.workers = {{"L40S", 48 * kGiB, false, false}};
  CHECK_THAT(only(view), Contains("class H200") && Contains("there are: L40S"));
  view.workers.push_back({"H200", 16 * kGiB, false, false});
  CHECK_THAT(only(view), Contains("need 24.0 GiB") && Contains("H200 has 16.0 GiB"));
  view.workers.push_back({"H200", 141 * kGiB, true, false});
  CHECK_THAT(only(view), Contains("every worker that has one drains"));
  view.workers.push_back({"H200", 141 * kGiB, false, true});
  CHECK(api::PlacementFindings(view).empty());  // busy, but not for long
  view.waiting[0].oldest_seconds = 90;
  CHECK_THAT(only(view), Contains("busy") && Contains("90 s"));
  view.workers.push_back({"H200", 0, false, false});  // one whose memory is not known, and free
  CHECK(api::PlacementFindings(view).empty());
  // Held tasks are not blamed on workers.
  view.workers.clear();
  view.waiting[0].held = true;
  view.paused = true;
  view.batch_name = "nightly";
  view.batch_id = "0123456789";
  CHECK_THAT(only(view), Contains("nightly is paused") && Contains("resume 01234567"));
  view.paused = false;
  view.waits_for_round = true;
  view.round = 2;
  view.rounds = 5;
  CHECK_THAT(only(view), Contains("round 2 of 5"));
  view.day_spent = true;
  view.day_usd = view.max_day_usd = 10;
  view.waiting[0].held = false;
  const auto all = api::PlacementFindings(view);
  REQUIRE(all.size() == 3);
  CHECK_THAT(all[1], Contains("budget of the day") && Contains("$10.00 of $10.00"));
  CHECK_THAT(all[2], Contains("none is connected"));
}

}  // namespace
}  // namespace warpsmith
