// What becomes of tasks whose holders die, stall or fail: fenced, tried again, counted for what it was, quarantined.
#include <catch2/catch.hpp>

#include "tests/coordinator/queue_fixture.h"

namespace warpsmith::queue {
namespace {

TEST_CASE("a zombie with the old epoch is refused, the owner is recorded once", "[pg]") {
  QueueFixture fixture;
  const int64_t id = fixture.Put("a");
  const Task old = fixture.Claim(kAlice).at(0);
  fixture.ExpireLeases();
  auto rescued = fixture.Rescue();
  REQUIRE(rescued.size() == 1);
  CHECK(rescued[0].worker_deaths == 1);
  CHECK(rescued[0].failures == 0);
  CHECK_THAT(rescued[0].last_error, Catch::Contains("alice") && Catch::Contains("lease"));
  const Task fresh = fixture.Claim(kBob).at(0);
  CHECK(fresh.epoch == old.epoch + 1);
  CHECK(fixture.Complete({{KeyOf(old), ""}}).empty());
  CHECK(fixture.Fail(KeyOf(old)).empty());
  CHECK(fixture.State(id) == "running");
  const auto done = fixture.Complete({{KeyOf(old), ""}, {KeyOf(fresh), ""}});
  REQUIRE(done.size() == 1);
  CHECK(done[0].owner_worker == "bob");
}

TEST_CASE("a late completion counts while nobody else has claimed the task", "[pg]") {
  QueueFixture fixture;
  fixture.Put("a");
  const Task task = fixture.Claim(kAlice).at(0);
  fixture.ExpireLeases();
  CHECK(fixture.Rescue().size() == 1);
  CHECK(fixture.Complete({{KeyOf(task), ""}}).size() == 1);
}

TEST_CASE("leases are renewed for their holder only, and taken back after a stall", "[pg]") {
  QueueFixture fixture;
  fixture.Put("a");
  fixture.Put("b");
  const auto tasks = fixture.Claim(kAlice);
  REQUIRE(tasks.size() == 2);
  const std::vector<TaskKey> keys{KeyOf(tasks[0]), KeyOf(tasks[1])};
  fixture.ExpireLeases();
  CHECK(fixture.Renew(kAlice, keys).size() == 2);
  CHECK(fixture.Rescue().empty());
  CHECK(fixture.Renew(kBob, keys).empty());
  CHECK(fixture.Renew({"alice", "boot2"}, keys).empty());
  CHECK(fixture.Renew(kAlice, {{keys[0].id, 7}}).empty());

  fixture.ExpireLeases();
  CHECK(fixture.Rescue().size() == 2);
  REQUIRE(fixture.Claim(kBob, 1).size() == 1);
  const auto back = fixture.Renew(kAlice, keys);
  REQUIRE(back.size() == 1);
  CHECK(back[0] == keys[1]);
  CHECK(fixture.Claim(kBob).empty());
}

TEST_CASE("past its deadline a task is lost to a live worker, with another text", "[pg]") {
  QueueFixture fixture;
  fixture.Put("a");
  const Task task = fixture.Claim(kAlice).at(0);
  fixture.ExpireDeadlines();
  CHECK(fixture.Renew(kAlice, {KeyOf(task)}).size() == 1);
  const auto rescued = fixture.Rescue();
  REQUIRE(rescued.size() == 1);
  CHECK(rescued[0].failures == 1);
  CHECK(rescued[0].worker_deaths == 0);
  CHECK_THAT(rescued[0].last_error, Catch::Contains("answers") && Catch::Contains("deadline"));
  CHECK(fixture.Renew(kAlice, {KeyOf(task)}).empty());
  CHECK(fixture.queue.counters().rescued_deadlines == 1);
}

TEST_CASE("a task that kills workers is quarantined; its deaths are not failures", "[pg]") {
  QueueFixture fixture;
  const int64_t id = fixture.Put("a");
  for (int death = 1; death <= 3; ++death) {
    REQUIRE(fixture.Claim({"w" + std::to_string(death), "b"}).size() == 1);
    fixture.ExpireLeases();
    const auto rescued = fixture.Rescue();
    REQUIRE(rescued.size() == 1);
    CHECK(rescued[0].worker_deaths == death);
    CHECK(rescued[0].failures == 0);
    CHECK((rescued[0].state == TaskState::kQuarantined) == (death == 3));
  }
  CHECK(fixture.State(id) == "quarantined");
  CHECK(fixture.Claim(kAlice).empty());
  CHECK(fixture.Rescue().empty());
  CHECK(fixture.queue.counters().quarantined == 1);
}

TEST_CASE("one worker that dies over and over is doubted before the task is", "[pg]") {
  QueueFixture fixture;
  const int64_t id = fixture.Put("a");
  for (int death = 1; death <= 6; ++death) {
    INFO(death);
    REQUIRE(fixture.Claim({"sick", "b" + std::to_string(death)}).size() == 1);
    fixture.ExpireLeases();
    const auto rescued = fixture.Rescue();
    REQUIRE(rescued.size() == 1);
    CHECK((rescued[0].state == TaskState::kQuarantined) == (death == 6));
  }
  CHECK(fixture.Query("SELECT killed_workers, worker_deaths FROM task") == "{sick}|6");
  // Each death has its line.
  CHECK(fixture.Query("SELECT length(log) - length(replace(log, E'\\n', '')) FROM task WHERE id = " +
                      std::to_string(id)) == "6");
}

TEST_CASE("a worker that stalled has not died, and keeps its deadline", "[pg]") {
  QueueFixture fixture;
  fixture.Put("a");
  const Task task = fixture.Claim(kAlice).at(0);
  const std::string deadline = fixture.Query("SELECT deadline FROM task");
  fixture.ExpireLeases();
  REQUIRE(fixture.Rescue().size() == 1);
  CHECK(fixture.Query("SELECT worker_deaths, killed_workers, deadline IS NULL FROM task") == "1|{alice}|t");
  CHECK(fixture.Renew(kAlice, {KeyOf(task)}).size() == 1);
  CHECK(fixture.Query("SELECT worker_deaths, killed_workers FROM task") == "0|{}");
  CHECK(fixture.Query("SELECT deadline FROM task") == deadline);
}

TEST_CASE("what an earlier boot had finished belongs to the next one of the same worker", "[pg]") {
  QueueFixture fixture;
  fixture.Put("finished");
  fixture.Put("unfinished");
  const auto tasks = fixture.Claim(kAlice);
  REQUIRE(tasks.size() == 2);
  const Owner reborn{"alice", "boot2"};
  const auto adopt = [&](const Owner& owner, const TaskKey& key) {
    return fixture.Run<std::vector<TaskKey>>(
        [&](store::Transaction& transaction) { return fixture.queue.Adopt(transaction, owner, {key}); });
  };
  CHECK(adopt({"bob", "boot2"}, KeyOf(tasks[0])).empty());
  CHECK(adopt(reborn, {tasks[0].id, 7}).empty());
  SECTION("soon") { CHECK(adopt(reborn, KeyOf(tasks[0])).size() == 1); }
  SECTION("after its lease had run out") {
    fixture.ExpireLeases();
    REQUIRE(fixture.Rescue().size() == 2);
    CHECK(adopt(reborn, KeyOf(tasks[0])).size() == 1);
    CHECK(fixture.Query("SELECT worker_deaths FROM task WHERE dedupe_key = 'finished'") == "0");
    return;
  }
  const auto freed = fixture.Run<std::vector<Task>>(
      [&](store::Transaction& transaction) { return fixture.queue.FreeOtherBoots(transaction, reborn, true); });
  REQUIRE(freed.size() == 1);
  CHECK(freed[0].id == tasks[1].id);
  CHECK(fixture.Query("SELECT owner_boot, worker_deaths FROM task WHERE dedupe_key = 'finished'") == "boot2|0");
  CHECK(fixture.Complete({{KeyOf(tasks[0]), ""}}).size() == 1);
}

TEST_CASE("ordinary failures wait longer each time and end in quarantine", "[pg]") {
  QueueFixture fixture;
  const int64_t id = fixture.Put("a");
  for (int failure = 1; failure <= 3; ++failure) {
    const Task task = fixture.Claim(kAlice).at(0);
    const auto failed = fixture.Fail(KeyOf(task));
    REQUIRE(failed.size() == 1);
    CHECK(failed[0].failures == failure);
    CHECK(failed[0].worker_deaths == 0);
    CHECK(fixture.Fail(KeyOf(task)).empty());  // sent again by a worker that got no acknowledgement
    if (failure < 3) {
      CHECK(fixture.Claim(kAlice).empty());
      const double wait = std::stod(fixture.Query("SELECT extract(epoch FROM run_at - now()) FROM task"));
      CHECK(wait > (failure == 1 ? 0.3 : 1.0));
      fixture.Query("UPDATE task SET run_at = now()");
    }
  }
  CHECK(fixture.State(id) == "quarantined");
}

TEST_CASE("a released task costs nothing and comes back after its delay", "[pg]") {
  QueueFixture fixture;
  fixture.Put("a");
  const Task task = fixture.Claim(kAlice).at(0);
  const auto release = [&](const TaskKey& key, double delay) {
    REQUIRE(fixture.database
                .Write([&](store::Transaction& transaction) {
                  return fixture.queue.Release(transaction, {key}, delay, "the gateway is gone");
                })
                .ok());
  };
  release({task.id, task.epoch + 1}, 0);
  CHECK(fixture.State(task.id) == "running");
  release(KeyOf(task), 30);
  CHECK(fixture.State(task.id) == "available");
  CHECK(fixture.Claim(kBob).empty());
  fixture.Query("UPDATE task SET run_at = now()");
  const Task again = fixture.Claim(kBob).at(0);
  CHECK(again.failures == 0);
  CHECK(again.worker_deaths == 0);
}

TEST_CASE("another boot of the same worker frees what the old one held", "[pg]") {
  QueueFixture fixture;
  fixture.Put("a");
  const Task task = fixture.Claim(kAlice).at(0);
  fixture.Put("b");
  const Task other = fixture.Claim(kBob).at(0);
  const auto freed = fixture.Run<std::vector<Task>>([&](store::Transaction& transaction) {
    return fixture.queue.FreeOtherBoots(transaction, {"alice", "boot2"}, true);
  });
  REQUIRE(freed.size() == 1);
  CHECK(freed[0].id == task.id);
  CHECK(freed[0].worker_deaths == 1);
  CHECK(fixture.State(other.id) == "running");
  CHECK(fixture.Renew(kAlice, {KeyOf(task)}).empty());
}

TEST_CASE("a transaction that dies takes its completion with it", "[pg]") {
  QueueFixture fixture;
  const int64_t id = fixture.Put("a");
  const Task task = fixture.Claim(kAlice).at(0);
  absl::Status status = fixture.database.Write([&](store::Transaction& transaction) -> absl::Status {
    WARPSMITH_RETURN_IF_ERROR(fixture.queue.Complete(transaction, {{KeyOf(task), ""}}).status());
    testing::PostgresServer::Shared().TerminateConnections(fixture.conninfo);
    return absl::OkStatus();
  });
  CHECK(absl::IsUnavailable(status));
  CHECK(fixture.State(id) == "running");
  CHECK(fixture.Complete({{KeyOf(task), ""}}).size() == 1);
}

}  // namespace
}  // namespace warpsmith::queue
