// The program itself: flags, one at a time, a kill in mid-search, and a bounded end.
#include <signal.h>

#include <catch2/catch.hpp>

#include "common/child_process.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/run_child.h"
#include "tests/coordinator/cluster_fixture.h"

namespace warpsmith::testing {
namespace {

const char kProgram[] = WARPSMITH_BINARY_DIR "/bin/warpsmith-coordinator";

struct Program {
  explicit Program(const std::string& database, std::vector<std::string> more = {})
      : folder(TemporaryDirectory::Create("warpsmith-coordinator-").value()) {
    ChildOptions options;
    options.arguments = {kProgram,          "--database", database, "--port-file", folder.path() / "port",
                         "--lease-seconds", "1.5"};
    options.arguments.insert(options.arguments.end(), more.begin(), more.end());
    options.stderr_to_parent = true;
    child = ChildProcess::Start(options).value();
    Cluster::Eventually([&] { return ReadFile(folder.path() / "port").ok() || !child->Running(); });
    auto text = ReadFile(folder.path() / "port");
    if (text.ok()) port = std::stoi(*text);
  }
  TemporaryDirectory folder;
  std::unique_ptr<ChildProcess> child;
  int port = 0;
};

ChildExit RunToItsEnd(const std::vector<std::string>& arguments) {
  ChildOptions options;
  options.arguments = {kProgram};
  options.arguments.insert(options.arguments.end(), arguments.begin(), arguments.end());
  return RunChild(options, "", std::chrono::seconds(30)).value();
}

TEST_CASE("the program explains itself and refuses what it cannot use", "[program]") {
  const ChildExit help = RunToItsEnd({"--help"});
  CHECK(help.exit_code == 0);
  CHECK_THAT(help.standard_output, Catch::Contains("--database") && Catch::Contains("Example:"));
  CHECK(RunToItsEnd({"--no-such-flag"}).exit_code != 0);
  CHECK(RunToItsEnd({"--lease-seconds", "-1"}).exit_code != 0);
  const ChildExit unreachable = RunToItsEnd({"--database", "host=/nonexistent dbname=x", "--listen", "127.0.0.1:0"});
  CHECK(unreachable.exit_code == 1);
  CHECK_THAT(unreachable.standard_error, Catch::Contains("cannot reach the database") && Catch::Contains("--database"));
}

TEST_CASE("one program at a time; SIGTERM ends it soon and well, and frees the place", "[pg][program]") {
  const std::string database = PostgresServer::Shared().CreateDatabase();
  Program first(database, {"--listen", "127.0.0.1:0"});
  REQUIRE(first.port > 0);
  const ChildExit second =
      RunToItsEnd({"--database", database, "--listen", "127.0.0.1:0", "--election-patience-seconds", "0.2"});
  CHECK(second.exit_code == 1);
  CHECK_THAT(second.standard_error, Catch::Contains("already runs on this database"));
  // A worker's open stream does not hold the end up.
  ScriptedWorker worker("127.0.0.1:" + std::to_string(first.port), "w1", "boot1");
  REQUIRE(Cluster::Eventually([&] { return worker.connections() == 1; }));
  const TimePoint before = RealClock().Now();
  first.child->Kill(SIGTERM);
  auto ended = first.child->Wait(std::chrono::seconds(20));
  REQUIRE(ended.has_value());
  CHECK(ended->Describe() == "exit status 0");
  CHECK(ToSeconds(RealClock().Now() - before) < 10);
  Program third(database, {"--listen", "127.0.0.1:0"});
  CHECK(third.port > 0);
}

TEST_CASE("a second program waits, takes over when the first is killed, and goes on", "[pg][program]") {
  const std::string database = PostgresServer::Shared().CreateDatabase();
  const auto term = [&] { return PostgresServer::Shared().Query(database, "SELECT term FROM leader"); };
  Program first(database, {"--listen", "127.0.0.1:0"});
  REQUIRE(first.port > 0);
  ChildOptions options;
  options.arguments = {kProgram,   "--database",  database,
                       "--listen", "127.0.0.1:0", "--election-patience-seconds",
                       "60",       "--port-file", first.folder.path() / "second"};
  options.stderr_to_parent = true;
  auto second = ChildProcess::Start(options).value();
  RealClock().SleepFor(std::chrono::milliseconds(300));
  CHECK(second->Running());
  CHECK(term() == "1");
  CHECK(!ReadFile(first.folder.path() / "second").ok());
  first.child->Kill(SIGKILL);
  CHECK(Cluster::Eventually([&] { return ReadFile(first.folder.path() / "second").ok(); }));
  CHECK(term() == "2");
  second->Kill(SIGTERM);
  CHECK(second->Wait(std::chrono::seconds(20)).has_value());
}

TEST_CASE("a program that was stopped while another was elected cannot write, says so and ends", "[pg][program]") {
  Cluster cluster;
  cluster.StopCoordinator();
  Program first(cluster.options.database, {"--listen", cluster.address(), "--gateway", cluster.gateway.address()});
  REQUIRE(first.port > 0);
  const std::string id = cluster.Submit(SmallSearch(1)).value();
  first.child->Kill(SIGSTOP);
  // As a server does that hears nothing of it any more.
  PostgresServer::Shared().TerminateConnections(cluster.options.database);
  Program second(cluster.options.database, {"--listen", "127.0.0.1:0", "--gateway", cluster.gateway.address(),
                                            "--election-patience-seconds", "20"});
  REQUIRE(second.port > 0);
  ScriptedWorker worker("127.0.0.1:" + std::to_string(second.port), "w1", "boot1");
  first.child->Kill(SIGCONT);
  auto ended = first.child->Wait(std::chrono::seconds(30));
  REQUIRE(ended.has_value());
  CHECK(ended->Describe() == "exit status 2");
  CHECK(
      Cluster::Eventually([&] { return cluster.Query("SELECT state FROM search WHERE id = '" + id + "'") == "done"; }));
  CHECK(cluster.Query("SELECT term FROM leader") == "3");
  CHECK(cluster.Bookkeeping() == "");
}

TEST_CASE("killed with SIGKILL in mid-search and started again, it goes on", "[pg][program]") {
  Cluster cluster;
  cluster.StopCoordinator();
  const std::vector<std::string> flags{"--listen", cluster.address(), "--gateway", cluster.gateway.address()};
  cluster.gateway.delay_ms = 60;
  auto program = std::make_unique<Program>(cluster.options.database, flags);
  REQUIRE(program->port > 0);
  auto worker = cluster.Worker("w1");
  const std::string id = cluster.Submit(SmallSearch(3)).value();
  for (int kill = 1; kill <= 2; ++kill) {
    REQUIRE(cluster.Eventually(
        [&] { return cluster.Query("SELECT count(*) > " + std::to_string(3 * kill) + " FROM candidate") == "t"; }));
    program->child->Kill(SIGKILL);
    REQUIRE(program->child->Wait(std::chrono::seconds(10)).has_value());
    program = std::make_unique<Program>(cluster.options.database, flags);
    REQUIRE(program->port > 0);
  }
  const v1::Search search = cluster.Finished(id);
  CHECK(search.state() == v1::SEARCH_STATE_DONE);
  CHECK(search.rounds_size() == 3);
  CHECK(cluster.Query("SELECT count(*) FROM task WHERE worker_deaths > 0") == "0");
  CHECK(cluster.Bookkeeping() == "");
}

}  // namespace
}  // namespace warpsmith::testing
