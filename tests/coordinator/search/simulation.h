// A search without models or devices: a random world that carries out a strategy's actions, with outcomes, times, late
// and lost results drawn from a seed. It checks what a coordinator may rely on, at every decision.
// Threading: one simulation, one thread.
#ifndef WARPSMITH_TESTS_COORDINATOR_SEARCH_SIMULATION_H_
#define WARPSMITH_TESTS_COORDINATOR_SEARCH_SIMULATION_H_

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "coordinator/search/strategy.h"

namespace warpsmith::search {

struct World {
  double correct_share = 0.5;
  double lost_share = 0.05;     // tasks that end without a result
  double late_share = 0.1;      // tasks that take longer than a round's deadline
  double rejected_share = 0.1;  // replies without code
  double dry_share = 0.05;      // proposals after which a parent is exhausted
  double inject_share = 0.02;   // a step at which an operator injects something
  double usd_a_call = 0.01;
  int64_t tokens_a_call = 1000;
  double gpu_seconds_an_evaluation = 5;
  double limited_share = 0.2;       // decisions for which there is room for a few tasks only
  double roofline_log_ratio = 1e9;  // no kernel is faster; none comes near it by default
};

class Simulation {
 public:
  Simulation(const Strategy& strategy, const SearchValues& values, const World& world, uint64_t seed);

  // Until the search has finished; false where it has not after a bound of decisions. Problems are in `problems`.
  bool Run();

  const Snapshot& snapshot() const { return snapshot_; }
  const std::string& finish_reason() const { return finish_reason_; }
  const std::vector<std::string>& problems() const { return problems_; }
  int decisions() const { return decisions_; }
  double max_usd_seen_when_calling() const { return usd_when_calling_; }

 private:
  struct Pending {
    size_t task;
    int64_t due_us;
    std::vector<int> indexes;
    int island;
  };
  double Draw() { return std::uniform_real_distribution<double>(0, 1)(random_); }
  std::string NewId(const char* kind);
  void Check(bool good, const std::string& what);
  void Apply(const Action& action);
  void AddTask(TaskView task, std::vector<int> indexes = {}, int island = 0);
  void CheckParent(const Propose& propose);
  bool IsBestOfAnotherIsland(const CandidateView& parent, int island) const;
  void Complete(const Pending& pending);
  void CompleteIdea(const TaskView& task, const std::vector<int>& indexes);
  void CompleteEvaluation(const TaskView& task);
  void Inject();
  bool Step();

  const Strategy& strategy_;
  World world_;
  uint64_t seed_;
  std::mt19937_64 random_;
  Snapshot snapshot_;
  std::vector<Pending> pending_;
  int64_t now_us_ = 1000000;
  int next_id_ = 0;
  int decisions_ = 0;
  double usd_when_calling_ = 0;
  std::set<std::string> issued_;
  std::map<int, int> ideas_asked_;
  std::map<int, std::map<std::string, int>> lineages_;  // by round: parents of each lineage
  std::map<int, std::set<std::string>> members_;        // by island
  std::string finish_reason_;
  std::vector<std::string> problems_;
};

}  // namespace warpsmith::search

#endif  // WARPSMITH_TESTS_COORDINATOR_SEARCH_SIMULATION_H_
