// The program warpsmith-worker with several GPUs, on a machine without any: the programs that it starts are stand-ins.
#include <signal.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "common/child_process.h"
#include "common/file.h"
#include "common/run_child.h"
#include "gpu_worker/device/cuda/gpu_probe.h"

namespace warpsmith {
namespace {

class StandIns {
 public:
  explicit StandIns(int gpus) {
    std::vector<cuda::GpuReport> reports(gpus);
    for (int i = 0; i < gpus; ++i) {
      reports[i].device.ordinal = i;
      reports[i].device.uuid = "GPU-" + std::to_string(i);
      reports[i].device.name = "Fake";
    }
    Write("warpsmith-canary", "case $1 in list) echo '" + cuda::GpuListToJson(reports) + "';; *) exit 1;; esac");
    // Says how it was started, and goes on until it is stopped.
    Write("warpsmith-worker",
          "trap 'echo stopped >> $FOLDER/$$.stopped; exit 0' TERM\necho \"$@\" > $FOLDER/$$.tmp; mv $FOLDER/$$.tmp "
          "$FOLDER/$$.started\nwhile :; do sleep 0.02; done");
  }

  ChildOptions Supervisor(std::vector<std::string> flags) const {
    ChildOptions child;
    child.arguments = {std::string(WARPSMITH_BINARY_DIR) + "/bin/warpsmith-worker", "--coordinator", "127.0.0.1:1",
                       "--data-dir", (folder_.path() / "data").string()};
    child.arguments.insert(child.arguments.end(), flags.begin(), flags.end());
    child.environment = {
        {"PATH", "/usr/bin:/bin"}, {"WARPSMITH_BIN_DIR", folder_.path().string()}, {"FOLDER", folder_.path().string()}};
    return child;
  }

  // Contents of the files with this ending, sorted, once there are `count`.
  std::vector<std::string> Await(const std::string& ending, size_t count) const {
    const TimePoint end = RealClock().Now() + std::chrono::seconds(20);
    for (;;) {
      std::vector<std::string> found;
      for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
        if (entry.path().extension() == ending) found.push_back(ReadFile(entry.path()).value_or(""));
      }
      std::sort(found.begin(), found.end());
      if (found.size() >= count || RealClock().Now() >= end) return found;
      RealClock().SleepFor(std::chrono::milliseconds(10));
    }
  }

  std::vector<int> Pids() const {
    std::vector<int> pids;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      if (entry.path().extension() == ".started") pids.push_back(std::stoi(entry.path().stem()));
    }
    return pids;
  }

 private:
  void Write(const std::string& name, const std::string& commands) {
    const std::filesystem::path path = folder_.path() / name;
    REQUIRE(WriteFileAtomically(path, "#!/bin/sh\n" + commands + "\n").ok());
    chmod(path.c_str(), 0700);
  }

  TemporaryDirectory folder_ = *TemporaryDirectory::Create("worker-program-test");
};

TEST_CASE("--gpus all starts one worker a GPU and stops them with itself", "[unit]") {
  const StandIns programs(3);
  auto supervisor = ChildProcess::Start(programs.Supervisor({"--gpus", "all", "--worker-id", "node", "--slots", "3"}));
  REQUIRE(supervisor.ok());
  const std::vector<std::string> started = programs.Await(".started", 3);
  REQUIRE(started.size() == 3);
  for (int i = 0; i < 3; ++i) {
    const std::string number = std::to_string(i);
    CHECK_THAT(started[i], Catch::Contains("--worker-id node-" + number) &&
                               Catch::Contains("--device cuda:" + number) && Catch::Contains("/data/gpu" + number) &&
                               Catch::Contains("--slots 3") && Catch::Contains("--coordinator 127.0.0.1:1"));
  }
  (*supervisor)->Kill(SIGTERM);
  const auto exit = (*supervisor)->Wait(std::chrono::seconds(20));
  REQUIRE(exit);
  CHECK(exit->exit_code == 0);
  CHECK_FALSE(exit->signaled);
  CHECK(programs.Await(".stopped", 3).size() == 3);
}

TEST_CASE("workers do not outlive a supervisor that is killed", "[unit]") {
  const StandIns programs(2);
  auto supervisor = ChildProcess::Start(programs.Supervisor({"--gpus", "0,1"}));
  REQUIRE(supervisor.ok());
  REQUIRE(programs.Await(".started", 2).size() == 2);
  const std::vector<int> pids = programs.Pids();
  (*supervisor)->Kill(SIGKILL);
  REQUIRE((*supervisor)->Wait(std::chrono::seconds(20)));
  const TimePoint end = RealClock().Now() + std::chrono::seconds(10);
  // Dead ones that nobody has waited for still have a number; their program is gone.
  const auto alive = [](int pid) {
    std::error_code error;
    return !std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", error).empty();
  };
  for (const int pid : pids) {
    while (alive(pid) && RealClock().Now() < end) RealClock().SleepFor(std::chrono::milliseconds(10));
    CHECK_FALSE(alive(pid));
  }
}

TEST_CASE("flags that make no sense are refused before anything starts", "[unit]") {
  const StandIns programs(2);
  const auto refused = [&](std::vector<std::string> flags) {
    const auto exit = RunChild(programs.Supervisor(std::move(flags)), "", std::chrono::seconds(20));
    REQUIRE(exit.ok());
    CHECK(exit->exit_code == 1);
    return exit->standard_error;
  };
  CHECK_THAT(refused({"--gpus", "0,5"}), Catch::Contains("there is no GPU 5"));
  CHECK_THAT(refused({"--gpus", "all", "--device", "emulated"}), Catch::Contains("exclude each other"));
  CHECK(programs.Await(".started", 0).empty());
}

}  // namespace
}  // namespace warpsmith
