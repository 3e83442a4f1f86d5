// Which slots' graphs are kept, so that all of them together stay within a number of nodes: those used last.
// Threading: one thread.
#ifndef WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_GRAPH_BUDGET_H_
#define WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_GRAPH_BUDGET_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <vector>

namespace warpsmith::executor {

class GraphBudget {
 public:
  explicit GraphBudget(int64_t max_nodes) : max_nodes_(max_nodes) {}

  // Notes that `slot` is about to be launched as a graph of `nodes`; returns the slots whose graphs must go first.
  // One graph is always allowed, however large.
  std::vector<int> Use(int slot, int64_t nodes) {
    kept_.remove_if([slot](const Kept& one) { return one.slot == slot; });
    kept_.push_back({slot, nodes});
    std::vector<int> dropped;
    while (kept_.size() > 1 && Total() > max_nodes_) {
      dropped.push_back(kept_.front().slot);
      kept_.pop_front();
    }
    return dropped;
  }

  int64_t Total() const {
    int64_t total = 0;
    for (const Kept& one : kept_) total += one.nodes;
    return total;
  }

 private:
  struct Kept {
    int slot;
    int64_t nodes;
  };
  const int64_t max_nodes_;
  std::list<Kept> kept_;  // the one used last at the end
};

}  // namespace warpsmith::executor

#endif  // WARPSMITH_GPU_WORKER_EXECUTOR_CUDA_GRAPH_BUDGET_H_
