#include "coordinator/queue/pairing.h"

#include <map>
#include <tuple>

namespace warpsmith::queue {
namespace {

// The line's places of one problem, first to last.
struct ProblemPlaces {
  std::vector<size_t> places;
  size_t next = 0;
};

bool LeavesToOthers(const Claimant& claimant, const WaitingTask& task) {
  return claimant.others && !task.failed_at.empty() && task.failed_at == claimant.owner.worker_id;
}

class Line {
 public:
  explicit Line(const std::vector<WaitingTask>& tasks) : tasks_(tasks), taken_(tasks.size(), false) {
    for (size_t i = 0; i < tasks.size(); ++i) {
      if (!tasks[i].problem_id.empty()) of_problem_[tasks[i].problem_id].places.push_back(i);
    }
  }

  bool Empty() {
    while (first_ < taken_.size() && taken_[first_]) ++first_;
    return first_ == taken_.size();
  }

  // Null: there is nothing for this one.
  const WaitingTask* Take(const Claimant& claimant, int64_t affinity_us) {
    const auto other = [&](size_t at) { return taken_[at] || LeavesToOthers(claimant, tasks_[at]); };
    size_t place = first_;
    while (place < tasks_.size() && other(place)) ++place;
    if (place == tasks_.size()) return nullptr;
    const auto found = of_problem_.find(claimant.placement.problem_id);
    if (found != of_problem_.end()) {
      ProblemPlaces& own = found->second;
      while (own.next < own.places.size() && taken_[own.places[own.next]]) ++own.next;
      size_t next = own.next;
      while (next < own.places.size() && other(own.places[next])) ++next;
      if (next < own.places.size()) {
        const WaitingTask& related = tasks_[own.places[next]];
        const WaitingTask& oldest = tasks_[place];
        if (std::tuple(related.priority, related.run_at_us - affinity_us, related.id) <
            std::tuple(oldest.priority, oldest.run_at_us, oldest.id)) {
          place = own.places[next];
        }
      }
    }
    taken_[place] = true;
    return &tasks_[place];
  }

 private:
  const std::vector<WaitingTask>& tasks_;
  std::vector<bool> taken_;
  std::map<std::string, ProblemPlaces> of_problem_;
  size_t first_ = 0;
};

}  // namespace

std::vector<Pair> PairTasks(const std::vector<WaitingTask>& line, const std::vector<Claimant>& claimants,
                            double affinity_seconds) {
  std::vector<Pair> pairs;
  Line rest(line);
  bool taken = true;
  for (int turn = 0; taken; ++turn) {
    taken = false;
    for (size_t i = 0; i < claimants.size() && !rest.Empty(); ++i) {
      if (claimants[i].free <= turn) continue;
      const WaitingTask* task = rest.Take(claimants[i], static_cast<int64_t>(affinity_seconds * 1e6));
      if (task == nullptr) continue;
      pairs.push_back({task->id, i});
      taken = true;
    }
  }
  return pairs;
}

}  // namespace warpsmith::queue
