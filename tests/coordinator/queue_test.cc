// The queue's promises against a real PostgreSQL: one holder, one recorded completion, nothing lost.
#include <atomic>
#include <catch2/catch.hpp>
#include <set>
#include <thread>

#include "coordinator/queue/postgres_task_queue.h"
#include "tests/coordinator/database_fixture.h"

namespace warpsmith::queue {
namespace {

using testing::DatabaseFixture;
using testing::PostgresServer;

const Owner kAlice{"alice", "boot1"};
const Owner kBob{"bob", "boot1"};

struct QueueFixture : DatabaseFixture {
  explicit QueueFixture(QueueSettings settings = {}) : queue(settings) {}

  int64_t Put(const std::string& key, TaskSpec spec = {}) {
    spec.dedupe_key = key;
    spec.search_id = spec.search_id.empty() ? "s" : spec.search_id;
    return Run<int64_t>([&](store::Transaction& transaction) { return queue.Put(transaction, spec); });
  }
  std::vector<Task> Claim(const Owner& owner, int limit = 10, const std::string& device_class = "emulated") {
    return Run<std::vector<Task>>([&](store::Transaction& transaction) {
      return queue.Claim(transaction, owner, {TaskKind::kEvaluate, TaskKind::kIntake}, device_class, limit);
    });
  }
  std::vector<Task> Complete(std::vector<Completion> completions) {
    return Run<std::vector<Task>>(
        [&](store::Transaction& transaction) { return queue.Complete(transaction, completions); });
  }
  std::vector<Task> Rescue() {
    return Run<std::vector<Task>>([&](store::Transaction& transaction) { return queue.Rescue(transaction); });
  }
  std::vector<Task> Fail(const TaskKey& key) {
    return Run<std::vector<Task>>(
        [&](store::Transaction& transaction) { return queue.Fail(transaction, key, "broken"); });
  }
  std::vector<TaskKey> Renew(const Owner& owner, const std::vector<TaskKey>& keys) {
    return Run<std::vector<TaskKey>>(
        [&](store::Transaction& transaction) { return queue.Renew(transaction, owner, keys); });
  }
  void ExpireLeases() { Query("UPDATE task SET lease_until = now() - interval '1 s' WHERE state = 'running'"); }
  void ExpireDeadlines() { Query("UPDATE task SET deadline = now() - interval '1 s' WHERE state = 'running'"); }
  std::string State(int64_t id) { return Query("SELECT state FROM task WHERE id = " + std::to_string(id)); }

  PostgresTaskQueue queue;
};

TaskKey KeyOf(const Task& task) { return {task.id, task.epoch}; }

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

TEST_CASE("ordinary failures wait longer each time and end in quarantine", "[pg]") {
  QueueFixture fixture;
  const int64_t id = fixture.Put("a");
  for (int failure = 1; failure <= 3; ++failure) {
    const Task task = fixture.Claim(kAlice).at(0);
    const auto failed = fixture.Fail(KeyOf(task));
    REQUIRE(failed.size() == 1);
    CHECK(failed[0].failures == failure);
    CHECK(failed[0].worker_deaths == 0);
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

TEST_CASE("a transaction that dies takes its completion with it", "[pg]") {
  QueueFixture fixture;
  const int64_t id = fixture.Put("a");
  const Task task = fixture.Claim(kAlice).at(0);
  absl::Status status = fixture.database.Write([&](store::Transaction& transaction) -> absl::Status {
    WARPSMITH_RETURN_IF_ERROR(fixture.queue.Complete(transaction, {{KeyOf(task), ""}}).status());
    PostgresServer::Shared().TerminateConnections(fixture.conninfo);
    return absl::OkStatus();
  });
  CHECK(absl::IsUnavailable(status));
  CHECK(fixture.State(id) == "running");
  CHECK(fixture.Complete({{KeyOf(task), ""}}).size() == 1);
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
