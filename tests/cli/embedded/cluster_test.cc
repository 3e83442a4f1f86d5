// The program `warpsmith` with a real PostgreSQL; gateway, coordinator and worker are stand-ins (fake_cluster_program).
#include "cli/embedded/cluster.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>
#include <functional>
#include <sstream>

#include "cli/embedded/process_record.h"
#include "cli/exit_code.h"
#include "common/child_process.h"
#include "common/file.h"
#include "common/json.h"
#include "common/run_child.h"
#include "tests/cli/process_scan.h"

namespace warpsmith::cli {
namespace {

namespace fs = std::filesystem;

class ClusterFixture {
 public:
  ClusterFixture() : folder(*TemporaryDirectory::Create("cluster-test")), data(folder.path() / "data") {
    fs::permissions(folder.path(), fs::perms::owner_all | fs::perms::others_exec);
    const fs::path programs = folder.path() / "bin";
    const fs::path fake = fs::path(WARPSMITH_BINARY_DIR) / "tests/fake_cluster_program";
    fs::create_directories(programs);
    for (const char* name : {"warpsmith-gateway", "warpsmith-coordinator", "warpsmith-worker"}) {
      fs::create_symlink(fake, programs / name);
    }
    std::ofstream(folder.path() / "layer_norm.py") << "class Model: pass\n";
    environment = {{"PATH", "/usr/bin:/bin"},
                   {"WARPSMITH_BIN_DIR", programs.string()},
                   {"FAKE_REPORT_DIR", folder.path().string()},
                   {"FAKE_API_KEY", "not to be passed on"},
                   {"HOME", folder.path().string()}};
  }
  ~ClusterFixture() { (void)RunChild(Options({"down"}), "", std::chrono::seconds(120)); }

  ChildOptions Options(std::vector<std::string> arguments) const {
    ChildOptions options;
    options.arguments = {std::string(WARPSMITH_BINARY_DIR) + "/bin/warpsmith"};
    options.arguments.insert(options.arguments.end(), arguments.begin(), arguments.end());
    options.arguments.insert(options.arguments.end(), {"--data-dir", data.string()});
    options.environment = environment;
    return options;
  }
  ChildExit Run(std::vector<std::string> arguments) const {
    auto exit = RunChild(Options(std::move(arguments)), "", std::chrono::seconds(120));
    REQUIRE(exit.ok());
    return *exit;
  }
  std::vector<std::string> RunArguments() const {
    return {"run", (folder.path() / "layer_norm.py").string(), "--workers", "1", "--device", "emulated"};
  }
  // A `run` whose search never ends, once the search has begun.
  std::unique_ptr<ChildProcess> Endless() {
    environment["FAKE_ENDING"] = "never";
    ChildOptions options = Options(RunArguments());
    options.merge_stderr = true;
    auto run = std::move(ChildProcess::Start(options)).value();
    std::string line;
    while (line.find("round 1/2") == std::string::npos) {
      auto next = run->ReadLine(std::chrono::seconds(60));
      INFO(Message(next.status()));
      REQUIRE(next.ok());
      line = *next;
    }
    environment.erase("FAKE_ENDING");
    return run;
  }
  std::string Report(const std::string& program) const {
    auto text = ReadFile(folder.path() / program);
    return text.ok() ? *text : "";
  }
  void CheckNothingLeft() const {
    std::vector<std::string> left;
    // Killed processes need a moment to be gone.
    for (int i = 0; i < 100 && !(left = ProcessesOf(folder.path())).empty(); ++i) usleep(50'000);
    for (const std::string& process : left) UNSCOPED_INFO(process);
    CHECK(left.empty());
  }

  TemporaryDirectory folder;
  fs::path data;
  std::map<std::string, std::string> environment;
};

}  // namespace

TEST_CASE("run starts everything, searches, prints the result and leaves nothing", "[pg]") {
  ClusterFixture fixture;
  const ChildExit exit = fixture.Run(fixture.RunArguments());
  INFO(exit.standard_error);
  CHECK(exit.exit_code == kExitOk);
  const std::string winner = (fixture.data / "kernels/layer_norm-3f2a91c0.cu").string();
  CHECK_THAT(exit.standard_output, Catch::Contains("Trajectory") && Catch::Contains("winner: " + winner));
  CHECK(fs::exists(winner));
  CHECK_THAT(exit.standard_error, Catch::Contains("starting PostgreSQL") && Catch::Contains("stopping the cluster"));
  fixture.CheckNothingLeft();
  CHECK(ReadRecords(fixture.data / "run").empty());

  CHECK_THAT(fixture.Report("warpsmith-gateway"),
             Catch::StartsWith("key --listen unix:") &&
                 Catch::Contains("--data-dir " + fixture.data.string() + "/gateway") &&
                 Catch::Contains("--coordinator unix:"));
  CHECK_THAT(fixture.Report("warpsmith-coordinator"),
             Catch::StartsWith("no key --metrics-address  --listen unix:") && Catch::Contains("--database host=") &&
                 Catch::Contains("dbname=postgres") && Catch::Contains("--gateway unix:"));
  CHECK_THAT(fixture.Report("warpsmith-worker"), Catch::StartsWith("no key --coordinator unix:") &&
                                                     Catch::Contains("--worker-id worker-0 --data-dir ") &&
                                                     Catch::Contains("--device emulated"));
  const ChildExit again = fixture.Run(fixture.RunArguments());
  CHECK(again.exit_code == kExitOk);
}

TEST_CASE("a program that does not start is shown with the end of its log, and the rest is stopped", "[pg]") {
  ClusterFixture fixture;
  fixture.environment["FAKE_FAILS"] = "warpsmith-coordinator";
  const ChildExit exit = fixture.Run(fixture.RunArguments());
  CHECK(exit.exit_code == kExitFailed);
  CHECK_THAT(exit.standard_error, Catch::Contains("coordinator ended (exit status 3)") &&
                                      Catch::Contains("the moon is in the way") && Catch::Contains("coordinator.log"));
  fixture.CheckNothingLeft();
  fixture.environment["WARPSMITH_BIN_DIR"] = "/nowhere";
  fixture.environment.erase("FAKE_FAILS");
}

TEST_CASE("missing PostgreSQL and an unusable folder are said before anything starts", "[unit]") {
  ClusterFixture fixture;
  fixture.environment["WARPSMITH_POSTGRES_BIN"] = "/nowhere";
  ChildExit exit = fixture.Run(fixture.RunArguments());
  CHECK(exit.exit_code == kExitFailed);
  CHECK_THAT(exit.standard_error, Catch::Contains("WARPSMITH_POSTGRES_BIN"));
  CHECK(fixture.Report("warpsmith-gateway").empty());
  fixture.data = "/dev/null/data";
  exit = fixture.Run(fixture.RunArguments());
  CHECK(exit.exit_code == kExitFailed);
  CHECK_THAT(exit.standard_error, Catch::Contains("/dev/null/data"));
}

TEST_CASE("up stays, is used by others and found by up; down stops it", "[pg]") {
  ClusterFixture fixture;
  ChildExit exit = fixture.Run({"up", "--device", "emulated", "--json"});
  INFO(exit.standard_error);
  REQUIRE(exit.exit_code == kExitOk);
  const Json up = Json::parse(exit.standard_output);
  CHECK(up["started"] == true);
  CHECK(ReadRecords(fixture.data / "run").size() == 4);
  CHECK(fixture.Run({"status"}).exit_code == kExitOk);
  CHECK(Json::parse(fixture.Run({"up", "--json"}).standard_output)["started"] == false);
  exit = fixture.Run(fixture.RunArguments());
  INFO(exit.standard_error);
  CHECK(exit.exit_code == kExitOk);
  CHECK(fixture.Run({"status"}).exit_code == kExitOk);  // run did not stop what it had not started

  exit = fixture.Run({"down"});
  CHECK(exit.standard_output == "stopped worker-0, coordinator, gateway, postgres\n");
  fixture.CheckNothingLeft();
  CHECK_THAT(fixture.Run({"down"}).standard_output, Catch::Contains("nothing"));
  CHECK(fixture.Run({"status"}).exit_code == kExitUnreachable);
}

TEST_CASE("run --keep-running leaves the cluster to down", "[pg]") {
  ClusterFixture fixture;
  std::vector<std::string> arguments = fixture.RunArguments();
  arguments.push_back("--keep-running");
  CHECK(fixture.Run(arguments).exit_code == kExitOk);
  CHECK(fixture.Run({"status"}).exit_code == kExitOk);
  CHECK(fixture.Run({"down"}).exit_code == kExitOk);
  fixture.CheckNothingLeft();
}

TEST_CASE("a second run is refused, Ctrl-C cancels and cleans up", "[pg]") {
  ClusterFixture fixture;
  auto run = fixture.Endless();
  ChildExit second = fixture.Run(fixture.RunArguments());
  CHECK(second.exit_code == kExitFailed);
  CHECK_THAT(second.standard_error, Catch::Contains(fmt::format("in use by `warpsmith run` (process {})", run->pid())));
  CHECK(fixture.Run({"down"}).exit_code == kExitFailed);
  CHECK(fixture.Run({"list"}).exit_code == kExitOk);  // to look is allowed
  kill(run->pid(), SIGINT);
  const auto exit = run->Wait(std::chrono::seconds(60));
  REQUIRE(exit);
  CHECK(exit->exit_code == kExitInterrupted);
  fixture.CheckNothingLeft();
}

TEST_CASE("a run that was killed leaves no process, and the next one works", "[pg]") {
  ClusterFixture fixture;
  auto run = fixture.Endless();
  kill(run->pid(), SIGKILL);
  run->Wait(std::chrono::seconds(10));
  fixture.CheckNothingLeft();
  CHECK(!ReadRecords(fixture.data / "run").empty());
  const ChildExit exit = fixture.Run(fixture.RunArguments());
  INFO(exit.standard_error);
  CHECK(exit.exit_code == kExitOk);
  fixture.CheckNothingLeft();
}

TEST_CASE("half a cluster that was left behind is stopped and started anew", "[pg]") {
  ClusterFixture fixture;
  REQUIRE(fixture.Run({"up", "--device", "emulated"}).exit_code == kExitOk);
  for (const ProcessRecord& record : ReadRecords(fixture.data / "run")) {
    if (record.name == "coordinator") kill(record.pid, SIGKILL);
  }
  const ChildExit exit = fixture.Run(fixture.RunArguments());
  INFO(exit.standard_error);
  CHECK(exit.exit_code == kExitOk);
  CHECK_THAT(exit.standard_error, Catch::Contains("an earlier run"));
  fixture.CheckNothingLeft();
}

TEST_CASE("a worker that dies in a run is started again", "[pg]") {
  ClusterFixture fixture;
  fixture.environment["FAKE_DIES_ONCE"] = "warpsmith-worker";
  auto run = fixture.Endless();
  std::string line;
  while (line.find("worker-0 ended; starting it again") == std::string::npos) {
    auto next = run->ReadLine(std::chrono::seconds(30));
    REQUIRE(next.ok());
    line = *next;
  }
  for (int i = 0;
       i < 200 && fixture.Report("warpsmith-worker").find('\n') == fixture.Report("warpsmith-worker").rfind('\n');
       ++i) {
    usleep(50'000);
  }
  const std::string report = fixture.Report("warpsmith-worker");
  CHECK(std::count(report.begin(), report.end(), '\n') == 2);
  kill(run->pid(), SIGTERM);
  CHECK(run->Wait(std::chrono::seconds(60))->exit_code == kExitInterrupted);
  fixture.CheckNothingLeft();
}

}  // namespace warpsmith::cli
