#include "gpu_worker/executor/child_pool.h"

#include <signal.h>

#include <catch2/catch.hpp>

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

TEST_CASE("a pool gives out warm children and ends them", "[unit]") {
  ChildPool pool(Child({Program()}), 2);
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
  ChildPool pool(Child({Program()}), 1);
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

TEST_CASE("a child that cannot start or ends at once is told, not waited for", "[unit]") {
  ChildPool missing(Child({"/nowhere/warpsmith-executor"}), 1);
  CHECK(Message(missing.Take().status()).find("cannot start an executor: ") == 0);
  ChildPool ends(Child({"/bin/false"}), 0);
  TimePoint start = RealClock().Now();
  auto taken = ends.Take();
  CHECK(Message(taken.status()).find("did not get ready") != std::string::npos);
  CHECK(RealClock().Now() - start < std::chrono::seconds(5));
  ChildPool wrong(Child({"/bin/echo", "hello"}), 0);
  CHECK(!wrong.Take().ok());
}

TEST_CASE("the executor refuses arguments that it does not know", "[unit]") {
  ChildPool pool(Child({Program(), "--cude"}), 0);
  CHECK(!pool.Take().ok());
}

// On a machine without a GPU; with one, the spec's handle is no handle.
TEST_CASE("without a GPU, the executor for GPUs says why it does not start", "[unit]") {
  ProcessExecutorOptions options;
  options.program = Program();
  options.idle = 0;
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
