#include "cli/import_python.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "cli/exit_code.h"
#include "common/file.h"
#include "common/json.h"
#include "tests/cli/printed.h"

namespace warpsmith::cli {
namespace {

// Files as KernelBench has them.
class PythonFiles {
 public:
  PythonFiles() : folder_(*TemporaryDirectory::Create("cli-import-python")) {}

  std::string Write(const std::string& name, const std::string& text = "class ModelNew: pass\n") {
    const std::filesystem::path path = folder_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }
  std::string Path(const std::string& name) const { return (folder_.path() / name).string(); }

 private:
  TemporaryDirectory folder_;
};

// Answers by what stands in a candidate's source.
class FakeHostCode final : public HostCodeSession {
 public:
  explicit FakeHostCode(std::vector<std::string>& log) : log_(log) {}

  absl::StatusOr<v1::Problem> TakeIn(const std::string& name, const std::string&) override {
    log_.push_back("take in " + name);
    if (name == "2_Refused") return InvalidArgument("2_Refused.py: refused");
    v1::Problem problem;
    problem.set_id("id of " + name);
    problem.set_name(name);
    return problem;
  }

  absl::StatusOr<HostCodeRow> Evaluate(const v1::Problem& problem, const std::string& source) override {
    log_.push_back("evaluate for " + problem.name());
    if (source.find("machine") != std::string::npos) return Internal("the oracle ended");
    HostCodeRow row;
    row.evaluation.add_flags("host_code");
    row.weights = "order";
    if (source.find("wrong") != std::string::npos) {
      row.evaluation.set_outcome(v1::OUTCOME_WRONG_OUTPUT);
      row.evaluation.set_message("output has the shape [1]");
      return row;
    }
    row.evaluation.set_outcome(v1::OUTCOME_OK);
    row.evaluation.mutable_timing()->set_median_ms(0.5);
    row.evaluation.mutable_timing()->set_anchor_ms(1);
    row.evaluation.set_ratio_to_eager(2);
    row.calls = 8;
    row.batches = 6;
    row.request_ms = 0.05;
    return row;
  }

 private:
  std::vector<std::string>& log_;
};

class Importing : public PythonFiles {
 public:
  Printed Run(std::vector<std::string> arguments, bool built = true) {
    arguments.insert(arguments.begin(), "import");
    HostCodeFactory host_code = [this](const HostCodeSettings& given) {
      settings = given;
      return std::unique_ptr<HostCodeSession>(std::make_unique<FakeHostCode>(log));
    };
    return RunIt(arguments, nullptr, built ? std::move(host_code) : nullptr);
  }

  std::vector<std::string> log;
  HostCodeSettings settings;
};

bool Tells(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE_METHOD(Importing, "a Python candidate is judged here and printed", "[unit]") {
  const std::string problem = Write("softmax.py"), candidate = Write("new.py");
  const Printed ended =
      Run({candidate, "--module", problem, "--accept", "tf32", "--device", "cpu", "--frozen-weights"});
  CAPTURE(ended.err);
  CHECK(ended.code == kExitOk);
  CHECK(Tells(ended.out, "2.00 times as fast as the module itself, which took 1.000 ms"));
  CHECK(Tells(ended.out, "in the constructors' order"));
  CHECK(Tells(ended.out, "6 batches of 8 calls"));
  CHECK(settings.device == "cpu");
  CHECK(settings.frozen_weights);
  CHECK(settings.accepted == std::vector<v1::PrecisionClass>{v1::PRECISION_CLASS_TF32});
}

TEST_CASE_METHOD(Importing, "a candidate that is not right ends with its own status", "[unit]") {
  const std::string problem = Write("softmax.py"), candidate = Write("new.py", "wrong\n");
  Printed ended = Run({candidate, "--module", problem});
  CHECK(ended.code == kExitNothing);
  CHECK(Tells(ended.out, "output has the shape [1]"));
  CHECK(!Tells(ended.out, "times as fast"));
  ended = Run({Write("broken.py", "machine\n"), "--module", problem});
  CHECK(ended.code == kExitFailed);
  CHECK(Tells(ended.err, "the oracle ended"));
}

TEST_CASE_METHOD(Importing, "rows are JSON and written where that is asked for", "[unit]") {
  const std::string problem = Write("softmax.py"), candidate = Write("new.py");
  const Printed ended = Run({candidate, "--module", problem, "--json", "-o", Path("rows.jsonl")});
  REQUIRE(ended.code == kExitOk);
  const Json row = Json::parse(ended.out)["rows"][0];
  CHECK(row["execution_class"] == "host_code");
  CHECK(row["outcome"] == "ok");
  CHECK(row["ms"] == 0.5);
  CHECK(row["reference_ms"] == 1.0);
  CHECK(row["ratio_to_eager"] == 2.0);
  CHECK(row["problem"]["name"] == "softmax");
  CHECK(row["evaluation"]["flags"][0] == "host_code");
  CHECK(Json::parse(*ReadFile(Path("rows.jsonl"))) == row);
}

TEST_CASE_METHOD(Importing, "a folder of KernelBench's names finds its problems, each taken in once", "[unit]") {
  Write("bench/KernelBench/level1/1_First.py");
  Write("bench/KernelBench/level1/11_Other.py");
  Write("bench/KernelBench/level2/2_Refused.py");
  Write("run/level1/level_1_problem_1_sample_0_kernel.py");
  Write("run/level1/level_1_problem_1_sample_1_kernel.py", "wrong\n");
  Write("run/level2/level_2_problem_2_sample_0_kernel.py");
  Write("run/notes.py");
  const Printed ended = Run({Path("run"), "--module", Path("bench"), "--json"});
  CHECK(ended.code != kExitOk);
  CHECK(Tells(ended.err, "2_Refused.py: refused"));
  CHECK(log == std::vector<std::string>{"take in 1_First", "evaluate for 1_First", "evaluate for 1_First",
                                        "take in 2_Refused"});
  CHECK(Json::parse(ended.out)["rows"].size() == 2);
}

TEST_CASE_METHOD(Importing, "what is missing is named with the remedy", "[unit]") {
  const std::string candidate = Write("new.py");
  Write("empty/readme.txt");
  Write("run/level_1_problem_7_sample_0_kernel.py");
  CHECK(Tells(Run({candidate}).err, "--module PROBLEM.py"));
  CHECK(Tells(Run({candidate, "--module", Path("empty")}).err, "name its file as --module"));
  CHECK(Tells(Run({Path("empty"), "--module", Path("empty")}).err, "level_1_problem_1_sample_0_kernel.py"));
  CHECK(Tells(Run({Path("run"), "--module", Path("empty")}).err, "there is no level1/7_*.py"));
  CHECK(Tells(Run({Path("empty")}).err, "--module KERNELBENCH_FOLDER"));
  CHECK(Tells(Run({candidate, "--module", candidate}, false).err, "without host code"));
  CHECK(Run({candidate}).code == kExitUsage);
}

}  // namespace warpsmith::cli
