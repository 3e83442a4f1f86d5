#include "gpu_worker/executor/refill_policy.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

namespace warpsmith::executor {
namespace {

TEST_CASE("an idle pool is filled so many at once", "[unit]") {
  RefillPolicy policy({8, 4, true});
  CHECK(policy.ToStart({0, 0, 0, false}) == 4);
  CHECK(policy.ToStart({0, 4, 0, false}) == 0);
  CHECK(policy.ToStart({1, 3, 0, false}) == 1);
  CHECK(policy.ToStart({7, 0, 0, false}) == 1);
  CHECK(policy.ToStart({8, 0, 0, false}) == 0);
}

TEST_CASE("whoever waits gets a child, quiet or not", "[unit]") {
  RefillPolicy policy({2, 1, true});
  CHECK(policy.ToStart({0, 0, 3, false}) == 3);
  CHECK(policy.ToStart({0, 0, 1, true}) == 1);
  CHECK(policy.ToStart({0, 1, 1, true}) == 0);
  CHECK(policy.ToStart({0, 0, 0, true}) == 0);
  CHECK(RefillPolicy({0, 1, true}).ToStart({0, 0, 1, false}) == 1);
  CHECK(RefillPolicy({-1, 0, true}).ToStart({0, 0, 0, false}) == 0);
}

TEST_CASE("children on their way are held while it is quiet, unless somebody waits for one", "[unit]") {
  RefillPolicy policy({8, 4, true});
  CHECK(policy.MustHold({2, 4, 0, true}));
  CHECK_FALSE(policy.MustHold({2, 4, 0, false}));
  CHECK_FALSE(policy.MustHold({0, 4, 1, true}));
  CHECK(policy.MustHold({1, 4, 1, true}));  // one is ready
  CHECK(policy.IsStill({2, 4, 0, true}, 0));
  CHECK_FALSE(policy.IsStill({2, 4, 0, true}, 1));
  policy.StopHolding();
  CHECK_FALSE(policy.MustHold({2, 4, 0, true}));
  CHECK_FALSE(policy.IsStill({2, 4, 0, true}, 0));
  CHECK(policy.IsStill({2, 0, 0, true}, 0));
}

TEST_CASE("children that cannot be held are made in whole batches", "[unit]") {
  RefillPolicy policy({8, 4, false});
  CHECK(policy.ToStart({0, 0, 0, false}) == 4);
  CHECK(policy.ToStart({5, 0, 0, false}) == 0);
  CHECK(policy.ToStart({4, 0, 0, false}) == 4);
  CHECK(policy.ToStart({0, 0, 6, false}) == 6);
  CHECK(RefillPolicy({2, 6, false}).ToStart({1, 0, 0, false}) == 0);  // a batch is never more than the pool
  CHECK(RefillPolicy({2, 6, false}).ToStart({0, 0, 0, false}) == 2);
}

TEST_CASE("a pool is as deep as the GPU's memory and as wide as the cores allow", "[unit]") {
  const int64_t h200 = int64_t{141} << 30, l40s = int64_t{48} << 30;
  CHECK(RefillLimits::ForGpu(h200, 16).depth == 8);
  CHECK(RefillLimits::ForGpu(h200, 16).at_once == 4);
  CHECK(RefillLimits::ForGpu(h200, 128).at_once == 6);
  CHECK(RefillLimits::ForGpu(l40s, 128).depth == 4);
  CHECK(RefillLimits::ForGpu(l40s, 128).at_once == 4);
  CHECK(RefillLimits::ForGpu(l40s, 2).at_once == 1);
  CHECK(RefillLimits::ForGpu(l40s, 0).at_once == 1);
}

// A pool and a GPU in virtual time, a millisecond at a time, under the policy; what contexts cost is as measured: one
// alone 172 ms, four at once 1.3 times as long each.
class Simulation {
 public:
  explicit Simulation(RefillLimits limits) : policy_(limits) {}

  // As a pool does while a problem is taken in.
  void Fill() { Pass(2000); }

  // One candidate: a context, then 70 ms of validating and 90 ms of timing, in two turns each.
  void Candidate() {
    Take();
    Pass(20);
    Timed(30);
    Pass(40);
    Timed(60);
    Pass(10);
  }

  double WaitingShare() const { return static_cast<double>(waited_) / static_cast<double>(now_ - filled_); }
  double SecondsEach(int candidates) const { return 1e-3 * static_cast<double>(now_ - filled_) / candidates; }
  void StartClock() { filled_ = now_; }
  int64_t waited_for_contexts_ms() const { return waited_for_contexts_; }
  int timed_beside_a_context() const { return disturbed_; }
  int most_on_their_way() const { return most_; }

 private:
  static constexpr double kAloneMs = 172;
  static constexpr double kSlowerEach = 0.1;
  static constexpr int kStandStillMs = 3;  // until a call of the driver is over

  PoolState State() const { return {ready_, static_cast<int>(left_.size()), waiting_, quiet_}; }

  void Tick() {
    for (int more = policy_.ToStart(State()); more > 0; --more) left_.push_back(kAloneMs);
    most_ = std::max(most_, static_cast<int>(left_.size()));
    stopped_for_ = policy_.MustHold(State()) ? stopped_for_ + 1 : 0;
    if (Moving() > 0) {
      const double each = 1 / (1 + kSlowerEach * (static_cast<double>(left_.size()) - 1));
      for (double& left : left_) left -= each;
    }
    auto done = std::remove_if(left_.begin(), left_.end(), [](double left) { return left <= 0; });
    ready_ += static_cast<int>(left_.end() - done);
    left_.erase(done, left_.end());
    ++now_;
  }
  int Moving() const { return stopped_for_ > kStandStillMs ? 0 : static_cast<int>(left_.size()); }

  void Pass(int ms) {
    for (int i = 0; i < ms; ++i) Tick();
  }
  void Take() {
    ++waiting_;
    for (; ready_ == 0; ++waited_for_contexts_) Wait();
    --waiting_;
    --ready_;
  }
  void Timed(int ms) {
    quiet_ = true;
    while (!policy_.IsStill(State(), Moving())) Wait();
    for (int i = 0; i < ms; ++i) {
      Tick();
      disturbed_ += Moving() > 0 ? 1 : 0;
    }
    quiet_ = false;
  }
  void Wait() {
    Tick();
    ++waited_;
  }

  RefillPolicy policy_;
  std::vector<double> left_;  // ms of each context on its way
  int ready_ = 0, waiting_ = 0, disturbed_ = 0, most_ = 0, stopped_for_ = 0;
  bool quiet_ = false;
  int64_t now_ = 0, filled_ = 0, waited_ = 0, waited_for_contexts_ = 0;
};

Simulation Backlog(RefillLimits limits, int candidates, bool filled) {
  Simulation simulation(limits);
  if (filled) simulation.Fill();
  simulation.StartClock();
  for (int i = 0; i < candidates; ++i) simulation.Candidate();
  return simulation;
}

TEST_CASE("a backlog of candidates waits for no context", "[unit]") {
  const RefillLimits limits = RefillLimits::ForGpu(int64_t{141} << 30, 16);
  Simulation simulation = Backlog(limits, 40, true);
  CHECK(simulation.waited_for_contexts_ms() == 0);
  CHECK(simulation.WaitingShare() < 0.05);  // what it takes until children stand still, twice a candidate
  CHECK(simulation.SecondsEach(40) < 0.172);
  CHECK(simulation.timed_beside_a_context() == 0);
  CHECK(simulation.most_on_their_way() == 4);
  // It goes on like that: contexts grow faster than they are used up.
  CHECK(Backlog(limits, 400, true).waited_for_contexts_ms() == 0);
  // A cold start costs one batch.
  CHECK(Backlog(limits, 40, false).SecondsEach(40) < 0.18);
}

TEST_CASE("contexts one at a time, or such as cannot be held, cost a backlog more", "[unit]") {
  CHECK(Backlog({8, 1, true}, 400, true).WaitingShare() > 0.3);
  // Whole batches: about 224 ms less one pause, a batch of four.
  Simulation batches = Backlog({8, 4, false}, 400, true);
  CHECK(batches.WaitingShare() < 0.3);
  CHECK(batches.timed_beside_a_context() == 0);
  CHECK(batches.SecondsEach(400) < 0.25);
  CHECK(Backlog({8, 1, false}, 400, true).WaitingShare() > batches.WaitingShare());
}

}  // namespace
}  // namespace warpsmith::executor
