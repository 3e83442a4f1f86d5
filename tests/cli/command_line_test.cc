#include "cli/command_line.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "cli/evaluate_command.h"
#include "cli/evaluation_session.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "common/file.h"
#include "common/grpc_channel.h"
#include "common/json.h"
#include "tests/cli/fake_operator_service.h"
#include "tests/cli/printed.h"

namespace warpsmith::cli {
namespace {

// The commands against a fake coordinator, over real gRPC on a Unix socket.
class OperatorFixture {
 public:
  explicit OperatorFixture(FakeOperatorService::Ending ending = FakeOperatorService::Ending::kKernel)
      : service(ending), folder(*TemporaryDirectory::Create("cli-test")) {
    address = "unix:" + (folder.path() / "c.sock").string();
    auto started = StartServer(address, {&service});
    REQUIRE(started.ok());
    server = std::move(started->server);
    problem = Write("layer_norm.py", "class Model: pass\n");
    kernel = Write("mine.cu", "/* warpsmith-plan {} */\n");
    unsetenv("WARPSMITH_COORDINATOR");
  }
  ~OperatorFixture() { StopServer(*server, 0); }

  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = (folder.path() / name).string();
    std::ofstream(path) << text;
    return path;
  }

  Printed Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--coordinator", address});
    return RunIt(arguments);
  }
  Json RunJson(std::vector<std::string> arguments) {
    arguments.push_back("--json");
    const Printed result = Run(arguments);
    INFO(result.err);
    CHECK(result.code == 0);
    return Json::parse(result.out);
  }

  FakeOperatorService service;
  TemporaryDirectory folder;
  std::string address;
  std::unique_ptr<grpc::Server> server;
  std::string problem;
  std::string kernel;
};

using Ending = FakeOperatorService::Ending;

}  // namespace

TEST_CASE("wrong arguments exit with 2 and say what is wrong", "[unit]") {
  OperatorFixture fixture;
  struct Case {
    std::vector<std::string> arguments;
    std::string says;
  };
  const Case cases[] = {
      {{}, "subcommand is required"},
      {{"fly"}, "no command fly"},
      {{"run"}, "FILE is required"},
      {{"run", "x.py", "--rounds", "0"}, "--rounds"},
      {{"run", "x.py", "--preset", "huge"}, "--preset"},
      {{"run", "x.py", "--max-usd", "-1"}, "--max-usd"},
      {{"show"}, "CANDIDATE is required"},
      {{"cancel"}, "SEARCH is required"},
      {{"bank"}, "subcommand"},
      {{"inject", "idea", "3f2a91c0", "--title", "x", "--category", "luck"}, "--category"},
      {{"list", "--state", "odd"}, "--state"},
      {{"submit", "/nowhere/x.py"}, "/nowhere/x.py"},
      {{"submit", fixture.kernel}, "ends in .py"},
      {{"submit", fixture.problem, "--accept", "fp8"}, "fp8"},
      {{"submit", fixture.Write("empty.py", "")}, "is empty"},
      {{"submit", fixture.Write("latin.py",
                                "# gr\xf6\xdf"
                                "er\n")},
       "UTF-8"},
      {{"inject", "kernel", "3f2a91c0", fixture.problem}, "ends in .cu"},
      {{"evaluate", fixture.problem, fixture.problem}, "ends in .cu"},
  };
  for (const Case& test : cases) {
    std::vector<std::string> arguments = test.arguments;
    const Printed result = RunIt(arguments);
    INFO(result.err);
    CHECK(result.code == kExitUsage);
    CHECK_THAT(result.err, Catch::Contains(test.says));
    CHECK(result.out.empty());
  }
}

TEST_CASE("every command has help with an example", "[unit]") {
  CHECK_THAT(RunIt({"--help"}).out, Catch::Contains("Exit status"));
  const std::vector<std::vector<std::string>> commands = {{"run"},
                                                          {"submit"},
                                                          {"list"},
                                                          {"watch"},
                                                          {"tree"},
                                                          {"explain"},
                                                          {"cancel"},
                                                          {"show"},
                                                          {"bank"},
                                                          {"bank", "list"},
                                                          {"bank", "show"},
                                                          {"bank", "export"},
                                                          {"bank", "import"},
                                                          {"bank", "verify"},
                                                          {"inject"},
                                                          {"inject", "idea"},
                                                          {"inject", "kernel"},
                                                          {"up"},
                                                          {"down"},
                                                          {"status"},
                                                          {"evaluate"},
                                                          {"doctor"},
                                                          {"version"}};
  for (std::vector<std::string> command : commands) {
    command.push_back("--help");
    const Printed result = RunIt(command);
    CHECK(result.code == 0);
    CHECK_THAT(result.out, Catch::Contains("Example: warpsmith " + command[0]));
  }
  CHECK(RunIt({"version"}).out == "warpsmith 0.1.0 (harness h2, judge j2)\n");
  CHECK(Json::parse(RunIt({"version", "--json"}).out)["version"] == "0.1.0");
}

TEST_CASE("submit sends the file and every setting", "[unit]") {
  OperatorFixture fixture;
  const Json reply =
      fixture.RunJson({"submit",     fixture.problem, "--rounds",  "3",           "--preset", "quick",    "--strategy",
                       "sequential", "--accept",      "fp32,tf32", "--eval-mode", "--seed",   "7",        "--max-usd",
                       "2.5",        "--max-tokens",  "1000",      "--repairs",   "-1",       "--models", "a,b"});
  CHECK(reply["search_id"] == "3f2a91c0d4e5f60718293a4b5c6d7e8f");
  const v1::SubmitSearchRequest request = fixture.service.submitted();
  CHECK(request.name() == "layer_norm");
  CHECK(request.source() == "class Model: pass\n");
  CHECK(request.request_id().size() == 32);
  CHECK(request.settings().rounds() == 3);
  CHECK(request.settings().preset() == "quick");
  CHECK(request.settings().strategy() == "sequential");
  CHECK(request.settings().accepted_size() == 2);
  CHECK(request.settings().accepted(1) == v1::PRECISION_CLASS_TF32);
  CHECK(request.settings().intake().eval_mode());
  CHECK(request.settings().seed() == 7);
  CHECK(request.settings().max_usd() == 2.5);
  CHECK(request.settings().max_tokens() == 1000);
  CHECK(request.settings().repairs() == -1);
  CHECK(request.settings().models_size() == 2);
  // An option with a list does not swallow the file behind it.
  CHECK(fixture.Run({"submit", "--accept", "fp32,tf32", fixture.problem}).code == 0);
  CHECK_THAT(fixture.Run({"submit", fixture.problem}).out, Catch::Contains("warpsmith watch 3f2a91c0"));
}

TEST_CASE("submit sends what the strategies need", "[unit]") {
  OperatorFixture fixture;
  CHECK(fixture.Run({"submit", fixture.problem}).code == 0);
  CHECK(!fixture.service.submitted().settings().has_stop_at_roofline_share());
  CHECK(fixture
            .Run({"submit", fixture.problem, "--strategy", "evolve", "--islands", "4", "--migration-rounds", "-1",
                  "--stop-at-roofline", "0", "--baselines", "eager"})
            .code == 0);
  const v1::SearchSettings settings = fixture.service.submitted().settings();
  CHECK(settings.strategy() == "evolve");
  CHECK(settings.islands() == 4);
  CHECK(settings.migration_rounds() == -1);
  CHECK(settings.has_stop_at_roofline_share());
  CHECK(settings.stop_at_roofline_share() == 0);
  CHECK(settings.baselines() == "eager");
  CHECK(fixture.Run({"submit", fixture.problem, "--strategy", "best_of_n"}).code == 0);
  const Printed help = RunIt({"submit", "--help"});
  for (const char* words : {"branching", "sequential", "best_of_n", "evolve", "--islands", "--migration-rounds"}) {
    CHECK_THAT(help.out, Catch::Contains(words));
  }
}

TEST_CASE("reading commands, for people and as JSON", "[unit]") {
  OperatorFixture fixture;
  CHECK_THAT(fixture.Run({"list"}).out, Catch::Contains("3f2a91c0") && Catch::Contains("200.0 % emulated"));
  CHECK(fixture.RunJson({"list"})["searches"][0]["name"] == "layer_norm");
  CHECK(fixture.RunJson({"list", "--state", "failed"})["searches"].empty());
  CHECK_THAT(fixture.Run({"tree", "3f2a91"}).out, Catch::Contains("* c0ffee12#1 ok"));
  CHECK(fixture.RunJson({"tree"})["best_lineage"].size() == 2);  // the latest
  CHECK_THAT(fixture.Run({"explain"}).out, Catch::Contains("Three of sixteen"));
  CHECK(fixture.RunJson({"explain", "3f2a91c0"})["correct"] == 10);
  CHECK_THAT(fixture.Run({"status"}).out, Catch::Contains("worker-0"));
  CHECK(fixture.RunJson({"status"})["workers"][0]["device"]["emulated"] == true);
  CHECK_THAT(fixture.Run({"bank", "list"}).out, Catch::Contains("c0ffee12") && Catch::Contains("200.0 % emulated"));
  CHECK(fixture.RunJson({"bank", "list", "--family", "matmul"})["kernels"].empty());
  const Printed all = fixture.Run({"show", "c0ffee12"});
  CHECK_THAT(all.out, Catch::Contains("idea: Keep the row") && Catch::Contains("verdict: ok") &&
                          Catch::Contains("__global__ void k()"));
  CHECK(fixture.Run({"show", "c0ffee12", "--source"}).out == FakeCandidate().source());
  CHECK_THAT(fixture.Run({"show", "c0ffee12", "--verdict"}).out, !Catch::Contains("__global__"));
  CHECK(fixture.RunJson({"show", "c0ffee12"})["evaluation"]["outcome"] == "OUTCOME_OK");
}

TEST_CASE("inject and cancel send what was said", "[unit]") {
  OperatorFixture fixture;
  CHECK(fixture.RunJson({"inject", "idea", "3f2a91c0", "--title", "use shuffles", "--category", "compute", "--step",
                         "first", "--step", "second"})["id"] == "1dea0002");
  CHECK(fixture.service.idea().idea().title() == "use shuffles");
  CHECK(fixture.service.idea().idea().plan_size() == 2);
  CHECK(fixture.service.idea().idea().origin() == "operator");
  CHECK_THAT(fixture.Run({"inject", "kernel", "3f2a91c0", fixture.kernel}).out, Catch::Contains("cafe0001"));
  CHECK(fixture.service.kernel().title() == "mine");
  CHECK(fixture.service.kernel().source() == "/* warpsmith-plan {} */\n");
  CHECK(fixture.Run({"cancel", "3f2a91c0"}).code == 0);
  CHECK(fixture.service.cancelled() == "3f2a91c0");
}

TEST_CASE("watch follows to the end, over a break, and tells how it went", "[unit]") {
  OperatorFixture fixture;
  fixture.service.BreakStreams(1);
  Printed result = fixture.Run({"watch", "3f2a91c0", "--summary"});
  CHECK(result.code == kExitOk);
  CHECK_THAT(result.err, Catch::Contains("round 1/2") && Catch::Contains("c0ffee12 is correct"));
  CHECK_THAT(result.out, Catch::Contains("Trajectory") && Catch::Contains("warpsmith show c0ffee12 --source"));
  result = fixture.Run({"watch", "--json"});
  std::istringstream lines(result.out);
  int events = 0;
  for (std::string line; std::getline(lines, line); ++events) CHECK(Json::parse(line).contains("search"));
  CHECK(events == 3);

  CHECK(OperatorFixture(Ending::kNoKernel).Run({"watch"}).code == kExitNothing);
  Printed failed = OperatorFixture(Ending::kFailed).Run({"watch"});
  CHECK(failed.code == kExitFailed);
  CHECK_THAT(failed.out, Catch::Contains("has no class Model"));
  SetInterruptedForTest();
  CHECK(OperatorFixture(Ending::kNever).Run({"watch"}).code == kExitInterrupted);
  ClearInterrupt();
}

TEST_CASE("run against a coordinator elsewhere writes the winner", "[unit]") {
  OperatorFixture fixture;
  const std::string output = (fixture.folder.path() / "sub/best.cu").string();
  Printed result = fixture.Run({"run", fixture.problem, "--output", output});
  INFO(result.err);
  CHECK(result.code == kExitOk);
  CHECK_THAT(result.out, Catch::Contains("winner: " + output));
  CHECK(*ReadFile(output) == FakeCandidate().source());
  const Json json = fixture.RunJson({"run", fixture.problem, "--output", output});
  CHECK(json["winner_file"] == output);
  CHECK(json["search"]["state"] == "SEARCH_STATE_DONE");
  OperatorFixture none(Ending::kNoKernel);
  CHECK(none.Run({"run", none.problem}).code == kExitNothing);
}

TEST_CASE("what is not there and who does not answer", "[unit]") {
  OperatorFixture fixture;
  Printed result = fixture.Run({"tree", "ffffffff"});
  CHECK(result.code == kExitNothing);
  CHECK_THAT(result.err, Catch::Contains("there is no search ffffffff"));
  CHECK(fixture.Run({"show", "ffffffff"}).code == kExitNothing);
  CHECK(fixture.Run({"watch", "ffffffff"}).code == kExitNothing);

  const std::string nobody = "unix:" + (fixture.folder.path() / "nobody.sock").string();
  result = RunIt({"status", "--coordinator", nobody});
  CHECK(result.code == kExitUnreachable);
  CHECK_THAT(result.err, Catch::Contains(nobody) && Catch::Contains("warpsmith up"));
  result = RunIt({"status", "--json", "--coordinator", nobody});
  CHECK(Json::parse(result.err)["error"]["exit_code"] == kExitUnreachable);
  result = RunIt({"status", "--data-dir", (fixture.folder.path() / "empty").string()});
  CHECK(result.code == kExitUnreachable);
  CHECK_THAT(result.err, Catch::Contains("no coordinator runs in"));
  setenv("WARPSMITH_COORDINATOR", fixture.address.c_str(), 1);
  CHECK(RunIt({"status"}).code == kExitOk);
  unsetenv("WARPSMITH_COORDINATOR");
}

// Stands in for the evaluator: says what it was asked and answers as it was told.
class ScriptedSession final : public EvaluationSession {
 public:
  ScriptedSession(v1::Outcome outcome, std::vector<v1::PrecisionClass>& accepted)
      : outcome_(outcome), accepted_(accepted) {}
  const v1::DeviceDescription& device() const override { return device_; }
  absl::StatusOr<v1::Problem> TakeIn(const std::string& name, const std::string& source) override {
    CHECK(source == "class Model: pass\n");
    if (outcome_ == v1::OUTCOME_UNSPECIFIED) return InvalidArgument("there is no class Model");
    v1::Problem problem;
    problem.set_name(name);
    return problem;
  }
  v1::Evaluation Evaluate(const v1::Problem& problem, const std::string& kernel,
                          const std::vector<v1::PrecisionClass>& accepted, std::stop_token) override {
    CHECK(problem.name() == "layer_norm");
    CHECK(kernel == "/* warpsmith-plan {} */\n");
    accepted_ = accepted;
    v1::Evaluation evaluation = FakeCandidate().evaluation();
    evaluation.set_outcome(outcome_);
    return evaluation;
  }

 private:
  const v1::Outcome outcome_;
  std::vector<v1::PrecisionClass>& accepted_;
  v1::DeviceDescription device_;
};

TEST_CASE("evaluate hands both files to the evaluator and prints its verdict", "[unit]") {
  OperatorFixture fixture;
  v1::Outcome outcome = v1::OUTCOME_OK;
  EvaluateOptions seen;
  std::vector<v1::PrecisionClass> accepted;
  const SessionFactory session = [&](const EvaluateOptions& options) {
    seen = options;
    return absl::StatusOr<std::unique_ptr<EvaluationSession>>(std::make_unique<ScriptedSession>(outcome, accepted));
  };
  Printed result = RunIt({"evaluate", fixture.problem, fixture.kernel, "--accept", "bf16", "--eval-mode"}, session);
  CHECK(result.code == kExitOk);
  CHECK_THAT(result.out, Catch::Contains("problem layer_norm") && Catch::Contains("verdict: ok"));
  CHECK(accepted == std::vector<v1::PrecisionClass>{v1::PRECISION_CLASS_BF16});
  CHECK(seen.intake.eval_mode());
  outcome = v1::OUTCOME_WRONG_OUTPUT;
  result = RunIt({"evaluate", fixture.problem, fixture.kernel, "--json"}, session);
  CHECK(result.code == kExitNothing);
  CHECK(Json::parse(result.out)["evaluation"]["outcome"] == "OUTCOME_WRONG_OUTPUT");
  outcome = v1::OUTCOME_INFRA_ERROR;
  CHECK(RunIt({"evaluate", fixture.problem, fixture.kernel}, session).code == kExitFailed);
  outcome = v1::OUTCOME_UNSPECIFIED;
  result = RunIt({"evaluate", fixture.problem, fixture.kernel}, session);
  CHECK(result.code != kExitOk);
  CHECK_THAT(result.err, Catch::Contains("there is no class Model"));
  CHECK_THAT(RunIt({"evaluate", fixture.problem, fixture.kernel}).err, Catch::Contains("built without"));
}

TEST_CASE("doctor names a remedy for everything that is not well", "[unit]") {
  OperatorFixture fixture;
  const Printed result = RunIt({"doctor", "--json", "--data-dir", fixture.folder.path().string()});
  const Json json = Json::parse(result.out);
  CHECK(result.code == (json["ok"].get<bool>() ? kExitOk : kExitFailed));
  std::vector<std::string> names;
  for (const Json& check : json["checks"]) {
    names.push_back(check["check"]);
    INFO(check.dump());
    CHECK((check["level"] == "ok") == check["remedy"].get<std::string>().empty());
  }
  // A machine with GPUs has more to say; a bundle without a coordinator needs no database.
  std::vector<std::string> expected = {"programs", "postgresql", "python",  "gpu",      "nvrtc",
                                       "g++",      "landlock",   "seccomp", "/dev/shm", "data dir"};
  if (!FindProgram("warpsmith-coordinator").ok() && !FindProgram("warpsmith-gateway").ok()) {
    expected.erase(expected.begin() + 1);
  }
  auto next = expected.begin();
  for (const std::string& name : names) {
    if (next != expected.end() && name == *next) ++next;
  }
  CHECK(next == expected.end());
}

}  // namespace warpsmith::cli
