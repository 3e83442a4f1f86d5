// What a strategy sees of one search: plain values, read from the database in one transaction.
// Threading: plain data. Units: milliseconds; instants in microseconds since 1970 UTC; log ratios are natural.
#ifndef WARPSMITH_COORDINATOR_SEARCH_SNAPSHOT_H_
#define WARPSMITH_COORDINATOR_SEARCH_SNAPSHOT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "coordinator/search/settings.h"
#include "warpsmith/v1/evaluation.pb.h"

namespace warpsmith::search {

enum class CandidateState { kQueued, kEvaluating, kDone, kRejected };

struct CandidateView {
  std::string id;
  std::string idea_id;     // empty: a kernel that an operator injected
  std::string parent_id;   // candidate that its idea was proposed for; empty: the module itself
  std::string repair_of;   // candidate that it repairs; empty: as first written
  int round = 1;           // its idea's round, also where it came late; repairs have the round of what they repair
  int index = 0;           // which of K; repairs keep the index of what they repair
  int repair_attempt = 0;  // 0: as first written
  CandidateState state = CandidateState::kQueued;  // kQueued: no evaluation was ordered yet
  v1::Outcome outcome = v1::OUTCOME_UNSPECIFIED;   // where kDone
  double median_ms = 0;
  double spread = 0;     // interquartile range over median
  double log_ratio = 0;  // log(anchor or eager / candidate): comparable between devices; larger is faster
  std::string reason;
  std::string twin_of;        // the earlier candidate, of this search or another, that compiled to the same cubin
  double roofline_share = 0;  // what the device's peaks allow over its time; given for the fastest; 0: not known
};

struct IdeaView {
  std::string id;
  std::string parent_id;  // candidate it was proposed for; empty: the module itself; may be a bank seed
  std::string category;
  std::string title;
  std::string origin;
  int round = 1;
  int requested = 0;  // implementations asked for so far: indexes 0 … requested-1
  int delivered = 0;  // of those, how many came back, usable or not
  bool operator_injected = false;
  int island = 0;  // strategy evolve: from 1, as its Propose said; 0: none
};

// kConfirm is Evaluate with stage "confirm".
enum class TaskKind { kPropose, kImplement, kRepair, kEvaluate, kConfirm };
enum class TaskState {
  kOpen,    // available, running or waiting to be tried again
  kDone,    // its result is recorded
  kFailed,  // given up: quarantined, cancelled, or failed for good
};

// Every task of the current round and every open one must be in a snapshot; older finished ones may be left out, except
// repairs, evaluations and confirmations.
struct TaskView {
  TaskKind kind = TaskKind::kEvaluate;
  std::string subject_id;  // propose: the parent; implement: the idea; repair, evaluate, confirm: the candidate
  std::string parent_id;   // propose: the parent, empty for the module itself; otherwise not used
  int round = 1;
  int count = 1;  // propose: ideas asked for; implement: number of indexes
  TaskState state = TaskState::kOpen;
};

struct UsageView {
  double usd = 0;
  int64_t tokens = 0;  // in and out
  double gpu_seconds = 0;
  int model_calls = 0;
  bool calls_refused = false;  // not even the cheapest call fits into the budget any more
};

// A kernel of the bank, best first: a candidate of another search, for the same operator family.
struct BankSeed {
  std::string candidate_id;
};

struct Snapshot {
  std::string search_id;
  SearchValues values;
  int round = 1;  // the open round, from 1; rounds+1 after the last one was closed
  int64_t round_started_us = 0;
  std::vector<CandidateView> candidates;
  std::vector<IdeaView> ideas;
  std::vector<TaskView> tasks;
  UsageView usage;
  std::vector<std::string> exhausted_parents;  // parents without further ideas; "" is the module itself
  std::vector<BankSeed> bank_seeds;            // best first
};

}  // namespace warpsmith::search

#endif  // WARPSMITH_COORDINATOR_SEARCH_SNAPSHOT_H_
