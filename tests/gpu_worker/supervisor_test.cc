// The supervisor with real processes: shell scripts that live and die as told.
#include "gpu_worker/supervisor.h"

#include <signal.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <functional>
#include <thread>

#include "common/file.h"

namespace warpsmith {
namespace {

using State = Supervisor::State;

class Machine {
 public:
  // `life`: shell commands; $HERE is a folder of the worker's own, $STARTS counts from 1.
  void Add(const std::string& id, const std::string& life) {
    const std::filesystem::path here = folder_.path() / id;
    mkdir(here.c_str(), 0700);
    const std::string script = (here / "worker.sh").string();
    REQUIRE(WriteFileAtomically(script, "HERE=" + here.string() +
                                            "\necho x >> $HERE/starts\nSTARTS=$(wc -l < $HERE/starts)\n" + life + "\n")
                .ok());
    options.workers.push_back({id, "GPU-" + id, "GPU of " + id, {"/bin/sh", script}});
  }

  void Start() {
    supervisor = std::make_unique<Supervisor>(options, probe);
    thread_ = std::jthread([this](std::stop_token stop) { code_ = supervisor->Run(stop); });
  }
  void Stop() { thread_.request_stop(); }
  int Join() {
    thread_.join();
    return code_;
  }

  bool Eventually(const std::function<bool()>& condition) {
    const TimePoint end = RealClock().Now() + std::chrono::seconds(20);
    while (RealClock().Now() < end) {
      if (condition()) return true;
      RealClock().SleepFor(std::chrono::milliseconds(10));
    }
    return false;
  }
  bool Reaches(const std::string& id, State state) {
    return Eventually([&] { return supervisor->Reports()[id].state == state; });
  }
  bool Wrote(const std::string& id, const std::string& file) {
    return Eventually([&] { return std::filesystem::exists(folder_.path() / id / file); });
  }
  Supervisor::Report Report(const std::string& id) { return supervisor->Reports()[id]; }

  SupervisorOptions options = [] {
    SupervisorOptions quick;
    quick.shortest_pause = 0.05;
    quick.longest_pause = 0.2;
    quick.recheck_pause = 0.1;
    quick.stop_limit = 5;
    return quick;
  }();
  cuda::FakeGpuProbe probe;
  std::unique_ptr<Supervisor> supervisor;

 private:
  TemporaryDirectory folder_ = *TemporaryDirectory::Create("supervisor-test");
  int code_ = -1;
  std::jthread thread_;
};

constexpr char kObedient[] =
    "trap 'echo x > $HERE/stopped; exit 0' TERM; echo x > $HERE/ready; while :; do sleep 0.02; done";

TEST_CASE("all workers run, and a stop reaches all of them", "[unit]") {
  Machine machine;
  machine.Add("a", kObedient);
  machine.Add("b", kObedient);
  machine.Start();
  REQUIRE(machine.Wrote("a", "ready"));
  REQUIRE(machine.Wrote("b", "ready"));
  machine.Stop();
  CHECK(machine.Join() == 0);
  CHECK(machine.Wrote("a", "stopped"));
  CHECK(machine.Wrote("b", "stopped"));
  CHECK(machine.Report("a").state == State::kStopped);
  CHECK(machine.Report("a").starts == 1);
  CHECK(kill(machine.Report("a").pid, 0) != 0);
}

TEST_CASE("a worker that dies comes back after its GPU's canary, others go on", "[unit]") {
  Machine machine;
  machine.Add("a", std::string("[ $STARTS -lt 3 ] && kill -SEGV $$\n") + kObedient);
  machine.Add("b", kObedient);
  machine.Start();
  REQUIRE(machine.Wrote("a", "ready"));
  REQUIRE(machine.Wrote("b", "ready"));
  CHECK(machine.Report("a").starts == 3);
  CHECK(machine.Report("b").starts == 1);
  machine.Stop();
  CHECK(machine.Join() == 0);
  CHECK(machine.probe.Checks("GPU-a") == 2);
  CHECK(machine.probe.Checks("GPU-b") == 0);
}

TEST_CASE("workers that have drained are not started again", "[unit]") {
  Machine machine;
  machine.Add("a", "exit 0");
  machine.Add("b", "exit 0");
  machine.Start();
  CHECK(machine.Join() == 0);
  CHECK(machine.Report("a").state == State::kDrained);
  CHECK(machine.Report("a").starts == 1);
  CHECK(machine.Report("b").starts == 1);
}

TEST_CASE("a GPU that is out of service stays so", "[unit]") {
  Machine machine;
  machine.Add("a", "exit 4");
  machine.Add("b", "exit 0");
  machine.Start();
  CHECK(machine.Join() == 1);
  CHECK(machine.Report("a").state == State::kRetired);
  CHECK(machine.Report("a").starts == 1);
  CHECK(machine.probe.Checks("GPU-a") == 0);
}

TEST_CASE("a wedged GPU's worker waits until a canary passes", "[unit]") {
  Machine machine;
  machine.Add("a", std::string("[ $STARTS -lt 2 ] && exit 3\n") + kObedient);
  machine.probe.Fail("GPU-a", DeadlineExceeded("the canary did not come back"));
  machine.Start();
  REQUIRE(machine.Reaches("a", State::kGpuUnwell));
  REQUIRE(machine.Eventually([&] { return machine.probe.Checks("GPU-a") >= 3; }));
  CHECK(machine.Report("a").starts == 1);
  machine.probe.Fail("GPU-a", absl::OkStatus());
  REQUIRE(machine.Wrote("a", "ready"));
  CHECK(machine.Report("a").starts == 2);
  machine.Stop();
  CHECK(machine.Join() == 0);
}

TEST_CASE("a stop ends waiting, too", "[unit]") {
  Machine machine;
  machine.options.recheck_pause = 1000;
  machine.options.shortest_pause = 1000;
  machine.Add("wedged", "exit 3");
  machine.Add("dying", "exit 1");
  machine.Start();
  REQUIRE(machine.Reaches("wedged", State::kGpuUnwell));
  REQUIRE(machine.Reaches("dying", State::kPausing));
  machine.Stop();
  CHECK(machine.Join() == 0);
}

TEST_CASE("a worker that ignores the stop is killed", "[unit]") {
  Machine machine;
  machine.options.stop_limit = 0.3;
  machine.Add("a", "trap '' TERM; echo x > $HERE/ready; while :; do sleep 0.02; done");
  machine.Start();
  REQUIRE(machine.Wrote("a", "ready"));
  machine.Stop();
  CHECK(machine.Join() == 0);
  CHECK(kill(machine.Report("a").pid, 0) != 0);
}

}  // namespace
}  // namespace warpsmith
