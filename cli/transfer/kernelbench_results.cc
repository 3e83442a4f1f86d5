#include "cli/transfer/kernelbench_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cli/text.h"
#include "common/fast_p.h"
#include "common/protocol_names.h"
#include "common/version.h"

namespace warpsmith::transfer {
namespace {

constexpr std::array kThresholds = {0.0, 0.5, 0.8, 1.0, 1.5, 2.0};

double BaselineMs(const v1::ExportedProblem& problem, const std::string& name) {
  for (const v1::Baseline& baseline : problem.problem().baselines()) {
    if (baseline.name() == name && baseline.emulated() == problem.kernel().emulated()) return baseline.median_ms();
  }
  return 0;
}

// Mean, deviation and bounds of the samples, as KernelBench tells them; the median alone where no samples were kept.
Json RuntimeStats(const v1::ExportedProblem& problem) {
  const v1::Timing& timing = problem.evaluation().timing();
  std::vector<double> samples(timing.sample_ms().begin(), timing.sample_ms().end());
  Json stats = {{"hardware", timing.device_name()}, {"device", problem.kernel().emulated() ? "cpu" : "cuda"}};
  if (samples.empty()) {
    stats["mean"] = stats["min"] = stats["max"] = problem.kernel().median_ms();
    stats["std"] = 0.0;
    stats["num_trials"] = timing.samples();
    return stats;
  }
  double sum = 0, squares = 0;
  for (double sample : samples) sum += sample;
  const double mean = sum / static_cast<double>(samples.size());
  for (double sample : samples) squares += (sample - mean) * (sample - mean);
  stats["mean"] = mean;
  stats["std"] = std::sqrt(squares / static_cast<double>(samples.size()));
  stats["min"] = *std::min_element(samples.begin(), samples.end());
  stats["max"] = *std::max_element(samples.begin(), samples.end());
  stats["num_trials"] = samples.size();
  return stats;
}

std::string Threshold(double p) { return fmt::format("{:g}", p); }

}  // namespace

std::string LevelFolder(const v1::ExportedProblem& problem) {
  return problem.level() > 0 ? fmt::format("level{}", problem.level()) : "";
}

std::string KernelFileName(const v1::ExportedProblem& problem) {
  if (problem.level() > 0 && problem.number() > 0) {
    return fmt::format("level_{}_problem_{}_sample_0_kernel.py", problem.level(), problem.number());
  }
  return problem.problem().name() + "_kernel.py";
}

std::string ResultKey(const v1::ExportedProblem& problem) {
  return problem.number() > 0 ? std::to_string(problem.number()) : problem.problem().name();
}

Json EvaluationResult(const v1::ExportedProblem& problem, const std::string& unwritten) {
  const v1::Evaluation& evaluation = problem.evaluation();
  const bool correct = problem.has_kernel() && evaluation.outcome() == v1::OUTCOME_OK;
  const auto passed = std::count_if(evaluation.trials().begin(), evaluation.trials().end(),
                                    [](const v1::TrialVerdict& trial) { return trial.passed(); });
  Json own = {{"name", problem.problem().name()},
              {"version", kVersion},
              {"search_id", problem.search_id()},
              {"candidate_id", problem.candidate_id()}};
  Json metadata = {{"hardware", problem.device().name()},
                   {"device", problem.kernel().emulated() ? "cpu" : "cuda"},
                   {"correctness_trials", fmt::format("({} / {})", passed, evaluation.trials_size())}};
  Json result = {{"sample_id", 0}, {"compiled", problem.has_kernel()}, {"correctness", correct}};
  if (correct) {
    own["median_ms"] = problem.kernel().median_ms();
    own["ratio_to_eager"] = evaluation.ratio_to_eager();
    own["precision_class"] = PrecisionClassName(evaluation.reached());
    own["harness_rev"] = evaluation.harness_rev();
    own["judge_rev"] = evaluation.judge_rev();
    own["driver"] = problem.device().driver();
    own["emulated"] = problem.kernel().emulated();
    result["runtime_stats"] = RuntimeStats(problem);
    result["runtime"] = result["runtime_stats"]["mean"];
  } else {
    const std::string reason =
        problem.error().empty() ? "the search has found no correct kernel" : cli::Line(problem.error());
    metadata["runtime_error"] = reason;
    result["runtime_stats"] = Json::object();
    result["runtime"] = -1.0;
  }
  if (!unwritten.empty()) own["not_written"] = unwritten;
  metadata["warpsmith"] = std::move(own);
  result["metadata"] = std::move(metadata);
  return Json::array({std::move(result)});
}

void FastP::Add(const v1::ExportedProblem& problem) {
  ++problems_;
  degenerate_ += problem.problem().signature().degenerate() ? 1 : 0;
  if (!problem.has_kernel() || problem.evaluation().outcome() != v1::OUTCOME_OK) return;
  ++correct_;
  emulated_ = emulated_ || problem.kernel().emulated();
  const double to_eager = problem.evaluation().ratio_to_eager();
  const double to_compile = RatioToBaseline(BaselineMs(problem, "compile_default"), BaselineMs(problem, "eager"),
                                            problem.kernel().median_ms(), to_eager);
  for (const auto& [name, ratio] : {std::pair("eager", to_eager), std::pair("compile", to_compile)}) {
    against_[name].ratios.push_back(ratio);
    against_[name].without += ratio > 0 ? 0 : 1;
  }
}

Json FastP::ToJson() const {
  Json json = {{"problems", problems_}, {"correct", correct_}, {"degenerate", degenerate_}, {"emulated", emulated_}};
  for (const auto& [name, against] : against_) {
    Json& shares = json["fast_p"][name];
    for (const double p : kThresholds) shares[Threshold(p)] = warpsmith::FastP(against.ratios, problems_, p);
    json["without_baseline"][name] = against.without;
  }
  return json;
}

std::string FastP::ToText() const {
  cli::Table table;
  table.AddColumn("fast_p against");
  for (const double p : kThresholds) table.AddColumn("p = " + Threshold(p), cli::Table::kRight);
  for (const char* name : {"eager", "compile"}) {
    std::vector<std::string> row = {name};
    for (const double p : kThresholds) {
      row.push_back(fmt::format("{:.3f}", warpsmith::FastP(against_.at(name).ratios, problems_, p)));
    }
    table.AddRow(row);
  }
  std::string text = fmt::format("{} of {} problems have a correct kernel{}\n", correct_, problems_,
                                 emulated_ ? " (times of the emulated device, no GPU's)" : "");
  text += table.ToString();
  for (const auto& [name, against] : against_) {
    if (against.without == 0) continue;
    text += fmt::format("{} correct kernels have no {} baseline and count as not faster\n", against.without, name);
  }
  if (degenerate_ > 0) {
    text += fmt::format("{} of the problems are degenerate: a trivial answer passes them\n", degenerate_);
  }
  return text;
}

}  // namespace warpsmith::transfer
