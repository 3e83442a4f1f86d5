// `warpsmith evaluate --batch` with a session that stands in for the evaluator.
#include <atomic>
#include <catch2/catch.hpp>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>

#include "cli/batch_manifest.h"
#include "cli/batch_summary.h"
#include "cli/command_line.h"
#include "cli/evaluation_session.h"
#include "cli/exit_code.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/json.h"

namespace warpsmith::cli {
namespace {

// The verdict is the kernel's text.
class TextSession final : public EvaluationSession {
 public:
  const v1::DeviceDescription& device() const override { return device_; }
  absl::StatusOr<v1::Problem> TakeIn(const std::string& name, const std::string&) override {
    if (name == "refused") return InvalidArgument("refused.py: no Model");
    v1::Problem problem;
    problem.set_name(name);
    return problem;
  }
  v1::Evaluation Evaluate(const v1::Problem& problem, const std::string& kernel,
                          const std::vector<v1::PrecisionClass>& accepted, std::stop_token) override {
    std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
    seen.push_back(problem.name());
    accepted_classes = accepted;
    v1::Evaluation evaluation;
    v1::Outcome outcome = v1::OUTCOME_UNSPECIFIED;
    v1::Outcome_Parse(kernel, &outcome);
    evaluation.set_outcome(outcome);
    if (outcome == v1::OUTCOME_OK) evaluation.mutable_timing()->set_median_ms(0.5);
    evaluation.mutable_stage_seconds()->set_compile(0.25);
    evaluation.mutable_stage_seconds()->set_measure(0.125);
    RealClock().SleepFor(std::chrono::milliseconds(2));
    return evaluation;
  }
  std::mutex mutex;
  std::vector<std::string> seen;
  std::set<std::thread::id> threads;
  std::vector<v1::PrecisionClass> accepted_classes;

 private:
  v1::DeviceDescription device_;
};

struct FolderFixture {
  FolderFixture() {
    Write("softmax.py", "# a problem");
    Write("refused.py", "# no problem");
    Write("a.cu", "OUTCOME_OK");
    Write("b.cu", "OUTCOME_WRONG_OUTPUT");
  }
  void Write(const std::string& name, const std::string& text) {
    REQUIRE(WriteFileAtomically(folder.path() / name, text).ok());
  }
  std::string Path(const std::string& name) const { return (folder.path() / name).string(); }

  int Run(std::vector<std::string> arguments) {
    out.str("");
    err.str("");
    Context context{out, err};
    auto made = std::make_unique<TextSession>();
    session = made.get();
    context.session = [&](const EvaluateOptions&) -> absl::StatusOr<std::unique_ptr<EvaluationSession>> {
      return std::unique_ptr<EvaluationSession>(std::make_unique<Forward>(*session));
    };
    arguments.insert(arguments.begin(), "evaluate");
    int code = RunCommandLine(arguments, context);
    kept = std::move(made);
    return code;
  }

  // The program owns its session; the test looks into it afterwards.
  struct Forward final : EvaluationSession {
    explicit Forward(TextSession& s) : session(s) {}
    const v1::DeviceDescription& device() const override { return session.device(); }
    absl::StatusOr<v1::Problem> TakeIn(const std::string& name, const std::string& source) override {
      return session.TakeIn(name, source);
    }
    v1::Evaluation Evaluate(const v1::Problem& problem, const std::string& kernel,
                            const std::vector<v1::PrecisionClass>& accepted, std::stop_token stop) override {
      return session.Evaluate(problem, kernel, accepted, std::move(stop));
    }
    TextSession& session;
  };

  TemporaryDirectory folder = *TemporaryDirectory::Create("batch-test");
  std::ostringstream out, err;
  TextSession* session = nullptr;
  std::unique_ptr<TextSession> kept;
};

TEST_CASE("a folder's kernels are evaluated and summed up", "[unit]") {
  FolderFixture f;
  CHECK(f.Run({"--batch", f.folder.path().string(), "--problem", f.Path("softmax.py")}) == kExitOk);
  CHECK(f.out.str().find("a.cu    ok") != std::string::npos);
  CHECK(f.out.str().find("b.cu    wrong_output") != std::string::npos);
  CHECK(f.out.str().find("2 kernels: 1 ok, 1 wrong_output") != std::string::npos);
  CHECK(f.out.str().find("kernels an hour") != std::string::npos);
  CHECK(f.out.str().find("compile      0.2500") != std::string::npos);
}

TEST_CASE("a manifest's expectations are held against the verdicts", "[unit]") {
  FolderFixture f;
  f.Write("good.json", R"([{"file": "b.cu", "problem": "softmax", "expected_outcome": "wrong_output", "note": "x"},
                           {"file": "a.cu", "problem": "softmax.py", "accepted": ["tf32"], "expected_outcome": "timeout",
                            "also_allowed": ["ok"]}])");
  CHECK(f.Run({"--batch", f.Path("good.json")}) == kExitOk);
  f.Write("bad.json", R"([{"file": "a.cu", "problem": "softmax", "expected_outcome": "timeout"}])");
  CHECK(f.Run({"--batch", f.Path("bad.json")}) == kExitFailed);
  CHECK(f.out.str().find("ok !") != std::string::npos);
  CHECK(f.out.str().find("1 ended otherwise than expected") != std::string::npos);
}

TEST_CASE("with --json each verdict is a line, and so is a kernel that could not be evaluated", "[unit]") {
  FolderFixture f;
  f.Write("m.json", R"([{"file": "a.cu", "problem": "softmax"}, {"file": "gone.cu", "problem": "softmax"},
                        {"file": "b.cu", "problem": "refused"}])");
  CHECK(f.Run({"--batch", f.Path("m.json"), "--json"}) == kExitFailed);
  std::istringstream lines(f.out.str());
  std::map<std::string, Json> found;
  for (std::string line; std::getline(lines, line);) {
    Json json = Json::parse(line);
    found[json["file"]] = json;
  }
  REQUIRE(found.size() == 3);
  CHECK(found["a.cu"]["evaluation"]["outcome"] == "OUTCOME_OK");
  CHECK(found["gone.cu"]["error"].get<std::string>().find("gone.cu") != std::string::npos);
  CHECK(found["b.cu"]["error"] == "refused.py: no Model");
  Json summary = Json::parse(f.err.str());
  CHECK(summary["kernels"] == 3);
  CHECK(summary["stage_seconds"]["measure"] == 0.125);
}

TEST_CASE("kernels are repeated, in several threads, one problem after the other", "[unit]") {
  FolderFixture f;
  f.Write("zeta.py", "# another");
  f.Write("m.json", R"([{"file": "a.cu", "problem": "zeta"}, {"file": "a.cu", "problem": "softmax"}])");
  CHECK(f.Run({"--batch", f.Path("m.json"), "--repeat", "20", "--jobs", "4"}) == kExitOk);
  REQUIRE(f.kept->seen.size() == 40);
  CHECK(std::count(f.kept->seen.begin(), f.kept->seen.begin() + 16, "softmax") == 16);
  CHECK(f.kept->threads.size() > 1);
}

TEST_CASE("a manifest that is wrong is told where", "[unit]") {
  FolderFixture f;
  for (const auto& [text, told] : std::vector<std::pair<std::string, std::string>>{
           {"{}", "must be a JSON list"},
           {"[]", "there is no kernel"},
           {R"([{"problem": "softmax"}])", "entry 0"},
           {R"([{"file": "a.cu", "problem": "nowhere"}])", "there is no problem nowhere"},
           {R"([{"file": "a.cu"}])", "--problem"},
           {R"([{"file": "a.cu", "problem": "softmax", "accepted": ["fp7"]}])", "fp7"},
           {R"([{"file": "a.cu", "problem": "softmax", "expected_outcome": 3}])", "expected_outcome"}}) {
    f.Write("m.json", text);
    INFO(text);
    CHECK(f.Run({"--batch", f.Path("m.json")}) == kExitUsage);
    CHECK(f.err.str().find(told) != std::string::npos);
  }
  CHECK(f.Run({"--batch", f.folder.path().string()}) == kExitUsage);
  CHECK(f.Run({f.Path("softmax.py")}) == kExitUsage);
  CHECK(f.Run({f.Path("softmax.py"), f.Path("a.cu"), "--batch", f.Path("m.json")}) == kExitUsage);
}

}  // namespace
}  // namespace warpsmith::cli
