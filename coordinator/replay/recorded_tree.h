// A recorded search as something that children can be drawn from: the ideas of a parent, the implementations of an
// idea, the repairs of a failure, and what each cost.
// Where a strategy asks for a child that the tree does not have, a surrogate stands in: an idea that was recorded for a
// parent of about the same speed, with the gain that it brought there. A surrogate never ends faster than the fastest
// recorded kernel: a replay cannot find what nobody found.
// Threading: a RecordedTree is const after construction; Draws belongs to one run. Units: natural logs of speedups over
// the anchor or PyTorch; seconds, US dollars, tokens.
// Source of the method: kernel_tuner's simulation mode (a strategy replayed on recorded measurements).
#ifndef WARPSMITH_COORDINATOR_REPLAY_RECORDED_TREE_H_
#define WARPSMITH_COORDINATOR_REPLAY_RECORDED_TREE_H_

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "common/status.h"
#include "warpsmith/v1/recording.pb.h"

namespace warpsmith::replay {

inline constexpr int kModule = -1;      // as a parent: the module itself
inline constexpr int kUnrecorded = -2;  // as a parent: a kernel that only the replay has

// One recorded kernel.
struct Attempt {
  bool rejected = false;  // no candidate in the reply, or the same program as another one
  v1::Outcome outcome = v1::OUTCOME_UNSPECIFIED;
  std::string reason;
  double log_ratio = 0;
  double gain = 0;  // over the parent that its idea was proposed for
  double spread = 0;
  double median_ms = 0;
  double gpu_seconds = 0;
  double seconds = 0;
  std::vector<int> repairs;  // attempts that repair it
};

struct TreeIdea {
  std::string category;
  std::string title;
  int parent = kModule;  // attempt, or kModule
  double parent_log_ratio = 0;
  std::vector<int> attempts;  // as first written
};

struct CallCost {
  double tokens = 0;
  double usd = 0;
  double seconds = 1;  // where no call was recorded
};

class RecordedTree {
 public:
  // FailedPrecondition: nothing in it that could be replayed; says what is missing.
  static absl::StatusOr<RecordedTree> Make(const v1::Recording& recording);

  const std::string& name() const { return name_; }
  const v1::SearchSettings& settings() const { return settings_; }
  const std::vector<TreeIdea>& ideas() const { return ideas_; }
  const std::vector<Attempt>& attempts() const { return attempts_; }
  const std::vector<int>& IdeasOf(int parent) const;
  // Ideas by the log ratio of their parents.
  const std::vector<int>& ByParentSpeed() const { return by_parent_speed_; }
  const std::vector<CallCost>& Calls(const std::string& kind) const;
  double best_log_ratio() const { return best_log_ratio_; }
  double worst_log_ratio() const { return worst_log_ratio_; }  // of the correct kernels

 private:
  RecordedTree() = default;

  std::string name_;
  v1::SearchSettings settings_;
  std::vector<TreeIdea> ideas_;
  std::vector<Attempt> attempts_;
  std::map<int, std::vector<int>> ideas_of_;
  std::vector<int> by_parent_speed_;
  std::map<std::string, std::vector<CallCost>> calls_;
  double best_log_ratio_ = 0;
  double worst_log_ratio_ = 0;
};

// An idea, and a kernel, as a replay has them.
struct DrawnIdea {
  int idea = 0;
  bool surrogate = false;
  double base = 0;          // its parent's log ratio in the replay
  std::vector<int> unused;  // recorded implementations not drawn yet
};
struct DrawnAttempt {
  int attempt = 0;
  bool surrogate = false;
  double base = 0;       // its parent's log ratio in the replay
  double log_ratio = 0;  // where it is correct
  // What its children are looked up by.
  int AsParent() const { return surrogate ? kUnrecorded : attempt; }
};

// The draws of one run. The same tree, seed and order of questions give the same answers on every machine.
class Draws {
 public:
  Draws(const RecordedTree& tree, uint64_t seed) : tree_(tree), random_(seed) {}

  // `parent`: kModule, kUnrecorded or a recorded attempt. Recorded ideas come first, each once, in random order.
  DrawnIdea Idea(int parent, double parent_log_ratio);
  DrawnAttempt Implementation(DrawnIdea& idea);
  DrawnAttempt Repair(const DrawnAttempt& failed);
  CallCost Call(const std::string& kind);

  int ideas() const { return ideas_; }
  int surrogate_ideas() const { return surrogate_ideas_; }
  int attempts() const { return attempts_; }
  int surrogate_attempts() const { return surrogate_attempts_; }

 private:
  size_t Below(size_t count) { return static_cast<size_t>(random_() % count); }
  int TakeOne(std::vector<int>& from);
  DrawnAttempt Transplant(int attempt, double base);

  const RecordedTree& tree_;
  std::mt19937_64 random_;
  std::map<int, std::vector<int>> unused_ideas_;    // by parent
  std::map<int, std::vector<int>> unused_repairs_;  // by attempt
  int ideas_ = 0, surrogate_ideas_ = 0, attempts_ = 0, surrogate_attempts_ = 0;
};

}  // namespace warpsmith::replay

#endif  // WARPSMITH_COORDINATOR_REPLAY_RECORDED_TREE_H_
