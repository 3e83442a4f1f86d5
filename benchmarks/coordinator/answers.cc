#include "benchmarks/coordinator/answers.h"

#include <fmt/format.h>

#include <functional>

#include "common/hash.h"

namespace warpsmith::bench {
namespace {

constexpr double kEagerMs = 4.0;

void FillTiming(double ms, v1::Timing* timing) {
  timing->set_median_ms(ms);
  timing->set_spread(0.004);
  timing->set_samples(60);
  timing->set_host_clock_ms(ms * 1.002);
  timing->set_device_batch_ms(ms * 1.001);
  timing->set_first_use_ms(ms * 1.003);
  timing->set_anchor_ms(kEagerMs);
  timing->set_stage("measure");
  timing->set_device_name("simulated");
  timing->set_launch_mode("graph");
  timing->set_emulated(true);
  for (int i = 0; i < 20; ++i) timing->add_sample_ms(ms * (1 + 0.0001 * i));
}

void FillEvaluation(const v1::EvaluateTask& task, v1::Evaluation* evaluation) {
  const std::string draw = Sha256Hex(fmt::format("{}/{}", task.candidate_sha256(), task.seed()));
  const int die = std::stoi(draw.substr(0, 4), nullptr, 16) % 100;
  evaluation->set_harness_rev("simulated");
  evaluation->set_judge_rev("simulated");
  evaluation->set_reached(v1::PRECISION_CLASS_FP32);
  evaluation->set_gpu_seconds(2.5);
  evaluation->set_evaluate_seconds(4);
  evaluation->mutable_stage_seconds()->set_compile(0.4);
  evaluation->mutable_stage_seconds()->set_run(0.2);
  evaluation->mutable_stage_seconds()->set_measure(1.5);
  if (die < 12) {
    evaluation->set_outcome(v1::OUTCOME_COMPILE_ERROR);
    evaluation->set_reason("source");
    evaluation->set_message("candidate.cu(41): error: identifier \"tile\" is undefined");
    return;
  }
  // Another seed's compilation gives the same module.
  evaluation->set_cubin_sha256(Sha256Hex("cubin of " + task.candidate_sha256() + task.problem_id() +
                                         (task.stage() == "confirm" ? "" : fmt::format("{}", task.seed()))));
  evaluation->mutable_compile()->set_seconds(0.4);
  evaluation->mutable_compile()->add_architectures("sm_90");
  v1::KernelResources* kernel = evaluation->mutable_compile()->add_kernels();
  kernel->set_name("scale_rows");
  kernel->set_registers(40);
  for (const char* distribution : {"plain", "mean_1000", "scaled", "signed", "constant_rows"}) {
    v1::TrialVerdict* trial = evaluation->add_trials();
    trial->set_distribution(distribution);
    trial->set_passed(true);
    trial->set_relative_rms_error(1e-7);
    trial->set_worst_tile_error(3e-7);
    trial->set_max_error(2e-6);
  }
  if (die < 25) {
    evaluation->set_outcome(v1::OUTCOME_WRONG_OUTPUT);
    evaluation->set_message("output[3, 17] is 0.25, expected 0.5");
    evaluation->mutable_trials(0)->set_passed(false);
    return;
  }
  evaluation->set_outcome(v1::OUTCOME_OK);
  FillTiming(kEagerMs * (0.3 + 0.02 * die), evaluation->mutable_timing());
}

void FillIntake(v1::IntakeResult* intake) {
  *intake->mutable_signature() = SimulatedSignature();
  for (const char* name : {"eager", "eager_tf32_off", "eager_graph", "compile_default"}) {
    v1::Baseline* baseline = intake->add_baselines();
    baseline->set_name(name);
    baseline->set_median_ms(kEagerMs);
    baseline->set_spread(0.003);
    baseline->set_samples(60);
    baseline->set_device_name("simulated");
    baseline->set_emulated(true);
    baseline->set_harness_rev("simulated");
    baseline->set_pytorch_version("2.8.0");
  }
}

}  // namespace

v1::DeviceDescription SimulatedDevice() {
  v1::DeviceDescription device;
  device.set_name("simulated");
  device.set_device_class("simulated");
  device.set_memory_bytes(int64_t{80} << 30);
  device.set_emulated(true);
  return device;
}

v1::ProblemSignature SimulatedSignature() {
  v1::ProblemSignature signature;
  for (const char* name : {"x", "weight", "bias", "output"}) {
    v1::TensorSpec* tensor = signature.add_tensors();
    tensor->set_name(name);
    tensor->set_dtype("float32");
    for (int64_t side : {16, 64, 256, 256}) tensor->add_shape(side);
    for (int64_t stride : {4194304, 65536, 256, 1}) tensor->add_strides(stride);
    tensor->set_role(v1::TENSOR_ROLE_INPUT);
    tensor->set_storage_bytes(268435456);
  }
  signature.mutable_tensors(3)->set_role(v1::TENSOR_ROLE_OUTPUT);
  signature.add_operators("layer_norm");
  signature.set_operator_family("layer_norm");
  signature.set_bytes_min(int64_t{1} << 30);
  signature.set_bytes_full(int64_t{2} << 30);
  signature.set_algorithm_bytes(536870912);
  signature.set_tolerance(0.01);
  signature.add_distributions("plain");
  return signature;
}

v1::TaskResult AnswerTo(const v1::Assignment& assignment) {
  v1::TaskResult result;
  result.set_task_id(assignment.task_id());
  result.set_epoch(assignment.epoch());
  result.set_seconds(4);
  if (assignment.has_intake()) {
    FillIntake(result.mutable_intake());
  } else {
    FillEvaluation(assignment.evaluate(), result.mutable_evaluation());
    if (assignment.evaluate().stage() == "confirm") {
      result.mutable_evaluation()->mutable_timing()->set_stage("confirm");
      v1::Confirmation* confirmation = result.mutable_evaluation()->mutable_confirmation();
      confirmation->set_ratio_to_reference(1.6);
      confirmation->set_reference_low(1.58);
      confirmation->set_reference_high(1.62);
      confirmation->set_rounds(10);
    }
  }
  return result;
}

std::string KernelSource(const std::string& name) {
  std::string text = fmt::format(
      "/* warpsmith-plan {{\"version\": 1, \"steps\": [{{\"kernel\": \"scale_rows\", \"grid\": [512], \"block\": "
      "[256], "
      "\"args\": [\"x\", \"output\"]}}]}} */\n// {}\n__device__ const char* kName = \"{}\";\n",
      name, name);
  for (int line = 0; line < 60; ++line) {
    text += fmt::format("__device__ float step_{0}(float x) {{ return x * {0}.5f + 1.0f; }}\n", line);
  }
  return text + "extern \"C\" __global__ void scale_rows(const float* x, float* y) { y[threadIdx.x] = step_7(*x); }\n";
}

v1::Idea SimulatedIdea(const std::string& name, int index) {
  static constexpr const char* kCategories[] = {"memory_access", "async_latency",         "precision",
                                                "compute",       "parallelism_occupancy", "control_flow"};
  v1::Idea idea;
  idea.set_title(fmt::format("{}: keep tile {} in registers", name, index));
  idea.set_category(kCategories[std::hash<std::string>()(idea.title()) % 6]);
  idea.set_bottleneck("each row is read from device memory three times");
  idea.set_evidence("the DRAM throughput is 91 % of its peak");
  idea.set_hypothesis("two of the three reads can come from registers");
  idea.add_plan("load a row with 128-bit loads");
  idea.add_plan("reduce over the warp by shuffles");
  idea.set_expected_speedup(1.5);
  idea.set_risk("low");
  idea.set_origin("simulated");
  return idea;
}

}  // namespace warpsmith::bench
