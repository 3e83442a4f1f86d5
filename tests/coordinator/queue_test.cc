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
