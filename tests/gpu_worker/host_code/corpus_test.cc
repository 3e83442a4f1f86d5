// Honest and hostile candidates against the real thing on the CPU: sandbox, oracle, clock. Each file says on its first
// line what must become of it.
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/file.h"
#include "common/protocol_names.h"
#include "gpu_worker/host_code/host_code_evaluator.h"

namespace warpsmith::host_code {
namespace {

const std::string kFolder = WARPSMITH_SOURCE_DIR "/tests/gpu_worker/host_code/";

struct Expected {
  std::string outcome;
  std::string text;  // of the message
  bool compiles = false;
};

Expected ExpectedOf(const std::string& source) {
  constexpr std::string_view kMark = "# expect: ";
  REQUIRE(source.starts_with(kMark));
  const std::string line = source.substr(kMark.size(), source.find('\n') - kMark.size());
  const size_t bar = line.find(" | ");
  Expected expected{line.substr(0, bar), bar == std::string::npos ? "" : line.substr(bar + 3)};
  expected.compiles = source.find("\n# compiles\n") != std::string::npos;
  return expected;
}

HostCodeOptions Options() {
  HostCodeOptions options;
  options.threads = 1;
  options.memory_bytes = uint64_t{1} << 30;
  options.bench.most_slots = 4;
  options.bench.batch_seconds = 10;  // as many slots as there may be, however slow the machine is
  options.bench.run_limit_seconds = 60;
  options.bench.load_limit_seconds = 120;
  options.run.least_batches = 2;
  options.run.more_batches = 1;
  options.run.reference_batches = 2;
  return options;
}

// Processes of host code that run or wait anywhere on this machine and whose command line names `folder`.
int ProcessesIn(const std::string& folder) {
  int found = 0;
  for (const std::filesystem::path& entry : EntriesOf("/proc")) {
    std::ifstream file(entry / "cmdline");
    const std::string line((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (line.find(folder) != std::string::npos && line.find("candidate") != std::string::npos) ++found;
  }
  return found;
}

// Whether they have gone, after a while: a busy machine takes its time to end what was killed.
bool Gone(const std::string& folder) {
  for (int i = 0; i < 500 && ProcessesIn(folder) > 0; ++i) RealClock().SleepFor(std::chrono::milliseconds(10));
  return ProcessesIn(folder) == 0;
}

// Where temporary folders of this test lie: by it its processes are told from others.
const std::string& Home() {
  static const TemporaryDirectory folder = *TemporaryDirectory::Create("warpsmith-host-code-test-");
  static const std::string path = folder.path().string();
  return path;
}

// One oracle and one process of the reference for all cases.
class Machine {
 public:
  static Machine& Get() {
    static Machine machine(Options());
    return machine;
  }
  // For what never ends: the others are given more time than any machine needs.
  static Machine& Impatient() {
    static Machine machine([] {
      HostCodeOptions options = Options();
      options.bench.run_limit_seconds = 5;
      options.bench.load_limit_seconds = 5;
      return options;
    }());
    return machine;
  }

  absl::StatusOr<HostCodeVerdict> Evaluate(const HostCodeCandidate& candidate) {
    return evaluator_->Evaluate(problem_, settings_, candidate);
  }

  HostCodeVerdict Judge(const std::string& name) {
    HostCodeCandidate candidate;
    candidate.source = *ReadFile(kFolder + "candidates/" + name + ".py");
    const absl::StatusOr<HostCodeVerdict> verdict = Evaluate(candidate);
    CAPTURE(name, Message(verdict.status()));
    REQUIRE(verdict.ok());
    const Expected expected = ExpectedOf(candidate.source);
    const v1::Evaluation& evaluation = verdict->evaluation;
    CAPTURE(evaluation.message(), evaluation.failed_stage(), verdict->weights);
    CHECK(std::string(OutcomeName(evaluation.outcome())) == expected.outcome);
    CHECK(evaluation.message().find(expected.text) != std::string::npos);
    CHECK(evaluation.flags_size() >= 1);
    CHECK(evaluation.flags(0) == "host_code");
    CHECK(evaluation.has_timing() == (evaluation.outcome() == v1::OUTCOME_OK));
    CHECK(Gone(Home()));
    return *verdict;
  }

 private:
  explicit Machine(const HostCodeOptions& options) {
    const std::string home = Home();
    setenv("TMPDIR", home.c_str(), 1);
    setenv("WARPSMITH_TEST_TOKEN", "a secret", 1);
    auto evaluator = HostCodeEvaluator::Create(options);
    CAPTURE(Message(evaluator.status()));
    REQUIRE(evaluator.ok());
    evaluator_ = *std::move(evaluator);
    auto problem = evaluator_->TakeIn("problem", *ReadFile(kFolder + "problem.py"), settings_);
    CAPTURE(Message(problem.status()));
    REQUIRE(problem.ok());
    problem_ = *std::move(problem);
  }

  v1::IntakeSettings settings_;
  std::unique_ptr<HostCodeEvaluator> evaluator_;
  v1::Problem problem_;
};

}  // namespace

TEST_CASE("an honest module is right and timed beside the problem's own", "[host_code]") {
  const HostCodeVerdict verdict = Machine::Get().Judge("honest");
  const v1::Evaluation& evaluation = verdict.evaluation;
  CHECK(evaluation.timing().median_ms() > 0);
  CHECK(evaluation.timing().anchor_ms() > 0);
  // How large it is hangs on what else the machine does.
  CHECK(evaluation.ratio_to_eager() == Approx(evaluation.timing().anchor_ms() / evaluation.timing().median_ms()));
  CHECK(evaluation.timing().emulated());
  CHECK(evaluation.timing().samples() == verdict.batches);
  CHECK(verdict.batches >= 2);
  CHECK(verdict.calls == 4);
  CHECK(verdict.weights == "name");
  int timed = 0, parameters = 0;
  for (const v1::TrialVerdict& trial : evaluation.trials()) {
    timed += trial.after_timed_launch() ? 1 : 0;
    parameters += trial.distribution() == "parameters" ? 1 : 0;
    CHECK(trial.passed());
  }
  CHECK(timed >= 4);
  CHECK(parameters == 1);
}

TEST_CASE("what the sandbox must refuse is refused, and nothing of a candidate outlives it", "[host_code]") {
  Machine::Get().Judge("probes");
  CHECK(!std::filesystem::exists("/tmp/warpsmith-escaped"));
  CHECK(!std::filesystem::exists("/dev/shm/warpsmith-escaped"));
}

TEST_CASE("a batch that was computed in part is not right", "[host_code]") {
  const HostCodeVerdict verdict = Machine::Get().Judge("skips");
  CHECK(verdict.evaluation.failed_stage() == "timed_launch");
}

TEST_CASE("a process that ends in a call is the candidate's failure", "[host_code]") {
  Machine::Get().Judge("exits_behind_a_child");
}

TEST_CASE("every candidate of the corpus gets the outcome that its file names", "[.slow][host_code]") {
  for (const std::filesystem::path& file : EntriesOf(kFolder + "candidates")) {
    if (file.extension() != ".py" || ExpectedOf(*ReadFile(file)).compiles) continue;
    const std::string name = file.stem().string();
    (name.starts_with("loops") ? Machine::Impatient() : Machine::Get()).Judge(name);
  }
}

TEST_CASE("native code is compiled in the candidate's own folder", "[.slow][host_code]") {
  HostCodeOptions options = Options();
  options.bench.load_limit_seconds = 600;  // a compiler on a busy machine
  auto evaluator = HostCodeEvaluator::Create(options);
  REQUIRE(evaluator.ok());
  const v1::IntakeSettings settings;
  const auto problem = (*evaluator)->TakeIn("problem", *ReadFile(kFolder + "problem.py"), settings);
  REQUIRE(problem.ok());
  for (const char* name : {"native", "native_exits", "native_fails", "extension"}) {
    HostCodeCandidate candidate;
    candidate.source = *ReadFile(kFolder + "candidates/" + name + ".py");
    const auto verdict = (*evaluator)->Evaluate(*problem, settings, candidate);
    CAPTURE(name, Message(verdict.status()));
    REQUIRE(verdict.ok());
    const Expected expected = ExpectedOf(candidate.source);
    const std::string& message = verdict->evaluation.message();
    CAPTURE(message);
    if (message.find("torch/extension.h: No such file") != std::string::npos) {
      WARN("PyTorch's headers are not on this machine (Debian: libtorch-dev): no inline extension was compiled");
      continue;
    }
    CHECK(std::string(OutcomeName(verdict->evaluation.outcome())) == expected.outcome);
    CHECK(message.find(expected.text) != std::string::npos);
  }
}

TEST_CASE("weights that are packed once are right where weights are frozen", "[.slow][host_code]") {
  HostCodeCandidate candidate;
  candidate.source = *ReadFile(kFolder + "candidates/packed_weights.py");
  candidate.frozen_weights = true;
  const auto verdict = Machine::Get().Evaluate(candidate);
  REQUIRE(verdict.ok());
  CAPTURE(verdict->evaluation.message());
  CHECK(verdict->evaluation.outcome() == v1::OUTCOME_OK);
}

}  // namespace warpsmith::host_code
