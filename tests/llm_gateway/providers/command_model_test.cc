#include "llm_gateway/providers/command_model.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <thread>

#include "common/clock.h"

namespace warpsmith::gateway {
namespace {

using Catch::Matchers::Contains;

Completion Run(const std::string& script, const std::string& prompt = "the prompt", double total = 20,
               Cancellation* cancellation = nullptr, int64_t cap = 1 << 20) {
  ModelConfig config;
  config.name = "script";
  config.place = "g.yaml:2: models[0]";
  config.command = {"/bin/sh", "-c", script};
  config.total_seconds = total;
  config.max_output_bytes = cap;
  config.pass_environment = {"WARPSMITH_TEST_PASSED"};
  Cancellation own;
  PromptRequest request;
  request.messages = {{"system", "the contract"}, {"user", prompt}};
  return CommandModel(config).Complete(request, nullptr, cancellation != nullptr ? *cancellation : own);
}

TEST_CASE("the prompt goes in, the answer comes out", "[unit]") {
  Completion completion = Run("cat");
  CHECK(completion.ok());
  CHECK(completion.text == "the contract\n\nthe prompt\n\n");
  CHECK(completion.finish_reason == "stop");
  CHECK(completion.tries == 1);
  CHECK(completion.seconds > 0);
}

TEST_CASE("large prompts and answers pass each other", "[unit]") {
  std::string large(300000, 'p');
  CHECK(Run("cat", large).text.size() == large.size() + 16);
  CHECK(Run("head -c 200000 /dev/zero | tr '\\0' a; cat >/dev/null", large).text == std::string(200000, 'a'));
  CHECK(Run("echo done", large).text == "done\n");  // reads nothing of it
}

TEST_CASE("failures of a program", "[unit]") {
  CHECK_THAT(Run("cat >/dev/null; exit 3").message, Contains("exit status 3") && Contains("by hand"));
  CHECK_THAT(Run("kill -9 $$").message, Contains("SIGKILL"));
  Completion late = Run("sleep 30", "p", 0.3);
  CHECK(late.error == ErrorClass::kTotalTimeout);
  CHECK_THAT(late.message, Contains("models[0].total_seconds"));
  CHECK(late.seconds < 5);
  Completion huge = Run("head -c 100000 /dev/zero | tr '\\0' a", "p", 20, nullptr, 5000);
  CHECK(huge.error == ErrorClass::kTooLarge);
  ModelConfig config;
  config.name = "gone";
  config.place = "g.yaml:2: models[0]";
  config.command = {"/no/such/program"};
  Cancellation cancellation;
  Completion gone = CommandModel(config).Complete({}, nullptr, cancellation);
  CHECK(gone.error == ErrorClass::kConfiguration);
  CHECK_THAT(gone.message, Contains("/no/such/program") && Contains("models[0].command"));
}

TEST_CASE("an answer is made valid", "[unit]") {
  CHECK(Run("printf 'a\\377b\\000c'").text ==
        "a\xEF\xBF\xBD"
        "b\xEF\xBF\xBD"
        "c");
}

TEST_CASE("a program does not see the gateway's keys", "[unit]") {
  setenv("WARPSMITH_TEST_SECRET", "sk-secret", 1);
  setenv("WARPSMITH_TEST_PASSED", "passed", 1);
  std::string environment = Run("cat >/dev/null; env").text;
  CHECK_THAT(environment, !Contains("sk-secret") && Contains("WARPSMITH_TEST_PASSED=passed") && Contains("PATH="));
}

TEST_CASE("cancellation ends a program with all that it started", "[unit]") {
  Cancellation cancellation;
  std::thread canceller([&] {
    RealClock().SleepFor(std::chrono::milliseconds(200));
    cancellation.Cancel();
  });
  Completion completion = Run("sleep 30 & sleep 30", "p", 25, &cancellation);
  canceller.join();
  CHECK(completion.error == ErrorClass::kCancelled);
  CHECK(completion.seconds < 5);
}

}  // namespace
}  // namespace warpsmith::gateway
