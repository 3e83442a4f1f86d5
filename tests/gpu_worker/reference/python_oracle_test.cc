// The client against the real oracle: buffers, trials, verdicts, restarts.
#include "gpu_worker/reference/python_oracle.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "common/file.h"

namespace warpsmith::reference {
namespace {

const std::string kProblems = WARPSMITH_SOURCE_DIR "/tests/gpu_worker/reference/problems/";

// What an executor does with a buffer file.
class Mapping {
 public:
  explicit Mapping(const SharedBuffer& file) : file_(file) {
    const int descriptor = open(file.path.c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(descriptor >= 0);
    size_ = static_cast<size_t>(lseek(descriptor, 0, SEEK_END));
    base_ = static_cast<char*>(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0));
    close(descriptor);
    REQUIRE(base_ != MAP_FAILED);
  }
  ~Mapping() { munmap(base_, size_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  float* floats() { return reinterpret_cast<float*>(base_ + file_.payload_offset); }
  char* end() { return base_ + file_.payload_offset + file_.payload_bytes; }

 private:
  SharedBuffer file_;
  size_t size_ = 0;
  char* base_ = nullptr;
};

constexpr int kRows = 96, kInputs = 128, kOutputs = 80;

// A candidate of small_linear.py in plain C++: y = x W^T + b. Buffers in signature order, then scratch.
void Linear(const std::vector<SharedBuffer>& files, int rows = kRows, bool bias = true) {
  Mapping x(files[0]), weight(files[1]), offset(files[2]), output(files[3]);
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < kOutputs; ++column) {
      float sum = 0;
      for (int k = 0; k < kInputs; ++k) sum += x.floats()[row * kInputs + k] * weight.floats()[column * kInputs + k];
      output.floats()[row * kOutputs + column] = sum + (bias ? offset.floats()[column] : 0);
    }
  }
}

class Session {
 public:
  Session() : oracle(Options()), directory(*TemporaryDirectory::Create("warpsmith-reference-", "/dev/shm")) {
    source = *ReadFile(kProblems + "small_linear.py");
    const auto taken = oracle.Intake("small_linear", source, settings);
    REQUIRE(taken.ok());
    REQUIRE(taken->error() == "");
    signature = taken->signature();
    for (const v1::TensorSpec& tensor : signature.tensors()) {
      v1::ExecutionBuffer* buffer = plan.add_buffers();
      buffer->set_name(tensor.name());
      buffer->set_dtype(tensor.dtype());
      buffer->set_bytes(tensor.storage_bytes());
      buffer->set_kind(tensor.role() == v1::TENSOR_ROLE_OUTPUT ? v1::BUFFER_KIND_OUTPUT : v1::BUFFER_KIND_READ_ONLY);
    }
    v1::ExecutionBuffer* scratch = plan.add_buffers();
    scratch->set_name("partial");
    scratch->set_dtype("float32");
    scratch->set_bytes(1000);
    scratch->set_kind(v1::BUFFER_KIND_SCRATCH);
  }

  static PythonOracleOptions Options() {
    PythonOracleOptions options;
    options.threads = 1;
    options.memory_bytes = 2ull << 30;
    options.command_deadline = std::chrono::seconds(10);
    return options;
  }

  absl::Status Load() { return oracle.Load("id", "small_linear", source, settings, signature); }

  std::vector<std::vector<SharedBuffer>> Ready(int slots = 1) {
    REQUIRE(Load().ok());
    auto places = oracle.Prepare(directory.path().string(), plan, slots);
    CAPTURE(Message(places.status()));
    REQUIRE(places.ok());
    return *places;
  }

  PythonOracle oracle;
  TemporaryDirectory directory;
  std::string source;
  v1::IntakeSettings settings;
  v1::ProblemSignature signature;
  v1::ExecutionPlan plan;
};

TEST_CASE("an honest candidate passes on every distribution and in two slots", "[python]") {
  Session session;
  const auto places = session.Ready(2);
  REQUIRE(places.size() == 2);
  REQUIRE(places[0].size() == 5);
  CHECK(places[0][0].path != places[1][0].path);
  CHECK(places[0][3].payload_bytes == kRows * kOutputs * 4);
  CHECK(places[0][3].payload_offset % 4096 == 0);
  std::string digest;
  int number = 0;
  for (const std::string& distribution : session.signature.distributions()) {
    CAPTURE(distribution);
    TrialRequest trial;
    trial.slot = number % 2;
    trial.seed = number;
    trial.distribution = distribution;
    trial.output_fill = number % 2 == 0 ? OutputFill::kPoisonA : OutputFill::kPoisonB;
    trial.scratch_fill = number % 2 == 0 ? ScratchFill::kPoison : ScratchFill::kLarge;
    REQUIRE(session.oracle.BeginTrial(trial).ok());
    Linear(places[trial.slot]);
    JudgeRequest request;
    request.slot = trial.slot;
    const auto report = session.oracle.Judge(request);
    REQUIRE(report.ok());
    CAPTURE(report->message);
    CHECK(report->outcome == v1::OUTCOME_OK);
    CHECK(report->verdict.passed());
    CHECK(report->verdict.reached() == v1::PRECISION_CLASS_FP32);
    CHECK(report->verdict.distribution() == distribution);
    CHECK(report->verdict.relative_rms_error() < 1e-5);
    CHECK(report->output_digest.size() == 64);
    CHECK(report->output_digest != digest);
    digest = report->output_digest;
    ++number;
  }
}

v1::Outcome Outcome(Session& session, const std::vector<SharedBuffer>& files,
                    void (*candidate)(const std::vector<SharedBuffer>&), JudgeReport* out = nullptr) {
  REQUIRE(session.oracle.BeginTrial({}).ok());
  candidate(files);
  auto report = session.oracle.Judge({});
  REQUIRE(report.ok());
  if (out != nullptr) *out = *report;
  return report->outcome;
}

TEST_CASE("wrong candidates get their outcome", "[python]") {
  Session session;
  const auto files = session.Ready()[0];
  JudgeReport report;
  CHECK(Outcome(session, files, [](const auto&) {}) == v1::OUTCOME_UNWRITTEN_OUTPUT);
  CHECK(Outcome(
            session, files, [](const auto& all) { Linear(all, kRows - 1); }, &report) == v1::OUTCOME_UNWRITTEN_OUTPUT);
  CHECK(report.mismatch.wrong_elements() == kOutputs);
  CHECK(report.mismatch.index(0) == kRows - 1);
  CHECK(Outcome(
            session, files, [](const auto& all) { Linear(all, kRows, false); }, &report) == v1::OUTCOME_WRONG_OUTPUT);
  CHECK(report.mismatch.output() == "output");
  CHECK_FALSE(report.verdict.passed());
  CHECK(Outcome(
            session, files,
            [](const auto& all) {
              Linear(all);
              Mapping(all[3]).floats()[7] = std::nanf("");
            },
            &report) == v1::OUTCOME_NON_FINITE);
  CHECK(std::isnan(report.mismatch.got()));
  CHECK(Outcome(session, files, [](const auto& all) {
          Linear(all);
          *Mapping(all[3]).end() ^= 1;
        }) == v1::OUTCOME_OUT_OF_BOUNDS);
  CHECK(Outcome(
            session, files,
            [](const auto& all) {
              Linear(all);
              *Mapping(all[4]).end() ^= 1;
            },
            &report) == v1::OUTCOME_OUT_OF_BOUNDS);
  CHECK_THAT(report.message, Catch::Contains("partial"));
  CHECK(Outcome(session, files, [](const auto& all) {
          Linear(all);
          Mapping(all[1]).floats()[3] += 1;
        }) == v1::OUTCOME_INPUT_MODIFIED);
  CHECK(Outcome(session, files, [](const auto& all) { Linear(all); }) == v1::OUTCOME_OK);
}

TEST_CASE("loading again is free, the reference can be timed, buffers go on release", "[python]") {
  Session session;
  const auto files = session.Ready()[0];
  const int process = session.oracle.ProcessIdForTest();
  REQUIRE(session.Load().ok());
  CHECK(session.oracle.ProcessIdForTest() == process);
  CHECK(access(files[0].path.c_str(), F_OK) == 0);
  const auto time = session.oracle.TimeReference(0.1);
  REQUIRE(time.ok());
  CHECK(time->median_ms > 0);
  CHECK(time->samples >= 5);
  REQUIRE(session.oracle.Release().ok());
  CHECK(access(files[0].path.c_str(), F_OK) != 0);
  CHECK(absl::IsFailedPrecondition(session.oracle.Judge({}).status()));
}

TEST_CASE("beside a CPU there is nothing to make quiet and no baseline but eager", "[python]") {
  Session session;
  CHECK(session.oracle.Quiesce().ok());
  session.Ready();
  CHECK(session.oracle.Quiesce().ok());
  const auto time = session.oracle.TimeReference(0.05);
  REQUIRE(time.ok());
  CHECK_FALSE(time->samples_ms.empty());
  const auto baselines = session.oracle.Baselines("small_linear", session.source, session.settings, {"eager_graph"});
  REQUIRE(baselines.ok());
  CHECK(baselines->empty());
}

TEST_CASE("calls out of order and wrong requests are errors of their own", "[python]") {
  PythonOracle fresh(Session::Options());
  CHECK(absl::IsFailedPrecondition(fresh.BeginTrial({})));
  CHECK(fresh.Release().ok());
  Session session;
  session.Ready();
  TrialRequest trial;
  trial.distribution = "odd";
  CHECK(absl::IsInvalidArgument(session.oracle.BeginTrial(trial)));
  trial = {};
  trial.slot = 9;
  CHECK(absl::IsInvalidArgument(session.oracle.BeginTrial(trial)));
  CHECK(absl::IsInvalidArgument(session.oracle.Judge({}).status()));  // no trial yet
  session.plan.mutable_buffers(0)->set_bytes(4);
  CHECK(absl::IsInvalidArgument(session.oracle.Prepare(session.directory.path().string(), session.plan, 1).status()));
  CHECK(session.oracle.ProcessIdForTest() > 0);
  CHECK_FALSE(session.oracle.Load("bad", "bad", "import nothing_here", {}, session.signature).ok());
}

TEST_CASE("an oracle that died or hangs is restarted by the next load", "[python]") {
  Session session;
  session.Ready();
  const int process = session.oracle.ProcessIdForTest();
  REQUIRE(kill(process, SIGKILL) == 0);
  const absl::Status died = session.oracle.BeginTrial({});
  CHECK(absl::IsUnavailable(died));
  CHECK_THAT(Message(died), Catch::Contains("SIGKILL"));
  CHECK(absl::IsFailedPrecondition(session.oracle.BeginTrial({})));
  const TemporaryDirectory other = *TemporaryDirectory::Create("warpsmith-reference-", "/dev/shm");
  REQUIRE(session.Load().ok());
  CHECK(session.oracle.ProcessIdForTest() != process);
  const auto places = session.oracle.Prepare(other.path().string(), session.plan, 1);
  REQUIRE(places.ok());
  REQUIRE(session.oracle.BeginTrial({}).ok());
  Linear((*places)[0]);
  const auto report = session.oracle.Judge({});
  REQUIRE(report.ok());
  CHECK(report->outcome == v1::OUTCOME_OK);

  REQUIRE(kill(session.oracle.ProcessIdForTest(), SIGSTOP) == 0);
  CHECK(absl::IsDeadlineExceeded(session.oracle.Judge({}).status()));
  REQUIRE(session.Load().ok());
}

TEST_CASE("a problem that changed between intake and load is refused", "[python]") {
  Session session;
  std::string other = session.source;
  other.replace(other.find("96, 128"), 7, "97, 128");
  const absl::Status status = session.oracle.Load("other", "small_linear", other, {}, session.signature);
  CHECK(absl::IsInvalidArgument(status));
  CHECK_THAT(Message(status), Catch::Contains("[97, 128]"));
}

}  // namespace
}  // namespace warpsmith::reference
