#include "coordinator/engine/rate_sharing.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "coordinator/search/numbers.h"

namespace warpsmith::engine {
namespace {

constexpr double kFloor = 0.2;      // of a limit, shared evenly whatever the demand
constexpr double kKeptBack = 0.02;  // of a rate, for replicas that come
constexpr size_t kMostReplicas = 1000;
constexpr int kMostModels = 1000;

// The smallest limit that any replica has; 0: none has one.
double Smallest(double a, double b) { return a > 0 && b > 0 ? std::min(a, b) : std::max(a, b); }

// What of a rate goes to one that asks: its part of the whole, as far as it is free. Of what too little is left, half,
// so that the next newcomer finds something too.
double Grant(double wanted, double free) {
  free = std::max(0.0, free);
  return wanted <= free ? wanted : free / 2;
}

}  // namespace

std::vector<double> SharesOf(double limit, const std::vector<double>& demands) {
  const auto count = static_cast<double>(demands.size());
  const double total = std::accumulate(demands.begin(), demands.end(), 0.0,
                                       [](double sum, double demand) { return sum + search::Amount(demand); });
  // Rounding must not carry the sum over the limit.
  const double whole = limit * (1 - 1e-9);
  std::vector<double> shares;
  shares.reserve(demands.size());
  for (double demand : demands) {
    const double part = total > 0 ? search::Amount(demand) / total : 1 / count;
    shares.push_back(whole * (kFloor / count + (1 - kFloor) * part));
  }
  return shares;
}

std::vector<int> CallSharesOf(int limit, const std::vector<double>& demands) {
  std::vector<int> shares(demands.size(), 1);
  const int rest = limit - static_cast<int>(demands.size());
  if (rest <= 0) return shares;
  const std::vector<double> exact = SharesOf(rest, demands);
  int given = 0;
  std::vector<size_t> order(demands.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = 0; i < exact.size(); ++i) {
    shares[i] += static_cast<int>(exact[i]);
    given += static_cast<int>(exact[i]);
  }
  // Largest remainder first.
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return exact[a] - std::floor(exact[a]) > exact[b] - std::floor(exact[b]);
  });
  for (size_t i = 0; given < rest; ++i, ++given) ++shares[order[i % order.size()]];
  return shares;
}

void RateSharing::DropSilent(TimePoint now) {
  std::erase_if(replicas_,
                [&](const auto& entry) { return now - entry.second.heard > FromSeconds(3 * kRateShareSeconds); });
}

v1::ModelShare RateSharing::ShareOf(const std::string& model, const std::string& gateway_id) const {
  double requests = 0, tokens = 0;
  int calls = 0;
  double granted_requests = 0, granted_tokens = 0;
  int granted_calls = 0;
  std::vector<double> demands;
  size_t own = 0;
  for (const auto& [id, replica] : replicas_) {
    const auto demand = replica.demands.find(model);
    if (demand != replica.demands.end()) {
      if (id == gateway_id) own = demands.size();
      requests = Smallest(requests, search::Amount(demand->second.requests_per_minute()));
      tokens = Smallest(tokens, search::Amount(demand->second.tokens_per_minute()));
      calls = static_cast<int>(Smallest(calls, std::max(0, demand->second.concurrency())));
      demands.push_back(std::max(0, demand->second.in_flight()) + std::max(0, demand->second.waiting()));
    }
    const auto granted = replica.granted.find(model);
    if (id != gateway_id && granted != replica.granted.end()) {
      granted_requests += granted->second.requests_per_minute();
      granted_tokens += granted->second.tokens_per_minute();
      granted_calls += granted->second.concurrency();
    }
  }
  const auto rate = [&](double limit, double granted) {
    if (limit <= 0) return 0.0;
    return Grant(SharesOf(limit * (1 - kKeptBack), demands)[own], limit * (1 - 1e-9) - granted);
  };
  v1::ModelShare share;
  share.set_model(model);
  share.set_requests_per_minute(rate(requests, granted_requests));
  share.set_tokens_per_minute(rate(tokens, granted_tokens));
  if (calls > 0) share.set_concurrency(std::max(1, std::min(CallSharesOf(calls, demands)[own], calls - granted_calls)));
  return share;
}

v1::ShareRatesReply RateSharing::Share(const v1::ShareRatesRequest& request) {
  std::lock_guard lock(mutex_);
  const TimePoint now = clock_.Now();
  DropSilent(now);
  v1::ShareRatesReply reply;
  reply.set_valid_seconds(kRateShareSeconds);
  if (replicas_.size() < kMostReplicas || replicas_.contains(request.gateway_id())) {
    Replica& replica = replicas_[request.gateway_id()];
    replica.heard = now;
    replica.demands.clear();
    for (const v1::ModelDemand& demand : request.demands()) {
      if (static_cast<int>(replica.demands.size()) < kMostModels) replica.demands[demand.model()] = demand;
    }
    std::map<std::string, v1::ModelShare> granted;
    for (const auto& [model, demand] : replica.demands) {
      granted[model] = ShareOf(model, request.gateway_id());
      *reply.add_shares() = granted[model];
    }
    replica.granted = std::move(granted);
  }
  reply.set_replicas(static_cast<int>(replicas_.size()));
  return reply;
}

}  // namespace warpsmith::engine
