// Which processes an oracle for a GPU keeps ready, and which of them touch the GPU: a shell script stands for Python
// and writes down what it is asked.
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "common/file.h"
#include "gpu_worker/reference/python_oracle.h"

namespace warpsmith::reference {
namespace {

class Fixture {
 public:
  Fixture() {
    const std::string script = (folder_.path() / "python").string();
    const std::string text = fmt::format(
        "#!/bin/sh\n"
        "echo start $$ >> {0}\n"
        "while read -r line; do\n"
        "  case $line in\n"
        "    *hello*) echo hello $$ >> {0}; echo '{{\"progress\": \"warm\"}}'; echo '{{\"ok\": true}}' ;;\n"
        "    *'\"intake\"'*) echo intake $$ >> {0};\n"
        "      echo '{{\"error\": true, \"kind\": \"inputs\", \"message\": \"refused\"}}' ;;\n"
        "    *) echo other $$ >> {0}; echo '{{\"ok\": true}}' ;;\n"
        "  esac\n"
        "done\n",
        Log());
    REQUIRE(WriteFileAtomically(script, text).ok());
    REQUIRE(chmod(script.c_str(), 0755) == 0);
    PythonOracleOptions options;
    options.python = script;
    options.device = "cuda:0";
    oracle = std::make_unique<PythonOracle>(options);
  }

  void Intake() {
    const auto result = oracle->Intake("p", "source", {});
    REQUIRE(result.ok());
    CHECK(result->error() == "refused");
  }
  void Load(const std::string& id) { REQUIRE(oracle->Load(id, "p", "source", {}, {}).ok()); }

  // Processes that were told so, in order, once there are `count`; waits for them.
  std::vector<std::string> Told(const std::string& what, size_t count) const {
    std::vector<std::string> found;
    for (int i = 0; i < 200; ++i) {
      found.clear();
      std::string text = ReadFile(Log()).value_or("");
      for (size_t start = 0, end; (end = text.find('\n', start)) != std::string::npos; start = end + 1) {
        const std::string line = text.substr(start, end - start);
        if (line.rfind(what + " ", 0) == 0) found.push_back(line.substr(what.size() + 1));
      }
      if (found.size() >= count) break;
      RealClock().SleepFor(std::chrono::milliseconds(20));
    }
    return found;
  }

  std::unique_ptr<PythonOracle> oracle;

 private:
  std::string Log() const { return (folder_.path() / "log").string(); }
  TemporaryDirectory folder_ = *TemporaryDirectory::Create("warpsmith-spares");
};

TEST_CASE("after an intake two processes wait, one of them ready for the GPU", "[unit]") {
  Fixture f;
  f.Intake();
  CHECK(f.Told("start", 3).size() == 3);
  CHECK(f.Told("hello", 2).size() == 2);
  RealClock().SleepFor(std::chrono::milliseconds(100));
  CHECK(f.Told("hello", 2).size() == 2);  // the other one leaves the GPU alone
  // Another intake has the ready one, and a process is its own only once.
  f.Intake();
  const std::vector<std::string> intakes = f.Told("intake", 2);
  REQUIRE(intakes.size() == 2);
  CHECK(intakes[1] == f.Told("hello", 2)[1]);
  CHECK(intakes[0] != intakes[1]);
  CHECK(f.Told("start", 4).size() == 4);
  CHECK(f.Told("hello", 3).size() == 3);
}

TEST_CASE("while a problem is loaded no waiting process touches the GPU, on which candidates are timed", "[unit]") {
  Fixture f;
  f.Load("one");
  CHECK(f.Told("start", 3).size() == 3);
  RealClock().SleepFor(std::chrono::milliseconds(150));
  CHECK(f.Told("hello", 1).size() == 1);
  // It is greeted when it is needed; its reply is not taken for another's.
  f.Intake();
  CHECK(f.Told("hello", 3).size() == 3);  // its own, and the next one's
}

TEST_CASE("a waiting process that died is passed over", "[unit]") {
  Fixture f;
  f.Intake();
  const std::vector<std::string> greeted = f.Told("hello", 2);
  REQUIRE(greeted.size() == 2);
  RealClock().SleepFor(std::chrono::milliseconds(50));  // its answer waits in the pipe
  REQUIRE(kill(std::stoi(greeted[1]), SIGKILL) == 0);
  RealClock().SleepFor(std::chrono::milliseconds(100));
  f.Intake();
  CHECK(f.Told("intake", 2).size() == 2);
}

}  // namespace
}  // namespace warpsmith::reference
