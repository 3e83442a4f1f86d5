// Intake through the client: good problems, and every kind of bad one with the part of the file that is wrong.
#include <signal.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "common/clock.h"
#include "common/file.h"
#include "gpu_worker/reference/python_locator.h"
#include "gpu_worker/reference/python_oracle.h"

namespace warpsmith::reference {
namespace {

const std::string kProblems = WARPSMITH_SOURCE_DIR "/tests/problems/";

PythonOracleOptions Options() {
  PythonOracleOptions options;
  options.threads = 1;
  options.memory_bytes = 2ull << 30;
  return options;
}

absl::StatusOr<v1::IntakeResult> TakeIn(PythonOracle& oracle, const std::string& path,
                                        const v1::IntakeSettings& settings = {}) {
  const absl::StatusOr<std::string> source = ReadFile(path);
  if (!source.ok()) return source.status();
  return oracle.Intake(std::filesystem::path(path).stem().string(), *source, settings);
}

TEST_CASE("a good problem is published with its baseline", "[python]") {
  PythonOracle oracle(Options());
  const auto result = TakeIn(oracle, kProblems + "layer_norm.py");
  REQUIRE(result.ok());
  CAPTURE(result->error());
  REQUIRE(result->error().empty());
  const v1::ProblemSignature& signature = result->signature();
  REQUIRE(signature.tensors_size() == 4);
  CHECK(signature.tensors(0).role() == v1::TENSOR_ROLE_INPUT);
  CHECK(signature.tensors(3).name() == "output");
  CHECK(signature.tensors(3).role() == v1::TENSOR_ROLE_OUTPUT);
  CHECK(signature.tensors(0).storage_bytes() == signature.tensors(3).storage_bytes());
  CHECK(signature.operator_family() == "layer_norm");
  CHECK(signature.mutates_policy() == v1::MUTATES_POLICY_IGNORED);
  CHECK(signature.tolerance() == Approx(1e-2));
  REQUIRE(signature.distributions_size() >= 5);
  CHECK(signature.distributions(0) == "plain");
  CHECK_FALSE(signature.degenerate());
  REQUIRE(result->baselines_size() == 1);
  CHECK(result->baselines(0).name() == "eager");
  CHECK(result->baselines(0).emulated());
  CHECK(result->baselines(0).median_ms() > 0);
  CHECK(result->baselines(0).precision_class() == v1::PRECISION_CLASS_FP32);
  CHECK_FALSE(result->baselines(0).harness_rev().empty());
}

TEST_CASE("live dropout is refused, and taken in eval mode", "[python]") {
  PythonOracle oracle(Options());
  const auto refused = TakeIn(oracle, kProblems + "dropout.py");
  REQUIRE(refused.ok());
  CHECK(refused->error_kind() == "stochastic");
  CHECK(refused->signature().stochastic());
  v1::IntakeSettings settings;
  settings.set_eval_mode(true);
  const auto taken = TakeIn(oracle, kProblems + "dropout.py", settings);
  REQUIRE(taken.ok());
  CHECK(taken->error().empty());
  CHECK_FALSE(taken->signature().training_mode());
}

struct BadProblem {
  std::string name;
  std::string kind;
  std::vector<std::string> words;  // in the message, besides the file's name
};

const std::vector<BadProblem>& BadProblems() {
  static const std::vector<BadProblem> problems = {
      {"syntax_error", "import", {"line 4", "SyntaxError"}},
      {"missing_module", "import", {"line 2", "surely_not_installed"}},
      {"raises_system_exit", "import", {"line 3", "SystemExit"}},
      {"exits_on_import", "import", {"importing the file ended the process", "exit status 3"}},
      {"no_model", "no_model", {"class Model"}},
      {"model_is_no_module", "no_model", {"torch.nn.Module"}},
      {"wrong_init_inputs", "no_model", {"get_init_inputs", "TypeError"}},
      {"no_get_init_inputs", "inputs", {"get_init_inputs()", "return []"}},
      {"no_get_inputs", "inputs", {"get_inputs()"}},
      {"init_inputs_no_list", "inputs", {"get_init_inputs() returned int"}},
      {"inputs_no_list", "inputs", {"get_inputs() returned Tensor"}},
      {"too_many_inputs", "inputs", {"returns 2 values", "takes 1"}},
      {"too_few_inputs", "inputs", {"'y'"}},
      {"inputs_raise", "inputs", {"line 11", "IndexError"}},
      {"cuda_inputs", "inputs", {"line 11", "leave tensors and modules on the CPU"}},
      {"complex_input", "inputs", {"complex64"}},
      {"changing_shapes", "inputs", {"same shapes"}},
      {"forward_fails", "forward", {"line 7", "RuntimeError"}},
      {"no_tensor", "no_tensor", {"without a tensor"}},
      {"empty_output", "no_tensor", {"no elements"}},
      {"greedy_inputs", "memory", {"line 11", "smaller"}},
      {"greedy_forward", "memory", {"line 7", "smaller"}},
      {"random_forward", "stochastic", {"get_inputs()"}},
  };
  return problems;
}

TEST_CASE("every kind of bad problem is refused with what is wrong and the remedy", "[python]") {
  PythonOracle oracle(Options());
  for (const BadProblem& problem : BadProblems()) {
    CAPTURE(problem.name);
    const auto result = TakeIn(oracle, kProblems + "bad/" + problem.name + ".py");
    REQUIRE(result.ok());
    CHECK(result->error_kind() == problem.kind);
    CHECK_THAT(result->error(), Catch::StartsWith(problem.name + ".py"));
    for (const std::string& word : problem.words) CHECK_THAT(result->error(), Catch::Contains(word));
    CHECK_FALSE(result->error().find("/tmp") != std::string::npos);
  }
}

TEST_CASE("a process that a signal ended is the machine's fault, and its text says whose where it comes again",
          "[python]") {
  PythonOracle oracle(Options());
  const auto crashed = TakeIn(oracle, kProblems + "bad/forward_crashes.py");
  CHECK(absl::IsUnavailable(crashed.status()));
  for (const char* word : {"forward_crashes.py: forward() ended the process", "SIGSEGV", "must not crash"}) {
    CHECK_THAT(Message(crashed.status()), Catch::Contains(word));
  }

  const absl::StatusOr<TemporaryDirectory> folder = TemporaryDirectory::Create("warpsmith-intake-");
  REQUIRE(folder.ok());
  const std::string note = (folder->path() / "pid").string();
  std::thread killer([&] {
    pid_t process = 0;
    for (const TimePoint end = RealClock().Now() + std::chrono::seconds(60); process == 0 && RealClock().Now() < end;) {
      RealClock().SleepFor(std::chrono::milliseconds(10));
      const absl::StatusOr<std::string> text = ReadFile(note);
      if (text.ok() && text->find('\n') != std::string::npos) process = std::stoi(*text);
    }
    if (process > 0) kill(process, SIGKILL);
  });
  const auto killed = oracle.Intake(
      "innocent", "import os, time\nopen('" + note + "', 'w').write(f'{os.getpid()}\\n')\ntime.sleep(100)\n", {});
  killer.join();
  CHECK(absl::IsUnavailable(killed.status()));
  for (const char* word : {"innocent.py: importing the file ended the process", "SIGKILL", "for memory", "smaller"}) {
    CHECK_THAT(Message(killed.status()), Catch::Contains(word));
  }
  // The next one is as if nothing had been.
  const auto next = TakeIn(oracle, kProblems + "layer_norm.py");
  REQUIRE(next.ok());
  CHECK(next->error().empty());
}

TEST_CASE("a problem that never ends is stopped, and what it was doing is told", "[python]") {
  PythonOracleOptions options = Options();
  options.intake_deadline = std::chrono::seconds(4);
  PythonOracle oracle(options);
  const auto import = TakeIn(oracle, kProblems + "bad/endless_import.py");
  REQUIRE(import.ok());
  CHECK(import->error_kind() == "timeout");
  CHECK_THAT(import->error(), Catch::Contains("importing the file"));
  const auto forward = TakeIn(oracle, kProblems + "bad/endless_forward.py");
  REQUIRE(forward.ok());
  CHECK(forward->error_kind() == "timeout");
  CHECK_THAT(forward->error(), Catch::Contains("forward()"));
}

TEST_CASE("every file of the bad problems is in the table", "[python]") {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kProblems + "bad"))
    files += entry.path().extension() == ".py";
  CHECK(files == BadProblems().size() + 3);  // and the two endless ones, and the one that crashes
}

TEST_CASE("a Python without PyTorch is named with the remedy", "[python]") {
  const auto none = ProbePython("/bin/false");
  REQUIRE_FALSE(none.ok());
  CHECK_THAT(Message(none.status()), Catch::Contains("/bin/false"));
  CHECK_FALSE(ProbePython("/nonexistent/python3").ok());
  PythonOracleOptions options = Options();
  options.python = "/bin/false";
  PythonOracle oracle(options);
  CHECK_FALSE(oracle.Intake("x", "", {}).ok());
}

TEST_CASE("a Python whose PyTorch has no CUDA does not do for a GPU", "[python]") {
  const auto any = FindPython();
  REQUIRE(any.ok());
  const auto with_cuda = FindPython(true);
  CHECK(with_cuda.ok() != any->cuda_version.empty());
  if (!with_cuda.ok()) CHECK_THAT(Message(with_cuda.status()), Catch::Contains("built for CPUs only"));
}

TEST_CASE("a problem sees nothing of the worker's environment", "[python]") {
  setenv("WARPSMITH_TEST_SECRET", "shown", 1);
  PythonOracle oracle(Options());
  const auto result =
      oracle.Intake("spy",
                    "import os\n"
                    "raise RuntimeError(' '.join(sorted(k for k in os.environ if 'WARPSMITH' in k)) or 'nothing "
                    "of ours')\n",
                    {});
  unsetenv("WARPSMITH_TEST_SECRET");
  REQUIRE(result.ok());
  CHECK_THAT(result->error(), Catch::Contains("nothing of ours"));
}

}  // namespace
}  // namespace warpsmith::reference
