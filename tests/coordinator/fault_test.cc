// Workers that die, stall, forget and repeat themselves; a coordinator and a database that go away in mid-search.
#include <catch2/catch.hpp>

#include "common/clock.h"
#include "tests/coordinator/cluster_fixture.h"

namespace warpsmith::testing {
namespace {

std::string Running(Cluster& cluster, const std::string& kind) {
  return cluster.Query("SELECT count(*) FROM task WHERE state = 'running' AND kind = '" + kind + "'");
}

// A search with four evaluations in the hands of a worker that holds them.
struct HeldSearch {
  explicit HeldSearch(Cluster& cluster) : worker(cluster.Worker("w1")) {
    id = cluster.Submit(SmallSearch(1)).value();
    REQUIRE(cluster.Eventually([&] { return cluster.Query("SELECT state FROM search") == "running"; }));
    worker->hold = true;
    // Some kernels may have been evaluated before: those in hand are what counts.
    REQUIRE(cluster.Eventually([&] {
      return Running(cluster, "implement") == "0" && cluster.Query("SELECT count(*) FROM candidate") == "4" &&
             cluster.Query("SELECT count(*) FROM task WHERE kind = 'evaluate' AND state = 'available'") == "0";
    }));
  }
  std::unique_ptr<ScriptedWorker> worker;
  std::string id;
};

TEST_CASE("a killed worker's tasks go to another one when their lease runs out", "[pg][fault]") {
  Cluster cluster;
  cluster.gateway.delay_ms = 100;
  HeldSearch held(cluster);
  REQUIRE(Running(cluster, "evaluate") != "0");
  held.worker.reset();
  auto other = cluster.Worker("w2");
  CHECK(cluster.Finished(held.id).state() == v1::SEARCH_STATE_DONE);
  CHECK(cluster.Query("SELECT count(*) FROM task WHERE worker_deaths = 1") != "0");
  CHECK(cluster.Query("SELECT count(*) FROM task WHERE failures > 0") == "0");
  CHECK(cluster.coordinator().counters().rescued_leases > 0);
  CHECK(cluster.Bookkeeping() == "");
}

TEST_CASE("a restarted worker's old tasks are free at once", "[pg][fault]") {
  Cluster cluster;
  cluster.StopCoordinator();
  cluster.options.queue.lease_seconds = 30;
  cluster.StartCoordinator();
  cluster.gateway.delay_ms = 100;
  HeldSearch held(cluster);
  held.worker.reset();
  auto reborn = cluster.Worker("w1", "boot2");
  CHECK(cluster.Finished(held.id, 15).state() == v1::SEARCH_STATE_DONE);
  CHECK(cluster.Bookkeeping() == "");
}

TEST_CASE("a kernel that kills worker after worker is given up and not charged", "[pg][fault]") {
  // Leases that outlast the test, so that a death is what a new boot says and not what a busy machine looks like.
  Cluster cluster;
  cluster.StopCoordinator();
  cluster.options.queue.lease_seconds = 60;
  cluster.StartCoordinator();
  auto request = SmallSearch(1);
  request.mutable_settings()->set_ideas(1);
  request.mutable_settings()->set_implementations(1);
  auto worker = cluster.Worker("w1", "boot0", 4, /*holding=*/true);
  const std::string id = cluster.Submit(request).value();
  for (int death = 1; death <= 3; ++death) {
    const std::string name = "w" + std::to_string(death);
    REQUIRE(cluster.Eventually([&] { return Running(cluster, "evaluate") == "1"; }));
    worker.reset();
    // Its next boot is what says that it died, and gets no further task.
    cluster.Query("UPDATE worker SET draining_wanted = true WHERE worker_id = '" + name + "'");
    worker = cluster.Worker(name, "boot1");
    REQUIRE(cluster.Eventually([&] {
      return cluster.Query("SELECT worker_deaths FROM task WHERE kind = 'evaluate'") == std::to_string(death);
    }));
    worker = cluster.Worker("w" + std::to_string(death + 1), "boot0", 4, /*holding=*/true);
  }
  CHECK(cluster.Query("SELECT killed_workers FROM task WHERE kind = 'evaluate'") == "{w1,w2,w3}");
  const v1::Search search = cluster.Finished(id);
  CHECK(search.state() == v1::SEARCH_STATE_DONE);
  CHECK(cluster.Query("SELECT outcome, reason FROM candidate") == "20|worker_deaths");
  CHECK(cluster.Query("SELECT state, failures FROM task WHERE kind = 'evaluate'") == "quarantined|0");
  const v1::Tree tree = cluster.Tree(id).value();
  CHECK_THAT(tree.ideas(0).candidates(0).evaluation().message(),
             Catch::Contains("was restarted while it ran this task"));
  CHECK(cluster.Bookkeeping() == "");
}

TEST_CASE("what a worker had finished when it was killed is taken from its next boot", "[pg][fault]") {
  Cluster cluster;
  cluster.StopCoordinator();
  cluster.options.queue.lease_seconds = 60;
  cluster.StartCoordinator();
  auto worker = cluster.Worker("w1", "boot1", 4, /*holding=*/true);
  const std::string id = cluster.Submit(SmallSearch(1)).value();
  REQUIRE(cluster.Eventually([&] { return Running(cluster, "evaluate") == "4"; }));
  worker->send_results = false;
  worker->hold_evaluations = false;
  REQUIRE(cluster.Eventually([&] { return worker->spool().size() == 4; }));
  const std::vector<v1::TaskResult> spool = worker->spool();
  worker.reset();
  // Another worker is there to take what is free.
  auto other = cluster.Worker("w2");
  REQUIRE(cluster.Eventually([&] { return other->connections() == 1; }));
  ScriptedWorker reborn(cluster.address(), "w1", "boot2", 4, false, true, spool);
  CHECK(cluster.Finished(id).state() == v1::SEARCH_STATE_DONE);
  CHECK(cluster.Query("SELECT count(*) FROM evaluation WHERE worker_id = 'w1' AND stage = 'measure'") == "4");
  CHECK(cluster.Query("SELECT sum(worker_deaths), max(attempts) FROM task WHERE kind = 'evaluate'") == "0|1");
  CHECK(cluster.Bookkeeping() == "");
}

TEST_CASE("after a take-over tasks wait for their workers' Hello, and are taken from those that stay away",
          "[pg][fault]") {
  Cluster cluster;
  cluster.gateway.delay_ms = 100;
  cluster.StopCoordinator();
  cluster.options.queue.lease_seconds = 10;
  cluster.StartCoordinator();
  HeldSearch held(cluster);
  const std::string running = Running(cluster, "evaluate");
  REQUIRE(running != "0");
  cluster.StopCoordinator();
  // Away for longer than any lease: all of them have run out when the next one begins.
  cluster.Query("UPDATE task SET lease_until = now() - interval '1 minute' WHERE state = 'running'");
  SECTION("they come back") {
    cluster.StartCoordinator();
    held.worker->hold = false;
    CHECK(cluster.Finished(held.id).state() == v1::SEARCH_STATE_DONE);
    CHECK(cluster.Query("SELECT count(*) FROM task WHERE worker_deaths > 0 OR attempts > 1") == "0");
    CHECK(cluster.coordinator().counters().rescued_leases == 0);
  }
  SECTION("they stay away") {
    held.worker.reset();
    auto other = cluster.Worker("w2");
    cluster.options.queue.lease_seconds = 1.5;
    const TimePoint before = RealClock().Now();
    cluster.StartCoordinator();
    REQUIRE(cluster.Eventually([&] { return cluster.coordinator().counters().rescued_leases > 0; }));
    CHECK(ToSeconds(RealClock().Now() - before) > 1.4);
    CHECK(cluster.Finished(held.id).state() == v1::SEARCH_STATE_DONE);
  }
  CHECK(cluster.Bookkeeping() == "");
}

TEST_CASE("assignments that a worker does not know go back into the queue", "[pg][fault]") {
  Cluster cluster;
  auto worker = cluster.Worker("w1");
  worker->forget = true;
  const std::string id = cluster.Submit(SmallSearch(1)).value();
  REQUIRE(cluster.Eventually([&] { return worker->assignments().size() >= 2; }));
  worker->forget = false;
  CHECK(cluster.Finished(id).state() == v1::SEARCH_STATE_DONE);
  CHECK(cluster.Query("SELECT failures + worker_deaths FROM task WHERE kind = 'intake'") == "0");
  CHECK(cluster.Bookkeeping() == "");
}

TEST_CASE("a stalled worker is told to drop what another one has taken, and its late result is refused",
          "[pg][fault]") {
  Cluster cluster;
  cluster.gateway.delay_ms = 100;
  HeldSearch held(cluster);
  const auto before = held.worker->assignments();
  held.worker->mute = true;
  auto other = cluster.Worker("w2");
  CHECK(cluster.Finished(held.id).state() == v1::SEARCH_STATE_DONE);
  // The zombie wakes up and sends what it has, at its old epoch.
  const v1::Assignment& stale = before.back();
  v1::TaskResult late;
  late.set_task_id(stale.task_id());
  late.set_epoch(stale.epoch());
  late.mutable_evaluation()->set_outcome(v1::OUTCOME_OK);
  late.mutable_evaluation()->mutable_timing()->set_median_ms(1e-6);
  held.worker->SendRaw(late);
  held.worker->mute = false;
  CHECK(cluster.Eventually([&] { return !held.worker->cancelled().empty(); }));
  REQUIRE(cluster.Eventually([&] {
    for (const v1::ResultAck& ack : held.worker->acks()) {
      if (ack.task_id() == late.task_id() && ack.epoch() == late.epoch()) return !ack.recorded();
    }
    return false;
  }));
  CHECK(cluster.Query("SELECT count(*) FROM evaluation WHERE median_ms < 0.001") == "0");
  CHECK(cluster.coordinator().counters().stale_completions > 0);
  CHECK(cluster.Bookkeeping() == "");
}

TEST_CASE("results sent several times are recorded once and acknowledged each time", "[pg][fault]") {
  Cluster cluster;
  auto worker = cluster.Worker("w1");
  worker->duplicates = 3;
  const std::string id = cluster.Submit(SmallSearch(1)).value();
  CHECK(cluster.Finished(id).state() == v1::SEARCH_STATE_DONE);
  REQUIRE(cluster.Eventually([&] { return worker->acks().size() >= 15; }));
  for (const v1::ResultAck& ack : worker->acks()) CHECK(ack.recorded());
  CHECK(cluster.Bookkeeping() == "");
}

TEST_CASE("infra errors are tried again, and too many of them are not the candidate's fault", "[pg][fault]") {
  Cluster cluster;
  auto worker = cluster.Worker("w1");
  SECTION("a few") {
    worker->infra_errors = 2;
    const std::string id = cluster.Submit(SmallSearch(1)).value();
    const v1::Search search = cluster.Finished(id);
    CHECK(search.state() == v1::SEARCH_STATE_DONE);
    CHECK(search.rounds(0).correct() == 4);
  }
  SECTION("without end, in intake") {
    worker->infra_errors = 1000;
    const std::string id = cluster.Submit(SmallSearch(1)).value();
    const v1::Search search = cluster.Finished(id);
    CHECK(search.state() == v1::SEARCH_STATE_FAILED);
    CHECK_THAT(search.error(), Catch::Contains("the scripted worker failed"));
  }
  SECTION("without end, in evaluation") {
    const std::string id = cluster.Submit(SmallSearch(1)).value();
    REQUIRE(cluster.Eventually([&] { return cluster.Query("SELECT state FROM search") == "running"; }));
    worker->infra_errors = 1000;
    const v1::Search search = cluster.Finished(id);
    CHECK(search.state() == v1::SEARCH_STATE_DONE);
    CHECK(cluster.Query("SELECT count(*) FROM task WHERE state = 'quarantined'") != "0");
    CHECK(cluster.Query("SELECT count(*) FROM candidate WHERE outcome = 20 AND reason = 'quarantined'") != "0");
  }
}

TEST_CASE("a result of the wrong kind is refused without harm to others", "[pg][fault]") {
  Cluster cluster;
  auto worker = cluster.Worker("w1");
  worker->hold = true;
  const std::string id = cluster.Submit(SmallSearch(1)).value();
  REQUIRE(cluster.Eventually([&] { return worker->assignments().size() == 1; }));
  v1::TaskResult wrong;
  wrong.set_task_id(worker->assignments()[0].task_id());
  wrong.set_epoch(worker->assignments()[0].epoch());
  wrong.mutable_evaluation()->set_outcome(v1::OUTCOME_COMPILE_ERROR);
  worker->SendRaw(wrong);
  REQUIRE(cluster.Eventually([&] { return worker->acks().size() == 1; }));
  CHECK(!worker->acks()[0].recorded());
  worker->hold = false;
  CHECK(cluster.Finished(id).state() == v1::SEARCH_STATE_DONE);
  CHECK(cluster.Query("SELECT failures FROM task WHERE kind = 'intake'") == "1");
}

TEST_CASE("a coordinator stopped and started in mid-search goes on, each task recorded once", "[pg][fault]") {
  Cluster cluster;
  cluster.gateway.delay_ms = 60;
  auto worker = cluster.Worker("w1");
  const std::string id = cluster.Submit(SmallSearch(4)).value();
  for (int restart = 0; restart < 4; ++restart) {
    const std::string ideas = std::to_string(2 * restart);
    REQUIRE(cluster.Eventually([&] { return cluster.Query("SELECT count(*) > " + ideas + " FROM candidate") == "t"; }));
    cluster.StopCoordinator();
    cluster.StartCoordinator();
    // A restart that the worker did not notice would test nothing.
    REQUIRE(cluster.Eventually([&] { return worker->connections() >= restart + 2; }));
  }
  const v1::Search search = cluster.Finished(id);
  CHECK(search.state() == v1::SEARCH_STATE_DONE);
  CHECK(search.rounds_size() == 4);
  for (const v1::RoundSummary& round : search.rounds()) CHECK(round.generated() == 4);
  CHECK(cluster.Query("SELECT count(*) FROM task WHERE worker_deaths > 0") == "0");
  CHECK(worker->connections() >= 5);
  CHECK(cluster.Status().value().term() == 5);
  CHECK(cluster.Bookkeeping() == "");
}

TEST_CASE("results finished while the coordinator was away are taken when it is back", "[pg][fault]") {
  Cluster cluster;
  cluster.gateway.delay_ms = 100;
  HeldSearch held(cluster);
  cluster.StopCoordinator();
  held.worker->hold = false;
  RealClock().SleepFor(std::chrono::milliseconds(300));
  cluster.StartCoordinator();
  CHECK(cluster.Finished(held.id).state() == v1::SEARCH_STATE_DONE);
  CHECK(cluster.Query("SELECT count(*) FROM task WHERE kind = 'evaluate' AND stage = 'measure' AND attempts > 1") ==
        "0");
  CHECK(cluster.Bookkeeping() == "");
}

TEST_CASE("a second coordinator is refused and names the first", "[pg][fault]") {
  Cluster cluster;
  CoordinatorOptions second = cluster.options;
  second.listen = "127.0.0.1:0";
  second.election_patience_seconds = 0.1;
  auto refused = Coordinator::Start(second);
  REQUIRE(absl::IsFailedPrecondition(refused.status()));
  CHECK_THAT(Message(refused.status()),
             Catch::Contains("already runs on this database") && Catch::Contains("--database"));
  CHECK(cluster.Status().ok());
  second.database = PostgresServer::Shared().CreateDatabase();
  second.listen = cluster.address();
  auto taken = Coordinator::Start(second);
  REQUIRE(absl::IsUnavailable(taken.status()));
  CHECK_THAT(Message(taken.status()), Catch::Contains("in use") && Catch::Contains("--listen"));
}

TEST_CASE("a database that is killed in mid-search costs time, and nothing else", "[pg][fault]") {
  Cluster cluster;
  cluster.gateway.delay_ms = 60;
  auto worker = cluster.Worker("w1");
  const std::string id = cluster.Submit(SmallSearch(3)).value();
  for (int crash = 0; crash < 2; ++crash) {
    const std::string enough = std::to_string(1 + 4 * crash);
    REQUIRE(
        cluster.Eventually([&] { return cluster.Query("SELECT count(*) > " + enough + " FROM candidate") == "t"; }));
    PostgresServer::Shared().Crash();
    absl::Status away = cluster.Get(id).status();
    CHECK(absl::IsUnavailable(away));
    RealClock().SleepFor(std::chrono::milliseconds(800));
    PostgresServer::Shared().Resume();
  }
  const v1::Search search = cluster.Finished(id);
  CHECK(search.state() == v1::SEARCH_STATE_DONE);
  CHECK(search.rounds_size() == 3);
  CHECK(worker->connections() == 1);
  CHECK(cluster.Query("SELECT count(*) FROM task WHERE worker_deaths > 0") == "0");
  CHECK(cluster.Bookkeeping() == "");
}

TEST_CASE("a database that loses its connections again and again loses nothing", "[pg][fault]") {
  Cluster cluster;
  cluster.gateway.delay_ms = 20;
  auto worker = cluster.Worker("w1");
  const std::string id = cluster.Submit(SmallSearch(3)).value();
  for (int cut = 0; cut < 10; ++cut) {
    PostgresServer::Shared().TerminateConnections(cluster.options.database);
    RealClock().SleepFor(std::chrono::milliseconds(70));
  }
  CHECK(cluster.Finished(id).state() == v1::SEARCH_STATE_DONE);
  CHECK(cluster.Bookkeeping() == "");
}

}  // namespace
}  // namespace warpsmith::testing
