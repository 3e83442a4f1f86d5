#include "tests/gpu_worker/evaluate/fakes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/file.h"

namespace warpsmith::evaluate {

int World::Count(const std::string& prefix) const {
  return static_cast<int>(std::count_if(events.begin(), events.end(),
                                        [&](const std::string& event) { return event.rfind(prefix, 0) == 0; }));
}

double FakeExecutor::Launch(int slot, bool cold) {
  auto at = static_cast<size_t>(slot);
  bool first = seen_.at(at).insert({world_.slot_seeds.at(at), world_.slot_distributions.at(at)}).second;
  double noise = std::normal_distribution<double>(0, 1)(world_.random) * behaviour_.noise;
  return behaviour_.true_seconds * (cold ? behaviour_.cold : 1) * (first ? behaviour_.first_use : 1) * (1 + noise);
}

bool FakeExecutor::Fails(executor::RunReport& report) {
  report.outcome = v1::OUTCOME_OK;
  report.launch_mode = "graph";
  if (behaviour_.outcome == v1::OUTCOME_OK || calls_++ < behaviour_.fails_at_call) return false;
  report.outcome = behaviour_.outcome;
  report.message = "step 0";
  return true;
}

executor::RunReport FakeExecutor::Run(const executor::RunRequest& request) {
  executor::RunReport report;
  world_.events.push_back("run");
  if (Fails(report)) return report;
  double seconds = 0;
  for (int i = 0; i < request.repetitions; ++i) seconds += Launch(request.slot, false);
  report.device_seconds = seconds * behaviour_.told;
  report.host_seconds = 50e-6 + seconds + request.repetitions * behaviour_.launch_gap_seconds;
  world_.clock.Advance(FromSeconds(report.host_seconds));
  return report;
}

executor::RunReport FakeExecutor::Time(const executor::TimeRequest& request) {
  executor::RunReport report;
  world_.events.push_back("time");
  if (!world_.quiet) ++world_.timed_loud;
  if (Fails(report)) return report;
  double seconds = 0;
  int launches = request.warmups + request.samples;
  for (int i = 0; i < launches; ++i) {
    double launch = Launch(request.slots[static_cast<size_t>(i) % request.slots.size()], request.cold);
    if (behaviour_.skips_every > 0 && ++timed_ % behaviour_.skips_every == 0) launch = 2e-6;
    seconds += launch;
    if (i >= request.warmups) report.samples.push_back(launch * behaviour_.told);
  }
  report.host_seconds = seconds + launches * 100e-6;
  world_.clock.Advance(FromSeconds(report.host_seconds));
  return report;
}

absl::StatusOr<std::unique_ptr<executor::Executor>> FakeExecutorFactory::Start(const executor::ExecutorSpec& spec) {
  specs.push_back(spec);
  auto artifact = ReadFile(spec.artifact_path);
  if (!artifact.ok()) return artifact.status();
  auto found = world_.behaviours.find(*artifact);
  return std::unique_ptr<executor::Executor>(std::make_unique<FakeExecutor>(
      world_, found == world_.behaviours.end() ? world_.behaviours[""] : found->second, spec.slots.size()));
}

void FakeExecutorFactory::SetQuiet(bool quiet) {
  world_.quiet = quiet;
  world_.events.push_back(quiet ? "quiet" : "loud");
}

absl::StatusOr<v1::IntakeResult> FakeOracle::Intake(const std::string& name, const std::string&,
                                                    const v1::IntakeSettings&) {
  v1::IntakeResult result;
  *result.mutable_signature() = ProblemNamed(name).signature();
  v1::Baseline& eager = *result.add_baselines();
  eager.set_name("eager");
  eager.set_median_ms(3);
  return result;
}

absl::Status FakeOracle::Load(const std::string& problem_id, const std::string&, const std::string&,
                              const v1::IntakeSettings&, const v1::ProblemSignature&) {
  if (problem_id == loaded_) return absl::OkStatus();
  loaded_ = problem_id;
  ++loads;
  world_.events.push_back("load " + problem_id);
  world_.slot_seeds.clear();
  world_.slot_distributions.clear();
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::vector<reference::SharedBuffer>>> FakeOracle::Prepare(const std::string&,
                                                                                      const v1::ExecutionPlan& plan,
                                                                                      int slots) {
  prepared.push_back(plan);
  auto count = static_cast<size_t>(std::min(slots, most_slots));
  world_.slot_seeds.resize(count, -1);
  world_.slot_distributions.resize(count);
  std::vector<std::vector<reference::SharedBuffer>> result(count);
  for (size_t slot = 0; slot < count; ++slot) {
    for (int b = 0; b < plan.buffers_size(); ++b) {
      reference::SharedBuffer& buffer = result[slot].emplace_back();
      buffer.path = fmt::format("{}/{}", slot, plan.buffers(b).name());
      buffer.payload_bytes = plan.buffers(b).bytes();
    }
  }
  return result;
}

absl::Status FakeOracle::BeginTrial(const reference::TrialRequest& request) {
  if (!begin_answers.empty()) {
    absl::Status answer = begin_answers.front();
    begin_answers.pop_front();
    if (!answer.ok()) return answer;
  }
  auto slot = static_cast<size_t>(request.slot);
  if (world_.slot_seeds.at(slot) != request.seed || world_.slot_distributions[slot] != request.distribution) {
    ++generated;
    world_.clock.Advance(std::chrono::milliseconds(20));
  }
  world_.slot_seeds[slot] = request.seed;
  world_.slot_distributions[slot] = request.distribution;
  world_.events.push_back(fmt::format("begin {} {}", request.slot, request.distribution));
  return absl::OkStatus();
}

absl::StatusOr<reference::JudgeReport> FakeOracle::Judge(const reference::JudgeRequest& request) {
  world_.events.push_back(fmt::format("judge{} {}", request.after_timed_launch ? " timed" : "", request.slot));
  reference::JudgeReport report;
  report.outcome = verdict ? verdict(request) : v1::OUTCOME_OK;
  report.verdict.set_passed(report.outcome == v1::OUTCOME_OK);
  report.verdict.set_distribution(world_.slot_distributions.at(static_cast<size_t>(request.slot)));
  report.verdict.set_after_timed_launch(request.after_timed_launch);
  report.verdict.set_reached(v1::PRECISION_CLASS_FP32);
  report.output_digest = "same";
  return report;
}

absl::StatusOr<reference::ReferenceTime> FakeOracle::TimeReference(double seconds) {
  world_.events.push_back("reference");
  reference::ReferenceTime time;
  time.samples = std::clamp(static_cast<int>(seconds / reference_seconds), 3, 50);
  std::normal_distribution<double> noise(0, 0.001);
  for (int i = 0; i < time.samples; ++i) {
    time.samples_ms.push_back(reference_seconds * 1e3 * (1 + noise(world_.random)));
  }
  time.median_ms = reference_seconds * 1e3;
  world_.clock.Advance(FromSeconds(seconds));
  return time;
}

absl::Status FakeOracle::Quiesce() {
  world_.events.push_back("quiesce");
  return absl::OkStatus();
}

absl::StatusOr<std::vector<v1::Baseline>> FakeOracle::Baselines(const std::string&, const std::string&,
                                                                const v1::IntakeSettings&,
                                                                const std::vector<std::string>& names) {
  ++baseline_calls;
  std::vector<v1::Baseline> baselines;
  for (const std::string& name : names) {
    const bool skipped = skipped_baselines.count(name) != 0;
    if (name == "library" && !skipped) continue;  // there is no such call for this problem
    v1::Baseline& baseline = baselines.emplace_back();
    baseline.set_name(name);
    if (skipped) {
      baseline.set_skipped_reason("it cannot be had here");
      continue;
    }
    baseline.set_median_ms(2);
    baseline.set_precision_class(v1::PRECISION_CLASS_FP32);
  }
  return baselines;
}

absl::Status FakeOracle::Release() {
  world_.events.push_back("release");
  world_.slot_seeds.clear();
  world_.slot_distributions.clear();
  return absl::OkStatus();
}

absl::StatusOr<compile::CompileResult> FakeCompiler::Compile(const compile::CompileRequest& request) {
  if (while_compiling) while_compiling();
  compile::CompileResult result;
  result.outcome = v1::OUTCOME_OK;
  result.toolkit_checked = true;
  size_t name = request.code.find("// ");
  result.artifact = request.code.substr(name + 3, request.code.find('\n', name) - name - 3);
  for (const std::string& option : request.options) result.artifact += " " + option;
  for (const std::string& architecture : request.architectures) result.cubins[architecture] = result.artifact;
  return result;
}

absl::StatusOr<std::shared_ptr<void>> FakeGuard::Lock() {
  ++locks;
  ++held;
  return std::shared_ptr<void>(this, [](void* guard) { --static_cast<FakeGuard*>(guard)->held; });
}

absl::StatusOr<ClockReading> FakeGuard::ReadClocks() {
  if (readings.empty()) return usual;
  ClockReading next = readings.front();
  readings.pop_front();
  return next;
}

absl::Status FakeGuard::Ready() {
  if (!canary_due) return absl::OkStatus();
  ++canaries;
  canary_due = !canary.ok();
  return canary;
}

bool FakeGuard::OnEnd(CandidateEnd end, const std::string&) {
  canary_due = canary_due || end != CandidateEnd::kClean;
  return to_blame;
}

std::string CandidateNamed(const std::string& name, int scratch, const std::string& more_plan) {
  std::string plan = R"({"version": 1, )";
  if (scratch > 0) plan += fmt::format(R"("scratch": [{{"name": "s", "dtype": "float32", "shape": [{}]}}], )", scratch);
  plan += more_plan;
  plan += R"("steps": [{"copy": "x", "to": "output"}]})";
  return "/* warpsmith-plan " + plan + " */\n// " + name + "\n";
}

v1::Problem ProblemNamed(const std::string& name) {
  v1::Problem problem;
  problem.set_id("id of " + name);
  problem.set_name(name);
  v1::ProblemSignature& signature = *problem.mutable_signature();
  for (const char* tensor_name : {"x", "output"}) {
    v1::TensorSpec& tensor = *signature.add_tensors();
    tensor.set_name(tensor_name);
    tensor.set_dtype("float32");
    tensor.add_shape(1024);
    tensor.add_strides(1);
    tensor.set_storage_bytes(4096);
    tensor.set_role(tensor_name[0] == 'x' ? v1::TENSOR_ROLE_INPUT : v1::TENSOR_ROLE_OUTPUT);
  }
  signature.set_algorithm_bytes(8192);
  for (const char* distribution : {"plain", "mean_1000", "scaled", "signed", "constant_rows"}) {
    signature.add_distributions(distribution);
  }
  v1::Baseline& eager = *problem.add_baselines();
  eager.set_name("eager");
  eager.set_median_ms(2);
  eager.set_precision_class(v1::PRECISION_CLASS_TF32);
  v1::Baseline& strict = *problem.add_baselines();
  strict.set_name("eager_tf32_off");
  strict.set_median_ms(4);
  strict.set_precision_class(v1::PRECISION_CLASS_FP32);
  return problem;
}

}  // namespace warpsmith::evaluate
