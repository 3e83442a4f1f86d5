#include "coordinator/replay/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/hash.h"

namespace warpsmith::replay {
namespace {

constexpr int kResamples = 1000;
constexpr double kBudgetShares[] = {0.1, 0.25, 0.5, 1.0};

using Values = std::vector<std::vector<double>>;  // by tree and run

double Mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double BestWithin(const ReplayedRun& run, double Progress::*spent, double budget) {
  double best = run.progress.front().best_log_ratio;
  for (const Progress& progress : run.progress) {
    if (progress.*spent <= budget) best = std::max(best, progress.best_log_ratio);
  }
  return best;
}

using Runs = std::vector<std::vector<ReplayedRun>>;  // by tree and repeat

template <typename Function>
Values Each(const Runs& runs, Function function) {
  Values values;
  for (const std::vector<ReplayedRun>& of_tree : runs) {
    std::vector<double>& line = values.emplace_back();
    for (const ReplayedRun& run : of_tree) line.push_back(function(run));
  }
  return values;
}

Values Minus(const Values& left, const Values& right) {
  Values difference = left;
  for (size_t tree = 0; tree < left.size(); ++tree) {
    for (size_t run = 0; run < left[tree].size(); ++run) difference[tree][run] -= right[tree][run];
  }
  return difference;
}

double MeanOf(const Values& values) {
  std::vector<double> means;
  for (const std::vector<double>& line : values) means.push_back(Mean(line));
  return Mean(means);
}

Values AtEnd(const Runs& runs, double Progress::*field) {
  return Each(runs, [field](const ReplayedRun& run) { return run.progress.back().*field; });
}

PolicyResult Summarize(const std::string& name, const Runs& runs, const Runs& first, double Progress::*spent,
                       const std::vector<double>& budgets, uint64_t seed) {
  PolicyResult result;
  result.name = name;
  const Values best = AtEnd(runs, &Progress::best_log_ratio);
  result.best = Bootstrap(best, seed);
  result.against_first = Bootstrap(Minus(best, AtEnd(first, &Progress::best_log_ratio)), seed);
  for (const double budget : budgets) {
    const auto within = [&](const ReplayedRun& run) { return BestWithin(run, spent, budget); };
    const Values here = Each(runs, within);
    result.at_budget.push_back(Bootstrap(here, seed));
    result.first_at_budget.push_back(Bootstrap(Minus(here, Each(first, within)), seed));
  }
  result.tokens = Bootstrap(AtEnd(runs, &Progress::tokens), seed);
  result.usd = Bootstrap(AtEnd(runs, &Progress::usd), seed);
  result.gpu_seconds = Bootstrap(AtEnd(runs, &Progress::gpu_seconds), seed);
  result.seconds = Bootstrap(AtEnd(runs, &Progress::seconds), seed);
  double ideas = 0, surrogate_ideas = 0, attempts = 0, surrogate_attempts = 0, found = 0, all = 0;
  for (const std::vector<ReplayedRun>& of_tree : runs) {
    for (const ReplayedRun& run : of_tree) {
      ideas += run.ideas;
      surrogate_ideas += run.surrogate_ideas;
      attempts += run.attempts;
      surrogate_attempts += run.surrogate_attempts;
      found += run.found ? 1 : 0;
      all += 1;
      ++result.finish_reasons[run.finish_reason];
    }
  }
  result.surrogate_ideas = ideas > 0 ? surrogate_ideas / ideas : 0;
  result.surrogate_attempts = attempts > 0 ? surrogate_attempts / attempts : 0;
  result.found = all > 0 ? found / all : 0;
  return result;
}

}  // namespace

Interval Bootstrap(const std::vector<std::vector<double>>& values, uint64_t seed) {
  Interval interval;
  interval.mean = MeanOf(values);
  interval.low = interval.high = interval.mean;
  if (values.empty()) return interval;
  std::mt19937_64 random(seed);
  const auto below = [&](size_t count) { return static_cast<size_t>(random() % count); };
  std::vector<double> means;
  for (int resample = 0; resample < kResamples; ++resample) {
    double sum = 0;
    for (size_t tree = 0; tree < values.size(); ++tree) {
      const std::vector<double>& line = values[values.size() > 1 ? below(values.size()) : 0];
      double of_tree = 0;
      for (size_t run = 0; run < line.size(); ++run) of_tree += line[below(line.size())];
      sum += line.empty() ? 0 : of_tree / static_cast<double>(line.size());
    }
    means.push_back(sum / static_cast<double>(values.size()));
  }
  std::sort(means.begin(), means.end());
  interval.low = means[static_cast<size_t>(0.025 * kResamples)];
  interval.high = means[static_cast<size_t>(0.975 * kResamples)];
  return interval;
}

absl::StatusOr<Comparison> Compare(const std::vector<RecordedTree>& trees, const std::vector<Policy>& policies,
                                   const ComparisonOptions& options) {
  if (trees.empty()) return InvalidArgument("no recorded search is given; name one, or give --recording FILE");
  if (policies.empty()) return InvalidArgument("no strategy to replay is given; use --compare or --variant");
  if (options.repeats < 1) return InvalidArgument("repeats must be at least 1");
  Comparison comparison;
  comparison.trees = static_cast<int>(trees.size());
  comparison.repeats = options.repeats;
  std::vector<Runs> runs(policies.size());
  const int total = static_cast<int>(policies.size() * trees.size()) * options.repeats;
  int done = 0;
  for (size_t policy = 0; policy < policies.size(); ++policy) {
    for (const RecordedTree& tree : trees) {
      v1::SearchSettings settings = tree.settings();
      settings.MergeFrom(policies[policy].settings);
      std::vector<ReplayedRun>& of_tree = runs[policy].emplace_back();
      for (int repeat = 0; repeat < options.repeats; ++repeat) {
        // Of tree and repeat alone, so that policies meet the same luck.
        const uint64_t seed = Sha256Prefix(fmt::format("{}/{}/{}", options.seed, runs[policy].size(), repeat));
        absl::StatusOr<ReplayedRun> run = ReplaySearch(tree, settings, options.machines, seed);
        if (!run.ok()) return Annotate(run.status(), "policy " + policies[policy].name);
        of_tree.push_back(*std::move(run));
        if (options.poll) WARPSMITH_RETURN_IF_ERROR(options.poll(++done, total));
      }
    }
  }
  double thriftiest = 0;
  double Progress::*spent = &Progress::tokens;
  comparison.budget_unit = "tokens";
  const auto least = [&] {
    double smallest = MeanOf(AtEnd(runs.front(), spent));
    for (const Runs& of_policy : runs) smallest = std::min(smallest, MeanOf(AtEnd(of_policy, spent)));
    return smallest;
  };
  thriftiest = least();
  if (thriftiest <= 0) {
    comparison.budget_unit = "gpu_seconds";
    spent = &Progress::gpu_seconds;
    thriftiest = least();
  }
  for (const double share : kBudgetShares) comparison.budgets.push_back(share * thriftiest);
  for (size_t policy = 0; policy < policies.size(); ++policy) {
    comparison.policies.push_back(
        Summarize(policies[policy].name, runs[policy], runs.front(), spent, comparison.budgets, options.seed));
  }
  return comparison;
}

}  // namespace warpsmith::replay
