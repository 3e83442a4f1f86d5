// Look-ups over one snapshot, in an order that does not depend on the order of its vectors.
// Threading: const after construction. The snapshot must outlive the index.
#ifndef WARPSMITH_COORDINATOR_SEARCH_SNAPSHOT_INDEX_H_
#define WARPSMITH_COORDINATOR_SEARCH_SNAPSHOT_INDEX_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/search/snapshot.h"

namespace warpsmith::search {

// A failure that the model that wrote the code can be asked to repair: not the machine's fault, not a missing GPU, not
// a measurement that is not believed.
bool IsRepairable(v1::Outcome outcome);

bool IsCorrect(const CandidateView& candidate);
// Right on what it was tried on, but so far behind the incumbent that it was not fully validated: never a parent.
bool IsScreened(const CandidateView& candidate);

struct RoundProgress {
  int total = 0;    // implementations that the round will have, repairs counted with what they repair
  int settled = 0;  // of those, how many can change no more
};

class SnapshotIndex {
 public:
  explicit SnapshotIndex(const Snapshot& snapshot);

  const Snapshot& snapshot() const { return snapshot_; }
  const SearchValues& values() const { return snapshot_.values; }
  // By round, idea, index, attempt, id.
  const std::vector<const CandidateView*>& candidates() const { return candidates_; }
  // By round, id.
  const std::vector<const IdeaView*>& ideas() const { return ideas_; }
  const std::vector<const TaskView*>& tasks() const { return tasks_; }

  const CandidateView* FindCandidate(const std::string& id) const;
  const IdeaView* FindIdea(const std::string& id) const;
  // The fastest correct candidate; nullptr: there is none.
  const CandidateView* Fastest() const;
  // The first idea of the chain that led to the candidate; its own id for an injected kernel. A twin (the same cubin as
  // an earlier candidate) belongs to that one's lineage: it brings nothing new to a round's choice of parents.
  std::string Lineage(const CandidateView& candidate) const;
  int Children(const std::string& candidate_id) const;  // ideas proposed for it
  bool Exhausted(const std::string& parent_id) const { return exhausted_.count(parent_id) != 0; }
  bool HasTask(TaskKind kind, const std::string& subject_id) const;
  bool HasOpenTask(TaskKind kind, const std::string& subject_id) const;
  bool AnyOpenTask() const { return !open_rounds_.empty(); }
  bool AnyOpenTask(int round) const { return open_rounds_.count(round) != 0; }
  bool RoundStarted(int round) const;
  // A failed candidate that is to be repaired and for which no repair was ordered.
  bool WantsRepair(const CandidateView& candidate) const;
  // How many implementations of an idea were asked for.
  int Requested(const IdeaView& idea) const;
  RoundProgress Progress(int round, int implementations) const;
  // Correct candidates; ties with the leader are ordered by fewer children, then by time.
  std::vector<const CandidateView*> ParentOrder() const;
  // Closed rounds, up to the last one, in which the best time did not clearly improve.
  int RoundsWithoutGain() const;

 private:
  bool Settled(const IdeaView& idea, int index) const;

  const Snapshot& snapshot_;
  std::vector<const CandidateView*> candidates_;
  std::vector<const IdeaView*> ideas_;
  std::vector<const TaskView*> tasks_;
  std::map<std::string, const CandidateView*> candidate_by_id_;
  std::map<std::string, const IdeaView*> idea_by_id_;
  std::map<std::pair<std::string, int>, const CandidateView*> last_attempt_;  // by idea and index
  std::map<std::string, int> children_;
  std::set<std::string> exhausted_;
  std::set<std::string> repaired_;  // candidates that have a repair among the candidates
  std::set<std::pair<TaskKind, std::string>> task_subjects_;
  std::set<std::pair<TaskKind, std::string>> open_subjects_;
  std::set<int> open_rounds_;
};

}  // namespace warpsmith::search

#endif  // WARPSMITH_COORDINATOR_SEARCH_SNAPSHOT_INDEX_H_
