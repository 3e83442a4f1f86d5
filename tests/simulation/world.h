// What everything in one simulation shares: chance, time, the trace, the rates of faults, and what truly happened, to
// compare the database with. Threading: one thread. Units: virtual microseconds; nanodollars.
#ifndef WARPSMITH_TESTS_SIMULATION_WORLD_H_
#define WARPSMITH_TESTS_SIMULATION_WORLD_H_

#include <fmt/format.h>

#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/simulation/scheduler.h"
#include "warpsmith/v1/evaluation.pb.h"

namespace warpsmith::simulation {

// Chances, each of one thing that could go wrong.
struct FaultRates {
  double statement = 0;    // a transaction: an error at one of its statements
  double commit = 0;       // a transaction: it commits, and its caller hears of an error
  double crash = 0;        // a transaction: the coordinator dies in it or right after it
  double cut = 0;          // a message: its stream breaks
  double slow = 0;         // a message or a turn: late by seconds
  double duplicate = 0;    // a result: sent again
  double forget = 0;       // an assignment: the worker loses it
  double worker_fail = 0;  // a task at a worker: the machine fails, the worker stalls or dies
  double gateway = 0;      // a call: not reached, refused, cut off, late, gone with the gateway
};

// What a kernel's text stands for.
struct KernelTruth {
  v1::Outcome outcome = v1::OUTCOME_OK;
  double median_ms = 1;
  bool hangs = false;  // its worker answers, and never ends it
  bool kills = false;  // its worker dies of it
};

// What a worker found at one lease of a task.
struct ComputedResult {
  std::string candidate_sha256;
  v1::Outcome outcome = v1::OUTCOME_UNSPECIFIED;
  double median_ms = 0;
};

class World {
 public:
  World(uint64_t seed_drawn, bool whole_trace)
      : seed(seed_drawn), random(seed_drawn * 0x9e3779b97f4a7c15u + 1), scheduler(random), keep_all_(whole_trace) {}

  const uint64_t seed;
  Random random;
  Scheduler scheduler;
  FaultRates rates;
  bool faults_on = true;
  Micros database_away_until = 0;
  bool in_transaction = false;
  int64_t transactions = 0;
  int64_t statements = 0;

  std::map<std::string, KernelTruth> kernels;                      // by the source's SHA-256
  std::map<std::pair<int64_t, int64_t>, ComputedResult> computed;  // by task and epoch
  std::map<int64_t, int64_t> assigned;                             // task to the newest epoch that was handed out
  std::map<int64_t, std::set<int64_t>> accepted;                   // task to epochs acknowledged as recorded
  std::map<std::string, int64_t> spent_nano_usd;                   // by search: what providers bill
  std::map<std::string, int64_t> spent_tokens;

  bool Fault(double rate) { return faults_on && rate > 0 && random.Chance(rate); }

  template <typename... Args>
  void Note(fmt::format_string<Args...> text, Args&&... args) {
    AddLine(fmt::format(text, std::forward<Args>(args)...));
  }
  void Violate(const std::string& what) {
    AddLine("VIOLATION: " + what);
    if (violations_.size() < 20) violations_.push_back(what);
  }
  // Lets virtual time pass while something waits, for a model, say.
  void Wait(Micros span) {
    if (in_transaction) return Violate("something waits inside a transaction");
    scheduler.RunUntil(scheduler.now() + span);
  }

  const std::vector<std::string>& violations() const { return violations_; }
  const std::deque<std::string>& trace() const { return trace_; }
  uint64_t trace_hash() const { return hash_; }

 private:
  void AddLine(const std::string& line) {
    std::string timed = fmt::format("{:10.4f} {}", static_cast<double>(scheduler.now()) / kSecond, line);
    for (const char c : timed) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;  // FNV-1a
    trace_.push_back(std::move(timed));
    if (!keep_all_ && trace_.size() > 400) trace_.pop_front();
  }

  const bool keep_all_;
  uint64_t hash_ = 0xcbf29ce484222325u;
  std::deque<std::string> trace_;
  std::vector<std::string> violations_;
};

}  // namespace warpsmith::simulation

#endif  // WARPSMITH_TESTS_SIMULATION_WORLD_H_
