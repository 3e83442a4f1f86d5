#include "cli/print_evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "cli/names.h"
#include "cli/print_profile.h"
#include "cli/text.h"

namespace warpsmith::cli {
namespace {

template <typename List>
std::string Joined(const List& list, const char* separator = ", ") {
  std::string out;
  for (const auto& item : list) out += (out.empty() ? "" : separator) + Line(fmt::format("{}", item));
  return out;
}

std::string Field(const char* name, const std::string& value) { return fmt::format("  {:<13} {}\n", name, value); }

// What the median was held against.
std::string ClocksText(const v1::Timing& timing) {
  std::string out;
  if (timing.host_clock_ms() > 0) {
    out += Field("clocks",
                 fmt::format("{} ms a launch in a row by this program's clock{}", FormatMs(timing.host_clock_ms()),
                             timing.device_batch_ms() > 0
                                 ? fmt::format(", {} ms by the device's", FormatMs(timing.device_batch_ms()))
                                 : ""));
  }
  if (timing.first_use_ms() > 0) out += Field("first use", FormatMs(timing.first_use_ms()) + " ms on new inputs");
  if (timing.anchor_ms() > 0) out += Field("anchor", FormatMs(timing.anchor_ms()) + " ms: PyTorch in the same minute");
  if (timing.throttled_samples() > 0) {
    out += Field("throttled", fmt::format("{} samples left out", timing.throttled_samples()));
  }
  if (!timing.launch_mode().empty()) out += Field("launched as", Line(timing.launch_mode()));
  return out;
}

std::string RooflineText(const v1::Roofline& roofline) {
  if (!(roofline.share() > 0)) return "";
  std::string floors;
  if (roofline.memory_floor_ms() > 0)
    floors += fmt::format("{} ms for its bytes", FormatMs(roofline.memory_floor_ms()));
  if (roofline.compute_floor_ms() > 0) {
    floors +=
        fmt::format("{}{} ms for its operations", floors.empty() ? "" : ", ", FormatMs(roofline.compute_floor_ms()));
  }
  return Field("roofline", fmt::format("{} of the {} bound; least {}", FormatPercent(roofline.share()),
                                       Line(roofline.bound()), floors)) +
         Field("rates", fmt::format("{:.0f} GB/s, {:.2f} Tflop/s of the algorithm", roofline.bytes_per_second() / 1e9,
                                    roofline.operations_per_second() / 1e12));
}

std::string ConfirmationText(const v1::Confirmation& confirmation) {
  std::string out;
  if (confirmation.ratio_to_reference() > 0) {
    out += Field("confirmed",
                 fmt::format("{:.4f} times as fast as PyTorch (95 %: {:.4f} to {:.4f}; {} rounds, {} samples)",
                             confirmation.ratio_to_reference(), confirmation.reference_low(),
                             confirmation.reference_high(), confirmation.rounds(), confirmation.samples()));
  }
  if (confirmation.ratio_to_incumbent() > 0) {
    out += Field("confirmed", fmt::format("{:.4f} times as fast as the incumbent (95 %: {:.4f} to {:.4f})",
                                          confirmation.ratio_to_incumbent(), confirmation.incumbent_low(),
                                          confirmation.incumbent_high()));
  }
  if (!confirmation.incumbent_error().empty()) out += Field("incumbent", Line(confirmation.incumbent_error()));
  return out;
}

std::string TimingText(const v1::Evaluation& evaluation) {
  const v1::Timing& timing = evaluation.timing();
  if (!(timing.median_ms() > 0)) return "";
  std::string out =
      Field("time", fmt::format("{} ms (spread {:.1f} %, {} samples, stage {})", FormatMs(timing.median_ms()),
                                timing.spread() * 100, timing.samples(), Line(timing.stage())));
  out += Field("device", Line(timing.device_name()) + (timing.emulated() ? " (emulated: not a GPU's time)" : ""));
  if (evaluation.ratio_to_eager() > 0) {
    out += Field("of PyTorch", fmt::format("{}{}", FormatPercent(evaluation.ratio_to_eager()),
                                           timing.emulated() ? " (emulated)" : ""));
  }
  if (evaluation.ratio_to_best_baseline() > 0) {
    out += Field("of best", fmt::format("{} of {}", FormatPercent(evaluation.ratio_to_best_baseline()),
                                        Line(evaluation.best_baseline())));
  }
  if (timing.prepare_ms() > 0) out += Field("prepare", FormatMs(timing.prepare_ms()) + " ms");
  return out + ClocksText(timing) + RooflineText(evaluation.roofline()) + ConfirmationText(evaluation.confirmation());
}

std::string MismatchText(const v1::Mismatch& mismatch) {
  if (mismatch.output().empty()) return "";
  return Field("differs", fmt::format("{}[{}]: expected {:.6g}, got {:.6g}; {} of {} elements are wrong",
                                      Line(mismatch.output()), Joined(mismatch.index()), mismatch.expected(),
                                      mismatch.got(), mismatch.wrong_elements(), mismatch.elements()));
}

std::string TrialsText(const v1::Evaluation& evaluation) {
  if (evaluation.trials_size() == 0) return "";
  struct Sum {
    int passed = 0;
    int all = 0;
    double worst_rms = 0;
    double worst_tile = 0;
    double max = 0;
  };
  std::map<std::string, Sum> sums;
  std::vector<std::string> order;
  for (const v1::TrialVerdict& trial : evaluation.trials()) {
    const std::string name = Line(trial.distribution()) + (trial.after_timed_launch() ? ", timed launch" : "");
    if (sums.count(name) == 0) order.push_back(name);
    Sum& sum = sums[name];
    ++sum.all;
    sum.passed += trial.passed() ? 1 : 0;
    sum.worst_rms = std::max(sum.worst_rms, trial.relative_rms_error());
    sum.worst_tile = std::max(sum.worst_tile, trial.worst_tile_error());
    sum.max = std::max(sum.max, trial.max_error());
  }
  Table table;
  table.AddColumn("  inputs");
  table.AddColumn("passed", Table::kRight);
  table.AddColumn("RMS error", Table::kRight);
  table.AddColumn("worst tile", Table::kRight);
  table.AddColumn("largest", Table::kRight);
  for (const std::string& name : order) {
    const Sum& sum = sums[name];
    table.AddRow({"  " + name, fmt::format("{} of {}", sum.passed, sum.all), fmt::format("{:.2e}", sum.worst_rms),
                  fmt::format("{:.2e}", sum.worst_tile), fmt::format("{:.2e}", sum.max)});
  }
  return table.ToString();
}

std::string CompileText(const v1::Evaluation& evaluation) {
  const v1::CompileReport& compile = evaluation.compile();
  std::string out;
  if (compile.architectures_size() > 0) {
    out += Field("compiled", fmt::format("for {} in {}{}", Joined(compile.architectures()),
                                         FormatSeconds(compile.seconds()), compile.cached() ? " (cached)" : ""));
  }
  for (const v1::KernelResources& kernel : compile.kernels()) {
    out += Field("kernel", fmt::format("{}: {} registers, {} B shared, {} B local a thread", Line(kernel.name()),
                                       kernel.registers(), kernel.static_shared_bytes(), kernel.local_bytes()));
  }
  if (evaluation.outcome() != v1::OUTCOME_OK && !compile.log().empty()) {
    out += "  compiler's log\n" + Indent(compile.log(), "    ") + "\n";
  }
  return out;
}

}  // namespace

std::string EvaluationText(const v1::Evaluation& evaluation) {
  std::string out = "verdict: " + OutcomeName(evaluation.outcome());
  if (!evaluation.reason().empty()) out += " (" + Line(evaluation.reason()) + ")";
  out += '\n';
  if (!evaluation.message().empty()) out += Indent(evaluation.message(), "  ") + "\n";
  out += MismatchText(evaluation.mismatch());
  out += TimingText(evaluation);
  if (evaluation.reached() != v1::PRECISION_CLASS_UNSPECIFIED) {
    out += Field("precision", PrecisionClassName(evaluation.reached()));
  }
  if (evaluation.flags_size() > 0) out += Field("flags", Joined(evaluation.flags()));
  if (evaluation.launches() > 0) out += Field("launches", fmt::format("{} a run", evaluation.launches()));
  if (evaluation.tune_variants() > 1) {
    // A map has no order of its own.
    const std::map<std::string, int64_t> tune(evaluation.tune().begin(), evaluation.tune().end());
    std::string chosen;
    for (const auto& [name, value] : tune)
      chosen += fmt::format("{}{}={}", chosen.empty() ? "" : " ", Line(name), value);
    out += Field("tuned", fmt::format("{} (best of {})", chosen, evaluation.tune_variants()));
  }
  out += CompileText(evaluation);
  out += TrialsText(evaluation);
  out += RenderProfile(evaluation.profile());
  if (!evaluation.harness_rev().empty()) {
    out += Field("judged by", fmt::format("harness {}, judge {}, worker {}, {}", Line(evaluation.harness_rev()),
                                          Line(evaluation.judge_rev()), Line(evaluation.worker_id()),
                                          FormatSeconds(evaluation.evaluate_seconds())));
  }
  return out;
}

std::string RatiosText(const v1::Problem& problem, const v1::Evaluation& evaluation) {
  const v1::Timing& timing = evaluation.timing();
  if (evaluation.outcome() != v1::OUTCOME_OK || !(timing.median_ms() > 0)) return "";
  Table table;
  table.AddColumn("  against");
  table.AddColumn("class");
  table.AddColumn("ms", Table::kRight);
  table.AddColumn("kernel", Table::kRight);
  for (const v1::Baseline& baseline : problem.baselines()) {
    if (baseline.emulated() != timing.emulated() || !(baseline.median_ms() > 0)) continue;
    table.AddRow({"  " + Line(baseline.name()), PrecisionClassName(baseline.precision_class()),
                  FormatMs(baseline.median_ms()), FormatPercent(baseline.median_ms() / timing.median_ms())});
  }
  return table.empty() ? "" : table.ToString();
}

std::string ProblemText(const v1::Problem& problem) {
  const v1::ProblemSignature& signature = problem.signature();
  std::string out = fmt::format("problem {} ({})\n", Line(problem.name()), Line(signature.operator_family()));
  Table tensors;
  tensors.AddColumn("  tensor");
  tensors.AddColumn("role");
  tensors.AddColumn("dtype");
  tensors.AddColumn("shape");
  constexpr int kMaxTensors = 24;
  for (int i = 0; i < signature.tensors_size() && i < kMaxTensors; ++i) {
    const v1::TensorSpec& tensor = signature.tensors(i);
    constexpr const char* kRoles[] = {"", "input", "parameter", "buffer", "attribute", "output"};
    const int role = tensor.role();
    tensors.AddRow({"  " + tensor.name(), role > 0 && role < 6 ? kRoles[role] : "", tensor.dtype(),
                    tensor.shape_size() == 0 ? "scalar" : Joined(tensor.shape(), " × ")});
  }
  if (!tensors.empty()) out += tensors.ToString();
  if (signature.tensors_size() > kMaxTensors) {
    out += fmt::format("  … and {} more\n", signature.tensors_size() - kMaxTensors);
  }
  if (signature.stochastic()) out += Field("stochastic", "two runs differ; search it with --eval-mode");
  if (signature.degenerate()) out += Field("degenerate", Line(signature.degenerate_reason()));
  if (signature.distributions_size() > 0) out += Field("judged on", Joined(signature.distributions()));
  for (const v1::Baseline& baseline : problem.baselines()) {
    if (!baseline.skipped_reason().empty()) {
      out += Field("baseline", fmt::format("{}: {}", Line(baseline.name()), Line(baseline.skipped_reason())));
      continue;
    }
    const bool classed = baseline.precision_class() != v1::PRECISION_CLASS_UNSPECIFIED;
    out += Field("baseline", fmt::format("{} {} ms ({}{}{})", Line(baseline.name()), FormatMs(baseline.median_ms()),
                                         classed ? PrecisionClassName(baseline.precision_class()) + ", " : "",
                                         Line(baseline.device_name()), baseline.emulated() ? ", emulated" : ""));
  }
  return out;
}

}  // namespace warpsmith::cli
