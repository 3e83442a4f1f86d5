// Shares each model's configured limits among the gateway's replicas: a small part to each, the rest by demand (calls
// in flight and waiting), so that all of them together stay within the limit however their load moves. What was given
// to a replica stays given until it asks again or is dropped, so a newcomer gets no more than is free; a little of each
// rate is always kept back for it. Where replicas are configured differently, the smallest limit holds. A replica is
// dropped when it was not heard from for three times valid_seconds. One that cannot reach us for longer goes on with
// its last share, and after a restart of the coordinator the sums hold again once every replica has asked, which takes
// it at most valid_seconds. Rates never sum to more than their limit. A replica always has at least one call at a time,
// since a share of 0 would mean no limit: where there are more replicas than the limit has calls, or none is free for a
// newcomer, the sum of concurrency is larger by those. Threading: SharesOf is pure; RateSharing is safe from any
// thread. Units: a minute; seconds.
#ifndef WARPSMITH_COORDINATOR_ENGINE_RATE_SHARING_H_
#define WARPSMITH_COORDINATOR_ENGINE_RATE_SHARING_H_

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "common/clock.h"
#include "warpsmith/v1/gateway.pb.h"

namespace warpsmith::engine {

inline constexpr double kRateShareSeconds = 4;

// `limit` divided among replicas with these demands; each part is above 0 and they sum to at most `limit`.
std::vector<double> SharesOf(double limit, const std::vector<double>& demands);
// Whole calls at a time: each at least 1, otherwise at most `limit` in all.
std::vector<int> CallSharesOf(int limit, const std::vector<double>& demands);

class RateSharing {
 public:
  explicit RateSharing(Clock& clock) : clock_(clock) {}

  v1::ShareRatesReply Share(const v1::ShareRatesRequest& request);

 private:
  struct Replica {
    TimePoint heard{};
    std::map<std::string, v1::ModelDemand> demands;
    std::map<std::string, v1::ModelShare> granted;
  };

  void DropSilent(TimePoint now);
  v1::ModelShare ShareOf(const std::string& model, const std::string& gateway_id) const;

  Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, Replica> replicas_;  // guarded by mutex_
};

}  // namespace warpsmith::engine

#endif  // WARPSMITH_COORDINATOR_ENGINE_RATE_SHARING_H_
