#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>

#include "cli/embedded/cluster.h"
#include "cli/embedded/data_directory.h"
#include "cli/embedded/process_record.h"
#include "cli/embedded/service_user.h"
#include "common/child_process.h"
#include "common/file.h"

namespace warpsmith::cli {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<ChildProcess> Sleeper() {
  ChildOptions options;
  options.arguments = {"sleep", "600"};
  return std::move(ChildProcess::Start(options)).value();
}

}  // namespace

TEST_CASE("a recorded process is known again, and no other is taken for it", "[unit]") {
  auto folder = *TemporaryDirectory::Create("record-test");
  auto sleeper = Sleeper();
  auto record = DescribeProcess("worker-0", sleeper->pid());
  REQUIRE(record);
  REQUIRE(WriteRecord(folder.path(), *record).ok());
  std::vector<ProcessRecord> read = ReadRecords(folder.path());
  REQUIRE(read.size() == 1);
  CHECK(read[0].name == "worker-0");
  CHECK(StillRuns(read[0]));

  ProcessRecord later = read[0];
  ++later.start_ticks;  // the same id, given to another process
  CHECK_FALSE(StillRuns(later));
  CHECK(StopProcess(later, SIGKILL, std::chrono::seconds(1)));
  CHECK(sleeper->Running());
  ProcessRecord before_boot = read[0];
  before_boot.boot_id = "another";
  CHECK_FALSE(StillRuns(before_boot));

  CHECK(StopProcess(read[0], SIGTERM, std::chrono::seconds(5)));
  CHECK_FALSE(sleeper->Running());
  CHECK_FALSE(DescribeProcess("x", sleeper->pid()));
  REQUIRE(WriteFileAtomically(folder.path() / "bad.process.json", "{\"name\": 3").ok());
  REQUIRE(WriteFileAtomically(folder.path() / "odd.process.json", "{\"name\": \"x\", \"pid\": 1}").ok());
  CHECK(ReadRecords(folder.path()).size() == 1);
  RemoveRecord(folder.path(), "worker-0");
  CHECK(ReadRecords(folder.path()).empty());
}

TEST_CASE("a process that does not listen is killed after its grace", "[unit]") {
  ChildOptions options;
  options.arguments = {"sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.05; done"};
  auto stubborn = *ChildProcess::Start(options);
  REQUIRE(stubborn->ReadLine(std::chrono::seconds(10)).ok());
  auto record = DescribeProcess("x", stubborn->pid());
  REQUIRE(record);
  CHECK(StopProcess(*record, SIGTERM, std::chrono::milliseconds(200)));
  CHECK(stubborn->Wait(std::chrono::seconds(5))->signal == SIGKILL);
}

TEST_CASE("where data lies", "[unit]") {
  setenv("XDG_DATA_HOME", "/xdg", 1);
  CHECK(*DataDirectoryPath("") == "/xdg/warpsmith");
  CHECK(*DataDirectoryPath("/a/b/../c/") == "/a/c");
  unsetenv("XDG_DATA_HOME");
  CHECK(DataDirectoryPath("")->filename() == "warpsmith");
  CHECK(DataDirectory("/a/b").coordinator_address() == "unix:/a/b/run/coordinator.sock");
  const DataDirectory deep("/" + std::string(90, 'x'));
  CHECK(deep.coordinator_address().size() < 100);
  CHECK_THAT(deep.coordinator_address(), Catch::StartsWith("unix:/tmp/warpsmith-"));
  CHECK(deep.coordinator_address() != DataDirectory("/" + std::string(91, 'x')).coordinator_address());
}

TEST_CASE("a data directory that cannot be used is named with the remedy", "[unit]") {
  const absl::Status status = DataDirectory("/dev/null/data").Prepare();
  CHECK_THAT(Message(status), Catch::Contains("/dev/null/data") && Catch::Contains("--data-dir"));
  auto folder = *TemporaryDirectory::Create("data-test");
  const DataDirectory long_path(folder.path() / std::string(100, 'd'));
  REQUIRE(long_path.Prepare().ok());
  CHECK(fs::is_directory(long_path.socket_folder()));
  fs::permissions(long_path.socket_folder(), fs::perms::all);  // as if another user had made it
  CHECK_THAT(Message(long_path.Prepare()), Catch::Contains("not ours alone"));
  fs::remove_all(long_path.socket_folder());
}

TEST_CASE("one program at a time", "[unit]") {
  auto folder = *TemporaryDirectory::Create("lock-test");
  const DataDirectory directory(folder.path());
  REQUIRE(directory.Prepare().ok());
  {
    auto lock = DataDirectoryLock::Take(directory, "warpsmith run");
    REQUIRE(lock.ok());
    CHECK_THAT(Message(DataDirectoryLock::Take(directory, "warpsmith down").status()),
               Catch::Contains("in use by `warpsmith run` (process " + std::to_string(getpid())));
  }
  CHECK(DataDirectoryLock::Take(directory, "warpsmith down").ok());
}

TEST_CASE("the database's user must be able to get there", "[unit]") {
  auto user = ChooseServiceUser();
  REQUIRE(user.ok());
  CHECK(user->uid != 0);
  if (!user->other) return;                                 // not root: it is us
  auto folder = *TemporaryDirectory::Create("reach-test");  // 0700
  const fs::path data = folder.path() / "data";
  fs::create_directories(data);
  CHECK_THAT(Message(MakeReachable(data / "database", data, *user)),
             Catch::Contains(folder.path().string() + ": the user " + user->name) && Catch::Contains("--data-dir"));
  // Of the data directory itself it is ours to say.
  fs::permissions(data, fs::perms::owner_all);
  fs::permissions(folder.path(), fs::perms::owner_all | fs::perms::others_exec);
  CHECK(MakeReachable(data / "database", data, *user).ok());
  CHECK(fs::status(data).permissions() == (fs::perms::owner_all | fs::perms::others_exec));
  REQUIRE(MakeOwnFolder(data / "database", *user).ok());
  struct stat information {};
  REQUIRE(stat((data / "database").c_str(), &information) == 0);
  CHECK(information.st_uid == user->uid);
  fs::create_directory(data / "other");
  CHECK_THAT(Message(MakeOwnFolder(data / "other", *user)), Catch::Contains("belongs to user 0"));
  setenv("WARPSMITH_POSTGRES_USER", "no-such-user", 1);
  CHECK_THAT(Message(ChooseServiceUser().status()), Catch::Contains("no-such-user"));
  unsetenv("WARPSMITH_POSTGRES_USER");
}

TEST_CASE("keys stay with the gateway", "[unit]") {
  setenv("SOME_API_KEY", "k", 1);
  setenv("hf_token", "t", 1);
  setenv("HARMLESS", "h", 1);
  const auto environment = EnvironmentWithoutSecrets();
  CHECK(environment.count("SOME_API_KEY") == 0);
  CHECK(environment.count("hf_token") == 0);
  CHECK(environment.at("HARMLESS") == "h");
  CHECK(environment.count("PATH") == 1);
}

}  // namespace warpsmith::cli
