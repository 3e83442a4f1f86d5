// The queue's promises against a real PostgreSQL: one holder, one recorded completion, nothing lost.
#include <atomic>
#include <catch2/catch.hpp>
#include <set>
#include <thread>

#include "tests/coordinator/queue_fixture.h"

namespace warpsmith::queue {
namespace {

TEST_CASE("a task is put in once, claimed by one, completed once", "[pg]") {
  QueueFixture fixture;
  const int64_t id = fixture.Put("a");
  CHECK(id > 0);
  CHECK(fixture.Put("a") == 0);
  const auto claimed = fixture.Claim(kAlice);
  REQUIRE(claimed.size() == 1);
  CHECK(claimed[0].epoch == 1);
  CHECK(fixture.Claim(kBob).empty());
  CHECK(fixture.Complete({{KeyOf(claimed[0]), ""}}).size() == 1);
  CHECK(fixture.Complete({{KeyOf(claimed[0]), ""}}).empty());
  CHECK(fixture.State(id) == "done");
  CHECK(fixture.queue.counters().completions == 1);
  CHECK(fixture.queue.counters().stale_completions == 1);
  const auto done = fixture.Run<std::vector<TaskKey>>([&](store::Transaction& transaction) {
    return fixture.queue.AlreadyDone(transaction, {KeyOf(claimed[0]), {id, 7}});
  });
  CHECK(done == std::vector<TaskKey>{KeyOf(claimed[0])});
}

TEST_CASE("claims follow priority, then age, and suit the device", "[pg]") {
  QueueFixture fixture;
  const int64_t first = fixture.Put("first");
  TaskSpec urgent;
  urgent.priority = -1;
  const int64_t second = fixture.Put("urgent", urgent);
  TaskSpec gpu;
  gpu.device_class = "H200";
  const int64_t third = fixture.Put("gpu", gpu);
  TaskSpec model;
  model.kind = TaskKind::kPropose;
  fixture.Put("model", model);
  auto claimed = fixture.Claim(kAlice, 1);
  REQUIRE(claimed.size() == 1);
  CHECK(claimed[0].id == second);
  claimed = fixture.Claim(kAlice, 10);
  REQUIRE(claimed.size() == 1);
  CHECK(claimed[0].id == first);
  claimed = fixture.Claim(kBob, 10, "H200");
  REQUIRE(claimed.size() == 1);
  CHECK(claimed[0].id == third);
}

TEST_CASE("many claimers at once never get the same task, nor more than they ask for", "[pg]") {
  QueueFixture fixture;
  constexpr int kTasks = 200;
  for (int i = 0; i < kTasks; ++i) fixture.Put("t" + std::to_string(i));
  std::mutex mutex;
  std::multiset<int64_t> got;
  std::atomic<bool> too_many{false};
  std::vector<std::thread> claimers;
  for (int i = 0; i < 4; ++i) {
    claimers.emplace_back([&, i] {
      const Owner owner{"worker" + std::to_string(i), "b"};
      while (true) {
        const auto tasks = fixture.Claim(owner, 3);
        if (tasks.empty()) return;
        if (tasks.size() > 3) too_many = true;
        std::lock_guard lock(mutex);
        for (const Task& task : tasks) got.insert(task.id);
      }
    });
  }
  for (auto& claimer : claimers) claimer.join();
  CHECK(!too_many);
  CHECK(got.size() == kTasks);
  CHECK(std::set<int64_t>(got.begin(), got.end()).size() == kTasks);
}

TEST_CASE("while new work is held, problems and model calls stay, evaluations go on", "[pg]") {
  QueueFixture fixture;
  TaskSpec intake;
  intake.kind = TaskKind::kIntake;
  TaskSpec propose;
  propose.kind = TaskKind::kPropose;
  fixture.Put("intake", intake);
  fixture.Put("propose", propose);
  fixture.Put("evaluate");
  const auto call = [&] {
    return fixture.Run<std::vector<Task>>([&](store::Transaction& transaction) {
      return fixture.queue.Claim(transaction, {kCoordinatorWorker, "b"},
                                 {TaskKind::kPropose, TaskKind::kImplement, TaskKind::kRepair}, "", 1);
    });
  };
  fixture.queue.HoldNewWork(true);
  CHECK(call().empty());
  const auto claimed = fixture.Claim(kAlice);
  REQUIRE(claimed.size() == 1);
  CHECK(claimed[0].kind == TaskKind::kEvaluate);
  fixture.queue.HoldNewWork(false);
  CHECK(call().size() == 1);
  CHECK(fixture.Claim(kAlice).size() == 1);
}

TEST_CASE("a reader that holds a transaction open does not stop the queue", "[pg]") {
  QueueFixture fixture;
  fixture.Query("CREATE SEQUENCE reader_may_leave");
  fixture.Put("before");
  // Its snapshot keeps every dead row that follows. A sequence is seen whatever the snapshot.
  std::thread reader([&] {
    fixture.Query(
        "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM task; DO $$ BEGIN WHILE (SELECT last_value FROM "
        "reader_may_leave) < 2 LOOP PERFORM pg_sleep(0.02); END LOOP; END $$; COMMIT");
  });
  const auto reading = [&] {
    return fixture.Query(
               "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_xmin IS NOT "
               "NULL AND pid <> pg_backend_pid() AND query LIKE 'BEGIN ISOLATION%'") == "1";
  };
  for (int wait = 0; wait < 500 && !reading(); ++wait) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(reading());
  CHECK(fixture.Claim(kAlice).size() == 1);
  constexpr int kTasks = 3000;
  constexpr int kAtOnce = 100;
  for (int done = 0; done < kTasks; done += kAtOnce) {
    REQUIRE(fixture.database
                .Write([&](store::Transaction& transaction) -> absl::Status {
                  for (int i = done; i < done + kAtOnce; ++i) {
                    TaskSpec spec;
                    spec.search_id = "s";
                    spec.dedupe_key = "t" + std::to_string(i);
                    WARPSMITH_RETURN_IF_ERROR(fixture.queue.Put(transaction, spec).status());
                  }
                  return absl::OkStatus();
                })
                .ok());
    std::vector<Completion> completions;
    for (const Task& task : fixture.Claim(kBob, kAtOnce)) completions.push_back({KeyOf(task), ""});
    REQUIRE(completions.size() == kAtOnce);
    REQUIRE(fixture.Complete(completions).size() == kAtOnce);
  }
  CHECK(reading());
  // The reader's snapshot holds every dead row back, and a claim still is a matter of milliseconds.
  const auto before = std::chrono::steady_clock::now();
  for (int i = 0; i < 10; ++i) {
    fixture.Put("late" + std::to_string(i));
    const auto claimed = fixture.Run<std::vector<Task>>([&](store::Transaction& transaction) {
      return fixture.queue.ClaimForMany(transaction, {{kBob, {"emulated"}, 1}});
    });
    CHECK(claimed.size() == 1);
  }
  CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(10));
  fixture.Query("SELECT nextval('reader_may_leave'), nextval('reader_may_leave')");
  reader.join();
}

TEST_CASE("cancelling a search calls its tasks back and refuses their completions", "[pg]") {
  QueueFixture fixture;
  fixture.Put("a");
  const Task task = fixture.Claim(kAlice).at(0);
  fixture.Put("b");
  TaskSpec foreign;
  foreign.search_id = "other";
  const int64_t kept = fixture.Put("c", foreign);
  const auto cancelled = fixture.Run<std::vector<CancelledTask>>(
      [&](store::Transaction& transaction) { return fixture.queue.CancelSearch(transaction, "s", "cancelled"); });
  REQUIRE(cancelled.size() == 2);
  CHECK(cancelled[0].key == KeyOf(task));
  CHECK(cancelled[0].owner_worker == "alice");
  CHECK(fixture.Complete({{KeyOf(task), ""}}).empty());
  CHECK(fixture.State(kept) == "available");
}

TEST_CASE("completions are recorded in batches", "[pg]") {
  QueueFixture fixture;
  for (int i = 0; i < 100; ++i) fixture.Put("t" + std::to_string(i));
  std::vector<Completion> completions;
  for (const Task& task : fixture.Claim(kAlice, 100)) completions.push_back({KeyOf(task), "r"});
  REQUIRE(completions.size() == 100);
  CHECK(fixture.Complete(completions).size() == 100);
  CHECK(fixture.Query("SELECT count(*) FROM task WHERE state = 'done' AND result = 'r'") == "100");
}

}  // namespace
}  // namespace warpsmith::queue
