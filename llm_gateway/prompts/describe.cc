#include "llm_gateway/prompts/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "common/protocol_names.h"
#include "llm_gateway/prompts/describe_profile.h"
#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

constexpr size_t kMaxSource = 200u << 10;
constexpr int kFullTurns = 2;

template <typename List>
std::string Numbers(const List& values) {
  std::string text = "(";
  for (int i = 0; i < values.size(); ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", values[i]);
  return text + ")";
}

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
  std::string text = fmt::format("- {} `{}`: {} {}", TensorRoleName(tensor.role()), tensor.name(), tensor.dtype(),
                                 tensor.shape_size() == 0 ? "scalar" : Numbers(tensor.shape()));
  text += Contiguous(tensor) ? ", contiguous" : ", strides " + Numbers(tensor.strides());
  if (!tensor.alias_of().empty()) text += fmt::format(", same memory as `{}`", tensor.alias_of());
  if (tensor.mutated()) text += ", changed by forward()";
  return text + "\n";
}

std::string DescribeTiming(const v1::Evaluation& evaluation) {
  std::string text = fmt::format("{:.4g} ms", evaluation.timing().median_ms());
  if (evaluation.timing().emulated()) text += " (emulated)";
  if (evaluation.ratio_to_eager() > 0)
    text += fmt::format(", {:.3g}x as fast as PyTorch eager", evaluation.ratio_to_eager());
  if (evaluation.ratio_to_best_baseline() > 0) {
    text += fmt::format(", {:.3g}x as fast as the best baseline ({})", evaluation.ratio_to_best_baseline(),
                        evaluation.best_baseline());
  }
  return text;
}

std::string TriedLine(const v1::TriedIdea& tried) {
  auto field = [](const std::string& text, size_t most) {
    std::string line = OneLine(text, most);
    std::replace(line.begin(), line.end(), '|', '/');
    return line.empty() ? std::string("-") : line;
  };
  std::string change = "-";
  if (tried.ratio_to_parent() > 0) change = fmt::format("{:+.0f} %", (tried.ratio_to_parent() - 1) * 100);
  return fmt::format("{} | {} | {} | {} | {}\n", field(tried.idea().title(), 200), field(tried.idea().category(), 40),
                     field(tried.outcome(), 40), change, field(tried.why(), 200));
}

}  // namespace

std::string Fenced(const std::string& language, const std::string& text) {
  size_t longest = 2, run = 0;
  for (char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  std::string fence(longest + 1, '`');
  bool ended = !text.empty() && text.back() == '\n';
  return fence + language + "\n" + text + (ended ? "" : "\n") + fence;
}

std::string DescribeProblem(const v1::Problem& problem, bool frozen_weights) {
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
  if (frozen_weights) text += " Parameters keep their values, so work on parameters alone may be done once.";
  if (signature.algorithm_bytes() > 0) {
    text += fmt::format(" At least {:.4g} MB must be moved", static_cast<double>(signature.algorithm_bytes()) * 1e-6);
    if (signature.algorithm_flops() > 0)
      text += fmt::format(", and {:.4g} GFLOP done as written", signature.algorithm_flops() * 1e-9);
    text += ".";
  }
  if (!problem.baselines().empty()) {
    text += "\nBaselines:";
    for (const v1::Baseline& baseline : problem.baselines()) {
      text += fmt::format(" {} {:.4g} ms ({}{});", baseline.name(), baseline.median_ms(),
                          PrecisionClassName(baseline.precision_class()),
                          baseline.emulated() ? ", on the CPU beside the emulated device" : "");
    }
    text.back() = '.';
  }
  return text + "\n\nThe PyTorch file:\n\n" + Fenced("python", Bounded(problem.source(), kMaxSource));
}

std::string DescribePrecision(const v1::ProblemContext& context) {
  std::string names;
  for (int accepted : context.accepted()) {
    names += (names.empty() ? "" : ", ") + PrecisionClassName(static_cast<v1::PrecisionClass>(accepted));
  }
  if (names.empty()) names = "fp32";
  std::string text = fmt::format("accepted classes: {}.", names);
  bool loose = names.find("tf32") != names.npos || names.find("bf16") != names.npos;
  text += loose ? " Arithmetic of these classes may be used; sums are kept in float32."
                : " Arithmetic must be as accurate as float32 (split or compensated forms of lower precision count if "
                  "they reach that).";
  if (context.problem().signature().tolerance() > 0) {
    text += fmt::format(" Besides, absolute and relative tolerance {:g} on the module's own inputs.",
                        context.problem().signature().tolerance());
  }
  return text;
}

std::string DescribeParent(const v1::ProblemContext& context, const v1::ParentKernel& parent, bool present) {
  if (!present || parent.source().empty()) {
    return "There is none yet: the PyTorch module above is what runs today. The first kernel is to be correct, simple "
           "in "
           "structure, and already use the idea.";
  }
  const v1::Evaluation& evaluation = parent.evaluation();
  std::string text;
  if (evaluation.outcome() == v1::OUTCOME_OK) {
    text = "Correct. " + DescribeTiming(evaluation) + ".";
    const v1::ProblemSignature& signature = context.problem().signature();
    double ms = evaluation.timing().median_ms();
    if (ms > 0 && signature.algorithm_bytes() > 0 && !evaluation.timing().emulated()) {
      text += fmt::format(" That moves its necessary bytes at {:.4g} GB/s.",
                          static_cast<double>(signature.algorithm_bytes()) * 1e-6 / ms);
    }
    if (evaluation.launches() > 0) text += fmt::format(" Launches: {}.", evaluation.launches());
  } else {
    text = DescribeOutcome(evaluation) + ".";
  }
  for (const v1::KernelResources& kernel : evaluation.compile().kernels()) {
    if (kernel.registers() == 0) continue;
    text += fmt::format(
        " {}: {} registers a thread, {} bytes of static shared memory, {} bytes of local memory a thread.",
        OneLine(kernel.name(), 120), kernel.registers(), kernel.static_shared_bytes(), kernel.local_bytes());
  }
  text += DescribeProfile(evaluation.profile());
  if (!parent.idea_title().empty()) text += " It came from the idea: " + OneLine(parent.idea_title(), 200) + ".";
  return text + "\n\n" + Fenced("cuda", Bounded(parent.source(), kMaxSource));
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
  return Bounded(text, 16u << 10);
}

std::string DescribeTried(const google::protobuf::RepeatedPtrField<v1::TriedIdea>& tried, int max_full,
                          size_t max_bytes) {
  if (tried.empty()) return "None.";
  // The latest come first in line for a full entry, and before them those that made the kernel faster.
  std::vector<int> order(static_cast<size_t>(tried.size()));
  for (int i = 0; i < tried.size(); ++i) order[static_cast<size_t>(i)] = tried.size() - 1 - i;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return (tried[a].ratio_to_parent() > 1.02) > (tried[b].ratio_to_parent() > 1.02);
  });
  std::vector<int> full;
  size_t bytes = 0;
  for (int index : order) {
    bytes += TriedLine(tried[index]).size();
    if (static_cast<int>(full.size()) >= max_full || bytes > max_bytes) break;
    full.push_back(index);
  }
  std::sort(full.begin(), full.end());
  std::string text = "title | category | outcome | change | why\n";
  for (int index : full) text += TriedLine(tried[index]);
  int folded = tried.size() - static_cast<int>(full.size());
  if (folded > 0) {
    std::map<std::string, std::vector<std::string>> groups;
    for (int i = 0; i < tried.size(); ++i) {
      if (std::binary_search(full.begin(), full.end(), i)) continue;
      groups[tried[i].idea().category() + ", " + tried[i].outcome()].push_back(OneLine(tried[i].idea().title(), 80));
    }
    text += fmt::format("Further {} ideas, folded to their titles:\n", folded);
    for (const auto& [group, titles] : groups) {
      text += fmt::format("- {} ({}): ", group, titles.size());
      for (size_t i = 0; i < titles.size(); ++i) text += (i == 0 ? "" : "; ") + titles[i];
      text += "\n";
    }
  }
  text.pop_back();
  return text;
}

std::string CountCategories(const google::protobuf::RepeatedPtrField<v1::TriedIdea>& tried) {
  std::string text;
  for (const char* category :
       {"memory_access", "async_latency", "precision", "compute", "parallelism_occupancy", "control_flow"}) {
    auto count =
        std::count_if(tried.begin(), tried.end(), [&](const auto& one) { return one.idea().category() == category; });
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", category, count);
  }
  return text;
}

std::string DescribeOutcome(const v1::Evaluation& evaluation) {
  if (evaluation.outcome() == v1::OUTCOME_OK) return "ok, " + DescribeTiming(evaluation);
  std::string text = OutcomeName(evaluation.outcome());
  if (!evaluation.reason().empty()) text += " (" + OneLine(evaluation.reason(), 80) + ")";
  if (!evaluation.message().empty()) text += ": " + OneLine(evaluation.message(), 600);
  return text;
}

std::string DescribeFailure(const v1::Evaluation& evaluation) {
  std::string text = fmt::format("Outcome: {}", OutcomeName(evaluation.outcome()));
  if (!evaluation.reason().empty()) text += fmt::format(", reason {}", evaluation.reason());
  if (!evaluation.failed_stage().empty()) text += fmt::format(", at stage {}", evaluation.failed_stage());
  text += ".\n";
  if (!evaluation.message().empty()) text += Bounded(evaluation.message(), 4000) + "\n";
  if (evaluation.outcome() == v1::OUTCOME_COMPILE_ERROR && !evaluation.compile().log().empty()) {
    // The first errors: later ones mostly follow from them.
    const std::string& log = evaluation.compile().log();
    size_t error = log.find("error");
    size_t line = error == log.npos ? 0 : log.rfind('\n', error) + 1;
    text += "\nThe compiler's first errors:\n\n" + Fenced("", Bounded(std::string_view(log).substr(line), 6000)) + "\n";
  }
  if (evaluation.has_mismatch()) {
    const v1::Mismatch& mismatch = evaluation.mismatch();
    text += fmt::format("\nIn `{}` at index {}: expected {:.9g}, got {:.9g}", mismatch.output(),
                        Numbers(mismatch.index()), mismatch.expected(), mismatch.got());
    if (mismatch.elements() > 0)
      text += fmt::format("; {} of {} elements are wrong", mismatch.wrong_elements(), mismatch.elements());
    text += ".\n";
  }
  for (const v1::TrialVerdict& trial : evaluation.trials()) {
    if (trial.passed()) continue;
    text += fmt::format("Input distribution {}: relative RMS error {:.3g}, worst tile {:.3g}, maximum {:.3g}{}.\n",
                        OneLine(trial.distribution(), 80), trial.relative_rms_error(), trial.worst_tile_error(),
                        trial.max_error(), trial.after_timed_launch() ? ", in a timed launch" : "");
  }
  return text;
}

std::string DescribeEarlierTurns(const google::protobuf::RepeatedPtrField<v1::EarlierTurn>& turns) {
  if (turns.empty()) return "";
  std::string text = "# Your earlier turns on this problem, oldest first\n\n";
  for (int i = 0; i < turns.size(); ++i) {
    text += fmt::format("Turn {}: {}.\n", i + 1, DescribeOutcome(turns[i].evaluation()));
    if (i >= turns.size() - kFullTurns) {
      text += "\n" + Fenced("cuda", Bounded(turns[i].source(), kMaxSource)) + "\n\n";
    }
  }
  if (turns.size() > kFullTurns) {
    text += fmt::format("(The sources of the first {} turns are left out.)\n\n", turns.size() - kFullTurns);
  }
  return text;
}

std::string DescribeNotes(const google::protobuf::RepeatedPtrField<std::string>& notes) {
  if (notes.empty()) return "";
  std::string text = "# Notes of the operator\n\n";
  for (const std::string& note : notes) text += "- " + Bounded(note, 8000) + "\n";
  return text + "\n";
}

}  // namespace warpsmith::gateway
