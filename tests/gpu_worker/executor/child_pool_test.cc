#include "gpu_worker/executor/child_pool.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "common/file.h"
#include "gpu_worker/executor/frame.h"
#include "gpu_worker/executor/process_executor.h"
#include "warpsmith/v1/evaluation.pb.h"

namespace warpsmith::executor {
namespace {

std::string Program() { return std::string(WARPSMITH_BINARY_DIR) + "/bin/warpsmith-executor"; }

ChildOptions Child(std::vector<std::string> arguments) {
  ChildOptions child;
  child.arguments = std::move(arguments);
  child.environment.emplace();
  return child;
}

RefillLimits Depth(int depth) { return {depth, std::max(depth, 1), true}; }

// Gets warm after this many looks at its clock, each 10 ms of its own running time apart.
ChildOptions SlowChild(int looks) {
  return Child({"/bin/sh", "-c",
                fmt::format("i=0; while [ $i -lt {} ]; do sleep 0.01; i=$((i+1)); done; printf '{}'; read x", looks,
                            kWarmByte)});
}

TEST_CASE("a pool gives out warm children and ends them", "[unit]") {
  ChildPool pool(Child({Program()}), Depth(2));
  auto first = pool.Take();
  auto second = pool.Take();
  auto third = pool.Take();
  REQUIRE((first.ok() && second.ok() && third.ok()));
  pid_t pid = (*first)->pid();
  CHECK(kill(pid, 0) == 0);
  pool.Retire(std::move(*first));
  pool.SetQuiet(true);  // waits for it
  CHECK(kill(pid, 0) == -1);
  pid = (*second)->pid();
  pool.End(std::move(*second));
  CHECK(kill(pid, 0) == -1);
  CHECK_FALSE(pool.Wedged());
}

TEST_CASE("while quiet, only somebody who waits gets a new child", "[unit]") {
  ChildPool pool(Child({Program()}), Depth(1));
  auto warm = pool.Take();
  REQUIRE(warm.ok());
  pool.SetQuiet(true);
  auto spare = pool.Take();  // started before, or started for us
  auto other = pool.Take();  // for us
  REQUIRE((spare.ok() && other.ok()));
  CHECK((*other)->Running());
  pool.SetQuiet(false);
  auto next = pool.Take();
  CHECK(next.ok());
}

TEST_CASE("several children get warm side by side", "[unit]") {
  // None is warm before all four are there.
  auto folder = TemporaryDirectory::Create("child-pool");
  REQUIRE(folder.ok());
  ChildPool pool(Child({"/bin/sh", "-c",
                        fmt::format("touch {0}/$$; while [ $(ls {0} | wc -l) -lt 4 ]; do sleep 0.02; done; "
                                    "printf '{1}'; read x",
                                    folder->path().string(), kWarmByte)}),
                 {4, 4, true});
  for (int i = 0; i < 4; ++i) REQUIRE(pool.Take().ok());
}

TEST_CASE("going quiet holds the children on their way, and they go on afterwards", "[unit]") {
  ChildPool pool(SlowChild(40), {3, 3, true});
  RealClock().SleepFor(std::chrono::milliseconds(100));
  TimePoint start = RealClock().Now();
  pool.SetQuiet(true);
  CHECK(RealClock().Now() - start < std::chrono::milliseconds(200));  // they would need 300 more
  RealClock().SleepFor(std::chrono::milliseconds(600));
  pool.SetQuiet(false);
  start = RealClock().Now();
  REQUIRE(pool.Take().ok());
  CHECK(RealClock().Now() - start > std::chrono::milliseconds(100));  // nothing grew meanwhile
  // Whoever needs one while it is quiet gets one all the same.
  REQUIRE(pool.Take().ok());
  REQUIRE(pool.Take().ok());
  pool.SetQuiet(true);
  CHECK(pool.Take().ok());
}

TEST_CASE("a hold stops the children on their way until the last one is let go", "[unit]") {
  ChildPool pool(SlowChild(40), {3, 3, true});
  RealClock().SleepFor(std::chrono::milliseconds(100));
  {
    const ChildPool::Hold outer(pool);
    { const ChildPool::Hold inner(pool); }
    RealClock().SleepFor(std::chrono::milliseconds(600));
  }
  const TimePoint start = RealClock().Now();
  REQUIRE(pool.Take().ok());
  CHECK(RealClock().Now() - start > std::chrono::milliseconds(100));  // nothing grew meanwhile
}

TEST_CASE("where holding is not allowed, going quiet waits for the children on their way", "[unit]") {
  ChildPool pool(Child({"/bin/sh", "-c", fmt::format("sleep 0.5; printf '{}'; read x", kWarmByte)}), {3, 3, false});
  RealClock().SleepFor(std::chrono::milliseconds(50));
  pool.SetQuiet(true);
  const TimePoint start = RealClock().Now();
  for (int i = 0; i < 3; ++i) REQUIRE(pool.Take().ok());
  CHECK(RealClock().Now() - start < std::chrono::milliseconds(400));
}

TEST_CASE("a child that does not survive being held is replaced, and none is held again", "[unit]") {
  // The first fails when it goes on; those after it are sound.
  auto folder = TemporaryDirectory::Create("child-pool");
  REQUIRE(folder.ok());
  const std::string mark = (folder->path() / "mark").string();
  ChildPool pool(Child({"/bin/sh", "-c",
                        fmt::format("if [ -e {0} ]; then sleep 0.2; printf '{1}'; read x; else touch {0}; "
                                    "sleep 0.2; exit 3; fi",
                                    mark, kWarmByte)}),
                 {1, 1, true});
  RealClock().SleepFor(std::chrono::milliseconds(50));
  pool.SetQuiet(true);
  pool.SetQuiet(false);
  REQUIRE(pool.Take().ok());
  RealClock().SleepFor(std::chrono::milliseconds(50));
  pool.SetQuiet(true);  // the next one is waited for, not held
  const TimePoint start = RealClock().Now();
  REQUIRE(pool.Take().ok());
  CHECK(RealClock().Now() - start < std::chrono::milliseconds(100));
}

TEST_CASE("a child that cannot start or ends at once is told, not waited for", "[unit]") {
  ChildPool missing(Child({"/nowhere/warpsmith-executor"}), Depth(1));
  CHECK(Message(missing.Take().status()).find("cannot start an executor: ") == 0);
  ChildPool ends(Child({"/bin/false"}), Depth(0));
  TimePoint start = RealClock().Now();
  auto taken = ends.Take();
  CHECK(Message(taken.status()).find("did not get ready") != std::string::npos);
  CHECK(RealClock().Now() - start < std::chrono::seconds(5));
  ChildPool wrong(Child({"/bin/echo", "hello"}), Depth(0));
  CHECK(!wrong.Take().ok());
}

TEST_CASE("the executor refuses arguments that it does not know", "[unit]") {
  ChildPool pool(Child({Program(), "--cude"}), Depth(0));
  CHECK(!pool.Take().ok());
}

// On a machine without a GPU; with one, the spec's handle is no handle.
TEST_CASE("without a GPU, the executor for GPUs says why it does not start", "[unit]") {
  ProcessExecutorOptions options;
  options.program = Program();
  options.refill.depth = 0;
  options.cuda = true;
  options.environment = {{"CUDA_VISIBLE_DEVICES", ""}};
  ProcessExecutorFactory factory(options);
  ExecutorSpec spec;
  spec.artifact_path = "/dev/null";
  v1::ExecutionBuffer* buffer = spec.plan.add_buffers();
  buffer->set_name("x");
  buffer->set_bytes(4);
  SharedBuffer place;
  place.payload_bytes = 4;
  spec.slots = {{place}};
  CHECK(factory.Start(spec).status().code() == absl::StatusCode::kInvalidArgument);  // no handle
  spec.slots[0][0].ipc_handle = std::string(64, 'x');
  spec.slots[0][0].allocation_bytes = 2 << 20;
  auto started = factory.Start(spec);
  INFO(Message(started.status()));
  CHECK(started.status().code() == absl::StatusCode::kInternal);
  CHECK(Message(started.status()).find("the executor did not start: ") == 0);
}

}  // namespace
}  // namespace warpsmith::executor
