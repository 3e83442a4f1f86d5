// `warpsmith batch`: what is sent for folders, lists and manifests, what is refused, and what is printed.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/batch_submission.h"
#include "cli/exit_code.h"
#include "cli/print_batch.h"
#include "cli/problem_manifest.h"
#include "cli/text.h"
#include "common/file.h"
#include "common/grpc_channel.h"
#include "common/json.h"
#include "tests/cli/fake_batch_service.h"
#include "tests/cli/printed.h"

namespace warpsmith::cli {
namespace {

std::string Source(const std::string& what) {
  return "import torch\nclass Model(torch.nn.Module):\n  pass  # " + what +
         "\ndef get_inputs():\n  return []\ndef get_init_inputs():\n  return []\n";
}

class BatchFixture {
 public:
  BatchFixture() : folder(*TemporaryDirectory::Create("cli-batch")) {
    address = "unix:" + (folder.path() / "c.sock").string();
    auto started = StartServer(address, {&service});
    REQUIRE(started.ok());
    server = std::move(started->server);
  }
  ~BatchFixture() { StopServer(*server, 0); }

  std::string Write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = folder.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }
  std::string Path(const std::string& name) const { return (folder.path() / name).string(); }

  Printed Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "batch");
    arguments.insert(arguments.end(), {"--coordinator", address});
    return RunIt(arguments);
  }

  FakeBatchService service;
  TemporaryDirectory folder;
  std::string address;
  std::unique_ptr<grpc::Server> server;
};

// A small checkout of KernelBench.
void WriteLevels(BatchFixture& fixture) {
  fixture.Write("kb/KernelBench/level1/100_HingeLoss.py", Source("hinge"));
  fixture.Write("kb/KernelBench/level1/1_Square_matrix_multiplication_.py", Source("square"));
  fixture.Write("kb/KernelBench/level1/23_Softmax.py", Source("softmax"));
  fixture.Write("kb/KernelBench/level2/1_Conv2D_ReLU_BiasAdd.py", Source("conv"));
  fixture.Write("kb/KernelBench/level1/README.md", "not a problem");
}

TEST_CASE("a checkout, its folder of levels and a level are problems with KernelBench's names and ids", "[unit]") {
  BatchFixture fixture;
  WriteLevels(fixture);
  for (const char* path : {"kb", "kb/KernelBench"}) {
    REQUIRE(fixture.Run({"submit", fixture.Path(path)}).code == kExitOk);
    const v1::SubmitBatchRequest request = fixture.service.submitted();
    REQUIRE(request.problems_size() == 4);
    CHECK(request.problems(0).name() == "1_Square_matrix_multiplication_");
    CHECK(request.problems(1).name() == "23_Softmax");
    CHECK(request.problems(2).name() == "100_HingeLoss");
    CHECK(request.problems(2).number() == 100);
    CHECK(request.problems(2).level() == 1);
    CHECK(request.problems(3).level() == 2);
    CHECK(request.problems(3).number() == 1);
    CHECK(request.problems(1).source() == Source("softmax"));
    CHECK(!request.more());
  }
  const Printed result = fixture.Run({"submit", fixture.Path("kb/KernelBench/level1"), "--preset", "quick", "--accept",
                                      "fp32,tf32", "--max-usd", "200", "--max-gpu-hours", "8", "--parallel", "0",
                                      "--priority", "5", "--owner", "ada", "--request-id", "again"});
  CHECK(result.code == kExitOk);
  CHECK_THAT(result.out, Catch::Contains("warpsmith batch watch ba7c41d0"));
  const v1::SubmitBatchRequest request = fixture.service.submitted();
  CHECK(request.name() == "level1");
  CHECK(request.problems_size() == 3);
  CHECK(request.problems(0).settings().preset() == "quick");
  CHECK(request.problems(0).settings().accepted_size() == 2);
  CHECK(request.problems(0).settings().max_usd() == 0);
  CHECK(request.limits().max_usd() == 200);
  CHECK(request.limits().max_gpu_hours() == 8);
  CHECK(request.limits().parallel() == 0);
  CHECK(request.limits().priority() == 5);
  CHECK(request.owner() == "ada");
  CHECK(request.request_id() == "again");
  CHECK(!request.submitted_by().empty());
}

TEST_CASE("what cannot be searched is named with its remedy before anything is sent", "[unit]") {
  BatchFixture fixture;
  fixture.Write("level3/1_Good.py", Source("good"));
  fixture.Write("level3/2_NoModel.py", "x = 1\n");
  fixture.Write("level3/3_NoInputs.py", "class Model: pass\n");
  fixture.Write("level3/1_SameId.py", Source("other"));
  fixture.Write("level3/5_SameText.py", Source("good"));
  fixture.Write("level3/6_Empty.py", "");
  fixture.Write("level3/7_Large.py", Source("large") + std::string(1u << 20, '#'));
  fixture.Write("level3/8_Latin.py", Source("gr\xf6\xdf"
                                            "er"));
  std::filesystem::create_symlink("/nowhere/at/all.py", fixture.Path("level3/9_Dangling.py"));
  Printed result = fixture.Run({"submit", fixture.Path("level3")});
  CHECK(result.code == kExitUsage);
  for (const char* says : {"8 of the files cannot be searched; nothing was submitted",
                           "2_NoModel.py: there is no class Model", "3_NoInputs.py: there is no function get_inputs",
                           "the id 1 of level 3 is that of", "5_SameText.py: it has the same text as", "6_Empty.py",
                           "7_Large.py", "8_Latin.py", "UTF-8", "9_Dangling.py", "--skip-bad"}) {
    CHECK_THAT(result.err, Catch::Contains(says));
  }
  CHECK(fixture.service.submitted().name().empty());
  result = fixture.Run({"submit", fixture.Path("level3"), "--skip-bad"});
  CHECK(result.code == kExitOk);
  CHECK_THAT(result.err, Catch::Contains("left out:") && Catch::Contains("7_Large.py"));
  CHECK(fixture.service.submitted().problems_size() == 1);

  CHECK_THAT(fixture.Run({"submit", "/nowhere"}).err, Catch::Contains("/nowhere: there is no such file"));
  fixture.Write("empty/readme.txt", "");
  CHECK_THAT(fixture.Run({"submit", fixture.Path("empty")}).err, Catch::Contains("there are no .py files"));
  const std::string only = fixture.Write("only/2_NoModel.py", "x = 1\n");
  CHECK(fixture.Run({"submit", only, "--skip-bad"}).code == kExitUsage);
}

TEST_CASE("a list names files and folders relative to itself", "[unit]") {
  BatchFixture fixture;
  WriteLevels(fixture);
  const std::string list = fixture.Write(
      "kb/mine.txt", "# the two that matter\nKernelBench/level1/23_Softmax.py  # hot\n\nKernelBench/level2\n");
  REQUIRE(fixture.Run({"submit", list}).code == kExitOk);
  const v1::SubmitBatchRequest request = fixture.service.submitted();
  CHECK(request.name() == "mine");
  REQUIRE(request.problems_size() == 2);
  CHECK(request.problems(1).name() == "1_Conv2D_ReLU_BiasAdd");
  CHECK_THAT(fixture.Run({"submit", fixture.Write("none.txt", "# nothing\n")}).err,
             Catch::Contains("the list is empty"));
  CHECK_THAT(fixture.Run({"submit", fixture.Write("wrong.txt", "gone.py\n")}).err, Catch::Contains("gone.py"));
}

TEST_CASE("a manifest's settings give way to the command line's, and those to a problem's own", "[unit]") {
  BatchFixture fixture;
  WriteLevels(fixture);
  const std::string yaml = fixture.Write("kb/night.yaml", R"(
name: nightly
owner: ada
priority: 7
max_usd: 50
settings: {preset: quick, rounds: 4, accepted: [fp32, tf32], models: [a, b]}
problems:
  - KernelBench/level1
  - path: KernelBench/level2/1_Conv2D_ReLU_BiasAdd.py
    settings:
      rounds: 9
      accepted: bf16
      intake: {eval_mode: true}
      model_split: {}
      max_usd: 3.5
)");
  REQUIRE(fixture.Run({"submit", yaml, "--rounds", "6", "--max-usd", "60"}).code == kExitOk);
  const v1::SubmitBatchRequest request = fixture.service.submitted();
  CHECK(request.name() == "nightly");
  CHECK(request.owner() == "ada");
  CHECK(request.limits().priority() == 7);
  CHECK(request.limits().max_usd() == 60);
  CHECK(request.limits().parallel() == 8);
  REQUIRE(request.problems_size() == 4);
  const v1::SearchSettings& usual = request.problems(0).settings();
  CHECK(usual.preset() == "quick");
  CHECK(usual.rounds() == 6);
  CHECK(usual.accepted_size() == 2);
  CHECK(usual.models_size() == 2);
  const v1::SearchSettings& own = request.problems(3).settings();
  CHECK(own.rounds() == 9);
  CHECK(own.preset() == "quick");
  REQUIRE(own.accepted_size() == 1);
  CHECK(own.accepted(0) == v1::PRECISION_CLASS_BF16);
  CHECK(own.intake().eval_mode());
  CHECK(own.max_usd() == 3.5);

  const std::string json = fixture.Write("kb/m.json", R"({"parallel": 2, "problems": ["KernelBench/level2"]})");
  REQUIRE(fixture.Run({"submit", json}).code == kExitOk);
  CHECK(fixture.service.submitted().name() == "m");
  CHECK(fixture.service.submitted().limits().parallel() == 2);
}

TEST_CASE("what is wrong in a manifest is named by its field", "[unit]") {
  BatchFixture fixture;
  fixture.Write("1_A.py", Source("a"));
  const auto says = [&](const std::string& text, const std::string& error) {
    const Printed result = fixture.Run({"submit", fixture.Write("m.yaml", text)});
    CHECK(result.code == kExitUsage);
    CHECK_THAT(result.err, Catch::Contains("m.yaml") && Catch::Contains(error));
  };
  says("- a\n", "an object with a list `problems`");
  says("problems: []\n", "at least one path");
  says("problems: [1_A.py]\ncolour: red\n", "there is no field colour; there are max_gpu_hours");
  says("problems: [1_A.py]\nmax_usd: lots\n", "max_usd must be a number");
  says("problems: [1_A.py]\nparallel: 1.5\n", "parallel must be a whole number");
  says("problems: [1_A.py]\nname: 7\n", "name must be a text");
  says("problems: [{settings: {rounds: 2}}]\n", "problems[0]: give a path");
  says("problems: [1_A.py]\nsettings: {round: 2}\n", "settings:");
  says("problems: [1_A.py]\nsettings: {strategy: luck}\n", "strategy");
  says("problems: [{path: 1_A.py, settings: {accepted: [fp8]}}]\n", "fp8");
  says("problems: [1_A.py\n", "line");
  says("name: a\nname: b\nproblems: [1_A.py]\n", "name is there twice");
  says(
      "a: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, "
      "*b]\n"
      "d: &d [*c, *c, *c, *c, *c, *c, *c, *c]\ne: &e [*d, *d, *d, *d, *d, *d, *d, *d]\nproblems: [*e, *e, *e, *e]\n",
      "write it out plainly");
}

TEST_CASE("sources that do not fit into one message are sent in parts", "[unit]") {
  BatchFixture fixture;
  for (int i = 1; i <= 12; ++i) {
    fixture.Write("level1/" + std::to_string(i) + "_Big.py",
                  Source(std::to_string(i)) + "#" + std::string(900'000, 'x') + "\n");
  }
  REQUIRE(fixture.Run({"submit", fixture.Path("level1")}).code == kExitOk);
  CHECK(fixture.service.submitted().more());
  CHECK(fixture.service.submitted().problems_size() == 4);
  const auto added = fixture.service.added();
  REQUIRE(added.size() == 2);
  CHECK(added[0].more());
  CHECK(!added[1].more());
  CHECK(added[0].problems_size() + added[1].problems_size() == 8);
  CHECK(added[0].batch_id() == FakeBatch().id());
}

TEST_CASE("commands on a batch send what was said", "[unit]") {
  BatchFixture fixture;
  CHECK(fixture.Run({"pause", "ba7c41d0"}).code == kExitOk);
  CHECK(fixture.Run({"resume", "ba7c41d0"}).code == kExitOk);
  CHECK(fixture.Run({"cancel", "ba7c41d0"}).code == kExitOk);
  CHECK_THAT(fixture.Run({"retry", "ba7c41d0"}).out, Catch::Contains("1 problems are tried again"));
  CHECK(fixture.service.calls() ==
        std::vector<std::string>{"pause ba7c41d0", "resume ba7c41d0", "cancel ba7c41d0", "retry ba7c41d0"});
  CHECK(fixture.Run({"set", "ba7c41d0", "--priority", "-3", "--max-usd", "0"}).code == kExitOk);
  CHECK(fixture.service.set().priority() == -3);
  CHECK(fixture.service.set().has_max_usd());
  CHECK(!fixture.service.set().has_parallel());
  fixture.Write("level2/7_More.py", Source("more"));
  CHECK(fixture.Run({"add", "ba7c41d0", fixture.Path("level2")}).code == kExitOk);
  CHECK(fixture.service.added().at(0).problems(0).number() == 7);
  CHECK(!fixture.service.added().at(0).more());
  CHECK(fixture.Run({"show", "ffffff"}).code == kExitNothing);
  CHECK(fixture.Run({"pause"}).code == kExitUsage);
  CHECK(fixture.Run({"set", "ba7c41d0", "--priority", "101"}).code == kExitUsage);
}

TEST_CASE("show and watch draw the table, list a line a batch; all print JSON", "[unit]") {
  BatchFixture fixture;
  const std::string table = fixture.Run({"show"}).out;  // the latest
  for (const char* part : {"level1/1_Square_matrix_multip…", "2.500x emulated", "next round", "failed", "roofline",
                           "failed: level2/2_Broken: problem 2_Broken: there is no class Model", "$1.25", "3/5",
                           "fast_0 0.500, fast_1 0.250, fast_1.5 0.250, fast_2 0.250", "of all problems (emulated)",
                           "1.369x PyTorch eager (emulated)", "$5.00, 1.5M tokens, 123.4 GPU seconds",
                           "3 of 4 problems ended, 2 solved, 1 failed", "priority 3, 8 at once, at most $200.00"}) {
    CHECK_THAT(table, Catch::Contains(part));
  }
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) CHECK(DisplayWidth(line) <= kPageWidth);
  const Printed watched = fixture.Run({"watch", "ba7c41d0"});
  CHECK(watched.code == kExitOk);
  CHECK_THAT(watched.err, Catch::Contains("running: 3/4 ended, 2 solved") && Catch::Contains("done: 3/4"));
  CHECK(watched.out == table);
  std::istringstream events(fixture.Run({"watch", "ba7c41d0", "--json"}).out);
  std::string event, last;
  while (std::getline(events, event)) last = event;
  CHECK(Json::parse(last)["state"] == "done");
  CHECK(Json::parse(fixture.Run({"show", "ba7c41d0", "--json"}).out)["totals"]["fast_1_5"] == 0.25);
  CHECK_THAT(fixture.Run({"list"}).out, Catch::Contains("ba7c41d0") && Catch::Contains("3/4"));
  CHECK(Json::parse(fixture.Run({"list", "--owner", "bob", "--json"}).out)["batches"].empty());
  CHECK(fixture.Run({"list", "--owner", "bob"}).out == "no batches\n");
}

TEST_CASE("every batch command has help with an example", "[unit]") {
  for (const char* name :
       {"submit", "list", "show", "watch", "pause", "resume", "cancel", "retry", "add", "set", "--help"}) {
    const Printed help = RunIt({"batch", name, "--help"});
    CHECK(help.code == kExitOk);
    CHECK_THAT(help.out, Catch::Contains("Example: warpsmith batch "));
  }
}

}  // namespace
}  // namespace warpsmith::cli
