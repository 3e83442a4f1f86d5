#include "llm_gateway/prompts/describe_failure.h"

#include <fmt/format.h>

#include <cmath>

#include "common/protocol_names.h"
#include "llm_gateway/prompts/describe_profile.h"
#include "llm_gateway/prompts/fenced.h"
#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

constexpr size_t kMaxLog = 8000;

// What to look for; empty where the message says it all.
const char* Meaning(v1::Outcome outcome) {
  switch (outcome) {
    case v1::OUTCOME_PLAN_ERROR:
      return "The file was refused before anything ran; the message names the field of the plan, or the rule of the "
             "file.";
    case v1::OUTCOME_OUT_OF_MEMORY:
      return "Scratch, local memory or the module itself takes more than the device has for a candidate.";
    case v1::OUTCOME_TIMEOUT:
      return "One run took far longer than it may: look for a loop that does not end, a wait that is never answered, a "
             "barrier that not all threads reach, or far too little parallelism.";
    case v1::OUTCOME_ILLEGAL_ACCESS:
      return "A thread used an address that does not belong to it or that is not aligned for the access: check index "
             "arithmetic, edges, 32-bit overflow, and vector accesses against strides.";
    case v1::OUTCOME_LAUNCH_ERROR:
      return "The device refused or ended a launch: check threads and registers a block, shared memory, cluster and "
             "cooperative limits, and traps.";
    case v1::OUTCOME_OUT_OF_BOUNDS:
      return "Memory before or after an output or scratch tensor was written: check edges, and counts of the last "
             "block.";
    case v1::OUTCOME_INPUT_MODIFIED:
      return "An input or a parameter was changed: write to outputs and scratch only.";
    case v1::OUTCOME_UNWRITTEN_OUTPUT:
      return "Elements of an output were never written: check that the grid covers every element and that no guard is "
             "too strict.";
    case v1::OUTCOME_NON_FINITE:
      return "NaN or infinity stands where the reference has none: check overflow of exponentials and squares, "
             "division by zero, and scratch or shared memory that is read before it is written (it holds poison).";
    case v1::OUTCOME_WRONG_OUTPUT:
      return "Results differ from the reference by more than the precision class allows. A few wrong elements point to "
             "edges or races, all of them to the formula or to indexes, small errors everywhere to the arithmetic's "
             "precision, wrong only for a large mean or scale to cancellation.";
    case v1::OUTCOME_SUSPICIOUS:
      return "The times cannot be true: a kernel must do the same work at every launch, and leave the timer alone.";
    default:
      return "";
  }
}

std::string DescribeMismatch(const v1::Mismatch& mismatch) {
  std::string text = fmt::format("In `{}` at index ({}): expected {:.9g}, got {:.9g}", OneLine(mismatch.output(), 100),
                                 fmt::join(mismatch.index(), ", "), mismatch.expected(), mismatch.got());
  const double difference = mismatch.got() - mismatch.expected();
  if (std::isfinite(difference) && difference != 0) {
    text += fmt::format(" (off by {:.3g}", difference);
    if (mismatch.expected() != 0) text += fmt::format(", {:.3g} of it", std::abs(difference / mismatch.expected()));
    text += ")";
  }
  if (mismatch.elements() > 0) {
    text +=
        fmt::format("; {} of {} elements are wrong ({:.3g} %)", mismatch.wrong_elements(), mismatch.elements(),
                    100 * static_cast<double>(mismatch.wrong_elements()) / static_cast<double>(mismatch.elements()));
  }
  return text + ".\n";
}

std::string DescribeTrials(const v1::Evaluation& evaluation) {
  std::string text, passed;
  for (const v1::TrialVerdict& trial : evaluation.trials()) {
    if (trial.passed()) {
      const std::string name = OneLine(trial.distribution(), 80);
      if ((", " + passed + ",").find(", " + name + ",") == std::string::npos) {
        passed += (passed.empty() ? "" : ", ") + name;
      }
      continue;
    }
    text += fmt::format("Input distribution {}: relative RMS error {:.3g}, worst tile {:.3g}, maximum {:.3g}{}.\n",
                        OneLine(trial.distribution(), 80), trial.relative_rms_error(), trial.worst_tile_error(),
                        trial.max_error(), trial.after_timed_launch() ? ", in a timed launch" : "");
  }
  if (!passed.empty()) text += fmt::format("Passed on inputs of: {}.\n", passed);
  return Bounded(text, 4000);
}

}  // namespace

std::string FirstErrors(std::string_view log, size_t max_bytes) {
  const size_t error = log.find("error");
  const size_t start = error == log.npos ? 0 : log.rfind('\n', error) + 1;
  std::string text;
  if (start > 0)
    text = fmt::format("[{} lines before the first error are left out]\n", SplitLines(log.substr(0, start)).size());
  log = log.substr(start);
  if (log.size() <= max_bytes) return text + std::string(log);
  size_t end = log.rfind('\n', max_bytes);
  if (end == log.npos || end == 0) return text + Bounded(log, max_bytes);
  return text + std::string(log.substr(0, end + 1)) +
         fmt::format("[{} more lines are left out]", SplitLines(log.substr(end + 1)).size());
}

std::string DescribeOutcome(const v1::Evaluation& evaluation) {
  if (evaluation.outcome() == v1::OUTCOME_OK) {
    std::string text = fmt::format("ok, {:.4g} ms", evaluation.timing().median_ms());
    if (evaluation.timing().emulated()) text += " (emulated)";
    if (evaluation.ratio_to_eager() > 0)
      text += fmt::format(", {:.3g}x as fast as PyTorch eager", evaluation.ratio_to_eager());
    return text;
  }
  std::string text = OutcomeName(evaluation.outcome());
  if (!evaluation.reason().empty()) text += " (" + OneLine(evaluation.reason(), 80) + ")";
  if (!evaluation.message().empty()) text += ": " + OneLine(evaluation.message(), 600);
  return text;
}

std::string DescribeFailure(const v1::Evaluation& evaluation) {
  std::string text = fmt::format("Outcome: {}", OutcomeName(evaluation.outcome()));
  if (!evaluation.reason().empty()) text += fmt::format(", reason {}", OneLine(evaluation.reason(), 80));
  if (!evaluation.failed_stage().empty()) text += fmt::format(", at stage {}", OneLine(evaluation.failed_stage(), 80));
  text += ".\n";
  if (!evaluation.message().empty()) text += Bounded(evaluation.message(), 4000) + "\n";
  if (evaluation.outcome() == v1::OUTCOME_COMPILE_ERROR && !evaluation.compile().log().empty()) {
    text += "\nThe compiler's first errors:\n\n" + Fenced("", FirstErrors(evaluation.compile().log(), kMaxLog)) + "\n";
  }
  if (evaluation.has_mismatch()) text += "\n" + DescribeMismatch(evaluation.mismatch());
  text += DescribeTrials(evaluation);
  if (evaluation.outcome() == v1::OUTCOME_LAUNCH_ERROR || evaluation.outcome() == v1::OUTCOME_OUT_OF_MEMORY) {
    for (const v1::KernelResources& kernel : evaluation.compile().kernels()) {
      text += fmt::format(
          "{}: {} registers a thread, {} bytes of static shared memory, {} bytes of local memory a "
          "thread, {} threads a block at most.\n",
          OneLine(kernel.name(), 120), kernel.registers(), kernel.static_shared_bytes(), kernel.local_bytes(),
          kernel.max_threads_per_block());
    }
  }
  const std::string profile = DescribeProfile(evaluation.profile());
  if (!profile.empty()) text += std::string(TrimSpace(profile)) + "\n";
  const std::string meaning = Meaning(evaluation.outcome());
  if (!meaning.empty()) text += "\n" + meaning + "\n";
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace warpsmith::gateway
