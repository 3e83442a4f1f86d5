// Work for many workers at once: who gets which task, and that leases are renewed for their owners alone.
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "coordinator/queue/postgres_task_queue.h"
#include "tests/coordinator/database_fixture.h"

namespace warpsmith::queue {
namespace {

using ManyFixture = testing::DatabaseFixture;

std::vector<size_t> ClaimantsOf(const std::vector<Pair>& pairs) {
  std::vector<size_t> claimants;
  for (const Pair& pair : pairs) claimants.push_back(pair.claimant);
  return claimants;
}
std::vector<int64_t> TasksOf(const std::vector<Pair>& pairs) {
  std::vector<int64_t> tasks;
  for (const Pair& pair : pairs) tasks.push_back(pair.task_id);
  return tasks;
}

Claimant Wants(const std::string& worker, int free, const std::string& last_problem = "") {
  return {{worker, "boot"}, {"emulated", 0, last_problem}, free};
}

TEST_CASE("tasks are dealt out in turn, first in line first", "[unit]") {
  const std::vector<WaitingTask> line = {{1, -5, 100, "p"}, {2, 0, 10, "q"}, {3, 0, 20, "p"}, {4, 0, 30, "q"}};
  const auto pairs = PairTasks(line, {Wants("a", 3), Wants("b", 0), Wants("c", 2)}, 30);
  CHECK(TasksOf(pairs) == std::vector<int64_t>{1, 2, 3, 4});
  CHECK(ClaimantsOf(pairs) == std::vector<size_t>{0, 2, 0, 2});
  CHECK(PairTasks(line, {Wants("a", 1)}, 30).size() == 1);
  CHECK(PairTasks({}, {Wants("a", 1)}, 30).empty());
  CHECK(PairTasks(line, {}, 30).empty());
}

TEST_CASE("a worker goes on with its problem, unless others wait too long or are more urgent", "[unit]") {
  const auto second = [](int64_t n) { return n * 1000000; };
  const std::vector<WaitingTask> line = {{1, 0, second(0), "p"}, {2, 0, second(29), "q"}, {3, 0, second(31), "r"}};
  CHECK(TasksOf(PairTasks(line, {Wants("a", 1, "q")}, 30)) == std::vector<int64_t>{2});
  CHECK(TasksOf(PairTasks(line, {Wants("a", 1, "r")}, 30)) == std::vector<int64_t>{1});
  CHECK(TasksOf(PairTasks(line, {Wants("a", 3, "q")}, 30)) == std::vector<int64_t>{2, 1, 3});
  const std::vector<WaitingTask> urgent = {{7, -1, second(5), "p"}, {8, 0, second(0), "q"}};
  CHECK(TasksOf(PairTasks(urgent, {Wants("a", 1, "q")}, 30)) == std::vector<int64_t>{7});
  // Two workers on two problems each get their own.
  const std::vector<WaitingTask> two = {{1, 0, second(0), "p"}, {2, 0, second(1), "q"}};
  CHECK(TasksOf(PairTasks(two, {Wants("a", 1, "q"), Wants("b", 1, "p")}, 30)) == std::vector<int64_t>{2, 1});
}

TEST_CASE("what failed at a worker is left to the others of its kind, where there are any", "[unit]") {
  const std::vector<WaitingTask> line = {{1, 0, 0, "p", "a"}, {2, 0, 1, "p", ""}, {3, 0, 2, "q", "a"}};
  Claimant a = Wants("a", 3, "q"), b = Wants("b", 3);
  CHECK(TasksOf(PairTasks(line, {a}, 30)) == std::vector<int64_t>{3, 1, 2});  // alone
  a.others = b.others = true;
  CHECK(TasksOf(PairTasks(line, {a}, 30)) == std::vector<int64_t>{2});  // the others are busy
  const auto pairs = PairTasks(line, {a, b}, 30);
  CHECK(TasksOf(pairs) == std::vector<int64_t>{2, 1, 3});
  CHECK(ClaimantsOf(pairs) == std::vector<size_t>{0, 1, 1});
}

TEST_CASE("a task is tried again elsewhere, and where it failed only when nobody else takes it for a while", "[pg]") {
  ManyFixture fixture;
  PostgresTaskQueue queue({});
  TaskSpec spec;
  spec.dedupe_key = "t";
  spec.search_id = "s";
  spec.kind = TaskKind::kIntake;
  fixture.Run<int64_t>([&](store::Transaction& transaction) { return queue.Put(transaction, spec); });
  const auto claim = [&](const std::string& worker) {
    Claimant claimant = Wants(worker, 1);
    claimant.others = true;
    return fixture.Run<std::vector<Task>>(
        [&](store::Transaction& transaction) { return queue.ClaimForMany(transaction, {claimant}); });
  };
  const auto fail = [&](const Task& task) {
    const auto failed = fixture.Run<std::vector<Task>>([&](store::Transaction& transaction) {
      return queue.Fail(transaction, {task.id, task.epoch}, "the process was killed");
    });
    REQUIRE(failed.size() == 1);
    fixture.Query("UPDATE task SET run_at = now()");
  };
  fail(claim("a").at(0));
  CHECK(claim("a").empty());
  fail(claim("b").at(0));
  CHECK(claim("b").empty());
  fixture.Query("UPDATE task SET run_at = now() - interval '31 s'");
  CHECK(claim("b").size() == 1);
}

TEST_CASE("many workers claim at once: each task goes to one, that fits it", "[pg]") {
  ManyFixture fixture;
  PostgresTaskQueue queue({});
  for (int i = 0; i < 10; ++i) {
    TaskSpec spec;
    spec.dedupe_key = "t" + std::to_string(i);
    spec.search_id = "s";
    spec.device_class = i < 4 ? "H200" : i < 6 ? "L40S" : "";
    fixture.Run<int64_t>([&](store::Transaction& transaction) { return queue.Put(transaction, spec); });
  }
  TaskSpec call;
  call.kind = TaskKind::kPropose;
  call.dedupe_key = "call";
  call.search_id = "s";
  fixture.Run<int64_t>([&](store::Transaction& transaction) { return queue.Put(transaction, call); });
  const auto claim = [&](const std::vector<Claimant>& claimants) {
    return fixture.Run<std::vector<Task>>(
        [&](store::Transaction& transaction) { return queue.ClaimForMany(transaction, claimants); });
  };
  const Claimant h1{{"h1", "b1"}, {"H200", int64_t{80} << 30, ""}, 2};
  const Claimant h2{{"h2", "b2"}, {"H200", int64_t{80} << 30, ""}, 2};
  const Claimant l1{{"l1", "b3"}, {"L40S", int64_t{48} << 30, ""}, 9};
  const std::vector<Task> claimed = claim({h1, h2, l1});
  std::map<std::string, std::multiset<std::string>> classes;
  std::set<int64_t> ids;
  for (const Task& task : claimed) {
    ids.insert(task.id);
    classes[task.owner_worker].insert(task.device_class);
    CHECK(task.epoch == 1);
    CHECK(task.state == TaskState::kRunning);
    CHECK(task.kind == TaskKind::kEvaluate);
    CHECK(task.owner_boot == (task.owner_worker == "h1" ? "b1" : task.owner_worker == "h2" ? "b2" : "b3"));
  }
  CHECK(claimed.size() == 10);
  CHECK(ids.size() == 10);
  CHECK(classes["h1"] == std::multiset<std::string>{"H200", "H200"});
  CHECK(classes["h2"] == std::multiset<std::string>{"H200", "H200"});
  CHECK(classes["l1"].count("L40S") == 2);
  CHECK(classes["l1"].size() == 6);
  CHECK(claim({h1, h2, l1}).empty());

  // Only the owner renews, at the current epoch.
  const Task mine = claimed.front();
  const Owner owner{mine.owner_worker, mine.owner_boot};
  const TaskKey key{mine.id, mine.epoch};
  const auto renew = [&](const std::vector<OwnedKeys>& held) {
    return fixture.Run<std::vector<OwnedKey>>(
        [&](store::Transaction& transaction) { return queue.RenewMany(transaction, held); });
  };
  CHECK(renew({{owner, {key}}, {{"stranger", "b"}, {key}}}) == std::vector<OwnedKey>{{owner.worker_id, key}});
  CHECK(renew({{{owner.worker_id, "another boot"}, {key}}}).empty());
  CHECK(renew({{owner, {{mine.id, mine.epoch + 1}}}}).empty());
  CHECK(renew({}).empty());
}

}  // namespace
}  // namespace warpsmith::queue
