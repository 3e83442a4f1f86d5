#include "common/child_process.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <thread>

#include "common/run_child.h"

namespace warpsmith {
namespace {

using namespace std::chrono_literals;

ChildOptions Shell(const std::string& script) {
  ChildOptions options;
  options.arguments = {"/bin/sh", "-c", script};
  return options;
}

TEST_CASE("a child's output, exit status and input", "[unit]") {
  auto exit = RunChild(Shell("cat; echo err >&2; exit 3"), std::string(300'000, 'x'), 10s);
  REQUIRE(exit.ok());
  CHECK(exit->standard_output.size() == 300'000);
  CHECK(exit->standard_error == "err\n");
  CHECK(exit->exit_code == 3);
  CHECK(exit->Describe() == "exit status 3");
}

TEST_CASE("a child that is late is killed with all it started", "[unit]") {
  auto exit = RunChild(Shell("sleep 100 & echo $!; sleep 100"), "", 300ms);
  REQUIRE(exit.ok());
  CHECK(exit->timed_out);
  CHECK(exit->seconds < 5);
  pid_t grandchild = std::stoi(exit->standard_output);
  for (int i = 0; i < 100 && kill(grandchild, 0) == 0; ++i) RealClock().SleepFor(10ms);
  // It may linger as a zombie of init's; what counts is that it does not run.
  std::string state =
      RunChild(Shell("cut -d' ' -f3 /proc/" + std::to_string(grandchild) + "/stat"), "", 5s)->standard_output;
  CHECK((state.empty() || state == "Z\n"));
}

TEST_CASE("a child that leaves a grandchild at its pipes does not hold us", "[unit]") {
  auto exit = RunChild(Shell("sleep 100 & echo done"), "", 20s);
  REQUIRE(exit.ok());
  CHECK_FALSE(exit->timed_out);
  CHECK(exit->standard_output == "done\n");
  CHECK(exit->seconds < 5);
}

TEST_CASE("output over the limit is dropped, not kept", "[unit]") {
  ChildOptions options = Shell("head -c 1000000 /dev/zero");
  options.max_output_bytes = 1000;
  auto exit = RunChild(options, "", 10s);
  CHECK(exit->standard_output.size() == 1000);
  CHECK(exit->output_truncated);
}

TEST_CASE("an empty environment is empty and descriptors do not leak", "[unit]") {
  int leaked = open("/dev/null", O_RDONLY);  // without close-on-exec, on purpose
  ChildOptions options = Shell("env | grep -v -e ^PWD= -e ^_= -e ^SHLVL= -e ^OLDPWD=; ls /proc/self/fd | tr '\\n' ' '");
  options.environment = std::map<std::string, std::string>{};
  auto exit = RunChild(options, "", 10s);
  close(leaked);
  CHECK(exit->standard_output == "0 1 2 3 ");  // 3: ls reading the folder
}

TEST_CASE("a program that is not there is an error at once", "[unit]") {
  ChildOptions options;
  options.arguments = {"/nonexistent/program"};
  auto exit = RunChild(options, "", 1s);
  REQUIRE_FALSE(exit.ok());
  CHECK_THAT(Message(exit.status()), Catch::Contains("/nonexistent/program: No such file"));
}

TEST_CASE("limits of processor time hold", "[unit]") {
  ChildOptions options = Shell("while :; do :; done");
  options.cpu_seconds = 1;
  auto exit = RunChild(options, "", 20s);
  CHECK(exit->signaled);
  CHECK_FALSE(exit->timed_out);
}

TEST_CASE("a lasting child is talked to line by line", "[unit]") {
  auto child = ChildProcess::Start(Shell("while read x; do echo got $x; done; exit 7"));
  REQUIRE(child.ok());
  REQUIRE((*child)->Write("a\nb\n", 1s).ok());
  CHECK(*(*child)->ReadLine(5s) == "got a");
  CHECK(*(*child)->ReadLine(5s) == "got b");
  CHECK((*child)->ReadLine(50ms).status().code() == absl::StatusCode::kDeadlineExceeded);
  CHECK((*child)->Running());
  (*child)->CloseInput();
  auto exit = (*child)->Wait(5s);
  REQUIRE(exit);
  CHECK(exit->exit_code == 7);
  CHECK((*child)->ReadLine(1s).status().code() == absl::StatusCode::kUnavailable);
}

TEST_CASE("a child that does not want its input is no danger to us", "[unit]") {
  auto exit = RunChild(Shell("exec 0<&-; sleep 0.1; echo done"), std::string(1 << 20, 'x'), 10s);
  REQUIRE(exit.ok());
  CHECK(exit->standard_output == "done\n");
  auto child = ChildProcess::Start(Shell("exec 0<&-; echo closed; sleep 10"));
  REQUIRE(child.ok());
  CHECK(*(*child)->ReadLine(5s) == "closed");
  CHECK((*child)->Write("x", 1s).code() == absl::StatusCode::kUnavailable);
}

TEST_CASE("stop signals pass a child by where it is its parent's to end", "[unit]") {
  ChildOptions options;
  options.arguments = {"/bin/sh", "-c", "echo ready; read line; echo $line"};
  options.ignore_stop_signals = true;
  auto child = ChildProcess::Start(options);
  REQUIRE(child.ok());
  REQUIRE((*child)->ReadLine(10s).value() == "ready");
  for (int signal : {SIGTERM, SIGINT, SIGHUP}) (*child)->Kill(signal);
  REQUIRE((*child)->Write("alive\n", 5s).ok());
  CHECK((*child)->ReadLine(10s).value() == "alive");
  (*child)->Kill(SIGKILL);
  CHECK((*child)->Wait(10s).has_value());
}

TEST_CASE("a child that ignores SIGTERM is stopped all the same", "[unit]") {
  auto child = ChildProcess::Start(Shell("trap '' TERM; echo ready; while :; do sleep 1; done"));
  REQUIRE(child.ok());
  CHECK(*(*child)->ReadLine(5s) == "ready");
  CHECK((*child)->Stop(100ms));
}

TEST_CASE("a child outlives the thread that started it, and not the process", "[unit]") {
  std::unique_ptr<ChildProcess> child;
  std::thread([&] {
    ChildOptions options;
    options.arguments = {"/bin/cat"};
    auto started = ChildProcess::Start(options);
    REQUIRE(started.ok());
    child = std::move(*started);
  }).join();
  RealClock().SleepFor(std::chrono::milliseconds(50));
  REQUIRE(child->Write("still here\n", std::chrono::seconds(5)).ok());
  auto line = child->ReadLine(std::chrono::seconds(5));
  REQUIRE(line.ok());
  CHECK(*line == "still here");
}

}  // namespace
}  // namespace warpsmith
