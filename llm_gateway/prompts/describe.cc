#include "llm_gateway/prompts/describe.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/protocol_names.h"
#include "llm_gateway/prompts/describe_failure.h"
#include "llm_gateway/prompts/describe_profile.h"
#include "llm_gateway/prompts/fenced.h"
#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

constexpr size_t kMaxSource = 200u << 10;
constexpr size_t kMaxPatternSource = 10u << 10;
constexpr size_t kMaxNotes = 32u << 10;

bool Contiguous(const v1::TensorSpec& tensor) {
  if (tensor.strides_size() != tensor.shape_size()) return tensor.strides_size() == 0;
  int64_t expected = 1;
  for (int i = tensor.shape_size() - 1; i >= 0; --i) {
    if (tensor.shape(i) != 1 && tensor.strides(i) != expected) return false;
    expected *= std::max<int64_t>(1, tensor.shape(i));
  }
  return true;
}

std::string DescribeTensor(const v1::TensorSpec& tensor) {
  std::string text =
      fmt::format("- {} `{}`: {} {}", TensorRoleName(tensor.role()), tensor.name(), tensor.dtype(),
                  tensor.shape().empty() ? "scalar" : fmt::format("({})", fmt::join(tensor.shape(), ", ")));
  text += Contiguous(tensor) ? ", contiguous" : fmt::format(", strides ({})", fmt::join(tensor.strides(), ", "));
  if (!tensor.alias_of().empty()) text += fmt::format(", same memory as `{}`", tensor.alias_of());
  if (tensor.mutated()) text += ", changed by forward()";
  return text + "\n";
}

std::string DescribeBaselines(const v1::Problem& problem) {
  if (problem.baselines().empty()) return "";
  std::string text = "\nBaselines:";
  for (const v1::Baseline& baseline : problem.baselines()) {
    if (baseline.median_ms() > 0) {
      text += fmt::format(" {} {:.4g} ms ({}{});", baseline.name(), baseline.median_ms(),
                          PrecisionClassName(baseline.precision_class()),
                          baseline.emulated() ? ", on the CPU beside the emulated device" : "");
    } else if (!baseline.skipped_reason().empty()) {
      text += fmt::format(" {} not timed: {};", baseline.name(), OneLine(baseline.skipped_reason(), 200));
    }
  }
  text.back() = '.';
  return text;
}

std::string DescribeLeastWork(const v1::ProblemSignature& signature) {
  if (signature.algorithm_bytes() <= 0) return "";
  std::string text =
      fmt::format(" At least {:.4g} MB must be moved", static_cast<double>(signature.algorithm_bytes()) * 1e-6);
  if (signature.algorithm_flops() > 0) {
    text +=
        fmt::format(", and {:.4g} GFLOP done as written: {:.3g} operations a byte", signature.algorithm_flops() * 1e-9,
                    signature.algorithm_flops() / static_cast<double>(signature.algorithm_bytes()));
  }
  return text + ".";
}

std::string DescribeRoofline(const v1::Roofline& roofline) {
  std::string text;
  auto floor = [&text](double ms, const char* what) {
    if (ms > 0) text += fmt::format("{}{:.4g} ms by {}", text.empty() ? " The device's peaks allow " : ", ", ms, what);
  };
  floor(roofline.memory_floor_ms(), "bytes");
  floor(roofline.compute_floor_ms(), "operations as written");
  if (roofline.share() > 0) {
    text += fmt::format("{} {:.0f} % of that roof is reached{}", text.empty() ? "" : ";", 100 * roofline.share(),
                        roofline.bound().empty() ? "" : fmt::format(" (bound: {})", OneLine(roofline.bound(), 40)));
  }
  if (roofline.bytes_per_second() > 0) {
    text += fmt::format("{} the necessary bytes at {:.4g} GB/s", text.empty() ? "" : ",",
                        roofline.bytes_per_second() * 1e-9);
  }
  if (roofline.operations_per_second() > 0) {
    text += fmt::format("{} {:.4g} TFLOP/s", text.empty() ? "" : ",", roofline.operations_per_second() * 1e-12);
  }
  return text.empty() ? "" : text + ".";
}

std::string DescribeResources(const v1::Evaluation& evaluation) {
  std::string text;
  for (const v1::KernelResources& kernel : evaluation.compile().kernels()) {
    if (kernel.registers() == 0) continue;
    text += fmt::format(
        " {}: {} registers a thread, {} bytes of static shared memory, {} bytes of local memory a thread{}.",
        OneLine(kernel.name(), 120), kernel.registers(), kernel.static_shared_bytes(), kernel.local_bytes(),
        kernel.local_bytes() > 0 ? " (spills or indexed arrays)" : "");
  }
  if (!evaluation.tune().empty()) {
    // Protocol buffers' maps have no order; a prompt must have one.
    std::vector<std::string> values;
    for (const auto& [name, value] : evaluation.tune())
      values.push_back(fmt::format("{}={}", OneLine(name, 60), value));
    std::sort(values.begin(), values.end());
    text += fmt::format(" Measured with {}, the best of {} combinations.", fmt::join(values, ", "),
                        std::max(1, evaluation.tune_variants()));
  }
  return text;
}

}  // namespace

std::string DescribeProblem(const v1::ProblemContext& context) {
  const v1::Problem& problem = context.problem();
  const v1::ProblemSignature& signature = problem.signature();
  std::string text = fmt::format("Problem: {}\n\n", OneLine(problem.name(), 200));
  if (!signature.module_summary().empty()) text += Bounded(signature.module_summary(), 4000) + "\n\n";
  text += "Tensors, by the names that a plan uses:\n";
  for (const v1::TensorSpec& tensor : signature.tensors()) text += DescribeTensor(tensor);
  for (const v1::FrozenArgument& argument : signature.frozen_arguments()) {
    text += fmt::format("- argument `{}` is always {} (write it into the code)\n", argument.name(),
                        OneLine(argument.json_value(), 500));
  }
  text += fmt::format("\nThe module runs in {} mode.", signature.training_mode() ? "training" : "evaluation");
  if (signature.mutates_policy() == v1::MUTATES_POLICY_REQUIRED)
    text += " Changes of its buffers are part of the answer.";
  text += context.frozen_weights() ? " Parameters keep their values: work on parameters alone may be done once, by "
                                     "\"prepare\" steps."
                                   : " Parameters may change from run to run: no \"prepare\" steps.";
  text += DescribeLeastWork(signature) + DescribeBaselines(problem);
  return text + "\n\nThe PyTorch file:\n\n" + Fenced("python", ShortenedSource(problem.source(), kMaxSource));
}

std::string DescribePrecision(const v1::ProblemContext& context) {
  bool tf32 = false, bf16 = false;
  std::string names;
  for (int accepted : context.accepted()) {
    tf32 |= accepted == v1::PRECISION_CLASS_TF32;
    bf16 |= accepted == v1::PRECISION_CLASS_BF16;
    names += (names.empty() ? "" : ", ") + PrecisionClassName(static_cast<v1::PrecisionClass>(accepted));
  }
  std::string text = fmt::format("accepted classes: {}.", names.empty() ? "fp32" : names);
  if (tf32 || bf16) {
    text += fmt::format(
        " Products may be taken in {}; sums are kept in float32, and what is returned has the error of such products, "
        "not more.",
        bf16 ? "bfloat16, tf32 or fp16" : "tf32 or fp16, not in bfloat16");
  } else {
    text +=
        " Arithmetic must be as accurate as float32: errors of the size that PyTorch's own float32 run has (tf32 and "
        "half precision fail; split or compensated forms of lower precision count where they reach float32's "
        "accuracy).";
  }
  if (context.problem().signature().tolerance() > 0) {
    text += fmt::format(" Besides, absolute and relative tolerance {:g} on the module's own inputs.",
                        context.problem().signature().tolerance());
  }
  return text;
}

std::string DescribeTiming(const v1::ProblemContext& context, const v1::Evaluation& evaluation) {
  const double ms = evaluation.timing().median_ms();
  std::string text = fmt::format("{:.4g} ms", ms);
  if (evaluation.timing().emulated()) text += " (emulated)";
  auto ratio = [&text](double value, const std::string& what) {
    if (value > 0) text += fmt::format(", {:.3g}x as fast as {}", value, what);
  };
  bool eager = false, best = false;
  for (const v1::Baseline& baseline : context.problem().baselines()) {
    if (baseline.median_ms() <= 0 || ms <= 0 || baseline.emulated() != evaluation.timing().emulated()) continue;
    // The worker's own ratios are of the same minute on the same board.
    double value = baseline.median_ms() / ms;
    std::string name = OneLine(baseline.name(), 60);
    if (baseline.name() == "eager" && evaluation.ratio_to_eager() > 0) {
      value = evaluation.ratio_to_eager();
      eager = true;
    }
    if (baseline.name() == evaluation.best_baseline() && evaluation.ratio_to_best_baseline() > 0) {
      value = evaluation.ratio_to_best_baseline();
      name += " (the best baseline)";
      best = true;
    }
    ratio(value, name);
  }
  if (!eager) ratio(evaluation.ratio_to_eager(), "PyTorch eager");
  if (!best) {
    ratio(evaluation.ratio_to_best_baseline(),
          fmt::format("the best baseline ({})", OneLine(evaluation.best_baseline(), 60)));
  }
  return text;
}

std::string DescribeParent(const v1::ProblemContext& context, const v1::ParentKernel& parent, bool present) {
  if (!present || parent.source().empty()) {
    return "There is none yet: the PyTorch module above is what runs today. The first kernel is to be correct, simple "
           "in structure, and already use the idea.";
  }
  const v1::Evaluation& evaluation = parent.evaluation();
  std::string text;
  if (evaluation.outcome() == v1::OUTCOME_OK) {
    text = "Correct. " + DescribeTiming(context, evaluation) + ".";
    if (!evaluation.timing().emulated()) text += DescribeRoofline(evaluation.roofline());
    if (evaluation.launches() > 0) text += fmt::format(" Launches: {}.", evaluation.launches());
  } else {
    text = DescribeOutcome(evaluation) + ".";
  }
  text += DescribeResources(evaluation) + DescribeProfile(evaluation.profile());
  if (!parent.idea_title().empty()) text += " It came from the idea: " + OneLine(parent.idea_title(), 200) + ".";
  return text + "\n\n" + Fenced("cuda", ShortenedSource(parent.source(), kMaxSource));
}

std::string DescribeIdea(const v1::Idea& idea) {
  std::string text = fmt::format("Title: {}\nCategory: {}\n", idea.title(), idea.category());
  auto add = [&text](const char* name, const std::string& value) {
    if (!value.empty()) text += fmt::format("{}: {}\n", name, value);
  };
  add("Bottleneck", idea.bottleneck());
  add("Evidence", idea.evidence());
  add("Why it should help", idea.hypothesis());
  for (int i = 0; i < idea.plan_size(); ++i) text += fmt::format("Step {}: {}\n", i + 1, idea.plan(i));
  if (idea.expected_speedup() > 0)
    text += fmt::format("Expected: {:.3g}x as fast as the kernel above\n", idea.expected_speedup());
  if (idea.changes_precision()) text += "It changes the precision of results, within the accepted classes.\n";
  text = Bounded(text, 16u << 10);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string DescribeSiblings(int index, int count) {
  if (count <= 1)
    return "Yours is the only implementation of this idea now: take the form that is likeliest to be fast.";
  constexpr const char* kDirections[] = {
      "take the most direct form of the idea, with the numbers that its plan names",
      "take larger tiles than come to mind first: more work and more registers a thread, fewer blocks",
      "take smaller tiles and more blocks than come to mind first, so that more warps are there to hide latency",
      "stage data in another way than comes to mind first: registers instead of shared memory or the other way round, "
      "another number of stages",
      "map threads and warps to the data in another way than comes to mind first: another order of loops, another "
      "split "
      "of the work",
  };
  constexpr int kCount = static_cast<int>(std::size(kDirections));
  std::string text = fmt::format(
      "This is implementation {} of {} of the same idea; the others are written at the same time by people "
      "who do not see yours. Make yours differ from theirs while it stays the same idea: {}",
      index + 1, std::max(count, index + 1), kDirections[index % kCount]);
  if (index >= kCount) text += "; and choose other numbers than an earlier one with this direction would";
  return text + ".";
}

std::string DescribePatterns(const google::protobuf::RepeatedPtrField<v1::BankPattern>& patterns, int most,
                             const std::string& category) {
  std::string text;
  int shown = 0, left = 0;
  for (const v1::BankPattern& pattern : patterns) {
    if (!category.empty() && pattern.category() != category) continue;
    if (shown == most) {
      ++left;
      continue;
    }
    text += fmt::format("{} ({}), on the problem {}", OneLine(pattern.title(), 200), OneLine(pattern.category(), 40),
                        OneLine(pattern.problem_name(), 200));
    if (pattern.ratio_to_eager() > 0)
      text += fmt::format(", {:.3g}x as fast as PyTorch eager", pattern.ratio_to_eager());
    text += ":\n\n" + Fenced("cuda", ShortenedSource(pattern.source(), kMaxPatternSource)) + "\n\n";
    ++shown;
  }
  if (shown == 0) return "";
  if (left > 0) text += fmt::format("({} more are left out.)\n\n", left);
  return "# Kernels that did well on related problems\n\nTake over what fits; their shapes and names are not "
         "yours.\n\n" +
         text;
}

std::string DescribeNotes(const google::protobuf::RepeatedPtrField<std::string>& notes) {
  std::string text;
  for (int i = 0; i < notes.size(); ++i) {
    if (text.size() > kMaxNotes) {
      text += fmt::format("({} more notes are left out.)\n", notes.size() - i);
      break;
    }
    text += "- " + Bounded(notes[i], 8000) + "\n";
  }
  return text.empty() ? "" : "# Notes of the operator\n\n" + text + "\n";
}

}  // namespace warpsmith::gateway
