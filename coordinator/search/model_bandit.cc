#include "coordinator/search/model_bandit.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "coordinator/search/numbers.h"

namespace warpsmith::search {
namespace {

constexpr double kNothing = -std::numeric_limits<double>::infinity();

double LogAddExp(double a, double b) {
  const double high = std::max(a, b);
  if (high == kNothing) return kNothing;  // inf - inf would be NaN
  return high + std::log1p(std::exp(std::min(a, b) - high));
}

// log(exp(r) - 1) without overflow for large r; -infinity at and below 0.
double LogExpM1(double r) {
  if (!(r > 0)) return kNothing;
  return r < 1 ? std::log(std::expm1(r)) : r + std::log1p(-std::exp(-r));
}

// s + ln f - ln(1 + (1 - f) e^s), without overflow for large s.
double Faded(double s, double f) {
  if (s == kNothing || f >= 1) return s;
  const double rest = 1 - f;
  const double log_term = s > 0 ? s + std::log(rest + std::exp(-s)) : std::log1p(rest * std::exp(s));
  return s + std::log(f) - log_term;
}

int64_t Pulls(const ArmRecord& arm) { return std::max(arm.submitted, arm.finished); }

}  // namespace

void ModelBandit::Submit(const std::string& arm, int64_t calls) {
  state_.arms[arm].submitted += std::max<int64_t>(0, calls);
}

void ModelBandit::Succeed(const std::string& arm, double score, double reference) {
  const double from = std::isfinite(reference) ? std::max(0.0, reference) : 0;
  Record(arm, std::isfinite(score) ? LogExpM1(score - from) : kNothing);
}

void ModelBandit::Fail(const std::string& arm) { Record(arm, kNothing); }

void ModelBandit::AddCost(const std::string& arm, double usd, int64_t calls) {
  if (calls <= 0) return;
  ArmRecord& record = state_.arms[arm];
  record.cost += std::isfinite(usd) ? std::max(0.0, usd) : 0;
  record.costed += calls;
}

double ModelBandit::LogMean(const ArmRecord& arm) const {
  if (arm.log_sum == kNothing || !(arm.weight > 0)) return kNothing;
  return arm.log_sum - std::log(arm.weight);
}

void ModelBandit::Record(const std::string& name, double log_improvement) {
  ArmRecord& arm = state_.arms[name];
  ++arm.finished;
  arm.log_sum = LogAddExp(arm.log_sum, log_improvement);
  arm.weight += 1;
  state_.log_best = std::max(state_.log_best, log_improvement);

  double best_mean = kNothing;
  for (auto& entry : state_.arms) {
    ArmRecord& fading = entry.second;
    fading.weight *= settings_.decay;
    fading.log_sum = Faded(fading.log_sum, settings_.decay);
    best_mean = std::max(best_mean, LogMean(fading));
  }
  state_.log_best = std::max(Faded(state_.log_best, settings_.decay), best_mean);
}

std::vector<double> ModelBandit::Scores(const std::vector<std::string>& available) const {
  int64_t pulls = 0;
  std::vector<double> mean_costs;
  for (const auto& [name, arm] : state_.arms) {
    pulls += Pulls(arm);
    if (arm.costed > 0) mean_costs.push_back(arm.cost / static_cast<double>(arm.costed));
  }
  const double log_pulls = pulls > 0 ? std::log(static_cast<double>(pulls)) : 0;

  // How cheap each arm is against the median, over all arms that were ever paid for.
  double median_cost = 0, range = 0, best_ratio = 0;
  const auto ratio_of = [&](double mean_cost, int64_t costed) {
    const double bonus = settings_.cost_bonus * range * std::sqrt(2 * log_pulls / static_cast<double>(costed));
    return median_cost / std::max(mean_cost - bonus, settings_.least_cost);
  };
  if (!mean_costs.empty()) {
    median_cost = Median(mean_costs);
    const auto [low, high] = std::minmax_element(mean_costs.begin(), mean_costs.end());
    range = *high - *low;
    for (const auto& [name, arm] : state_.arms) {
      if (arm.costed == 0) continue;
      best_ratio = std::max(best_ratio, ratio_of(arm.cost / static_cast<double>(arm.costed), arm.costed));
    }
  }

  std::vector<double> scores;
  scores.reserve(available.size());
  for (const std::string& name : available) {
    const auto found = state_.arms.find(name);
    if (found == state_.arms.end() || Pulls(found->second) == 0) {
      scores.push_back(std::numeric_limits<double>::infinity());
      continue;
    }
    const ArmRecord& arm = found->second;
    const double log_mean = LogMean(arm);
    const double mean = log_mean == kNothing ? 0 : std::min(1.0, std::exp(log_mean - state_.log_best));
    double score = mean + settings_.exploration * std::sqrt(2 * log_pulls / static_cast<double>(Pulls(arm)));
    if (settings_.cost_share > 0 && best_ratio > 0) {
      // An arm that was not paid for yet is taken to cost the median.
      const double ratio = arm.costed > 0 ? ratio_of(arm.cost / static_cast<double>(arm.costed), arm.costed) : 1.0;
      const double cheapness = std::pow(std::min(1.0, ratio / best_ratio), settings_.cost_power);
      score = (1 - settings_.cost_share) * score + settings_.cost_share * cheapness;
    }
    scores.push_back(score);
  }
  return scores;
}

std::vector<double> ModelBandit::Probabilities(const std::vector<std::string>& available) const {
  const std::vector<double> scores = Scores(available);
  std::vector<double> probabilities(scores.size(), 0);
  if (scores.empty()) return probabilities;
  const double best = *std::max_element(scores.begin(), scores.end());
  const auto winners = static_cast<double>(std::count(scores.begin(), scores.end(), best));
  const double others = static_cast<double>(scores.size()) - winners;
  const bool unseen = std::isinf(best);
  const double for_others = unseen || others == 0 ? 0 : settings_.epsilon;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] == best) {
      probabilities[i] = (1 - for_others) / winners;
    } else if (for_others > 0) {
      probabilities[i] = for_others / others;
    }
  }
  return probabilities;
}

size_t ModelBandit::Choose(const std::vector<std::string>& available, uint64_t seed) const {
  return DrawName(available, Probabilities(available), seed);
}

size_t DrawName(const std::vector<std::string>& names, const std::vector<double>& weights, uint64_t seed) {
  std::vector<size_t> order(names.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return names[a] < names[b]; });
  std::vector<double> ordered;
  ordered.reserve(order.size());
  for (size_t at : order) ordered.push_back(weights[at]);
  return order[DrawByWeight(ordered, seed)];
}

}  // namespace warpsmith::search
