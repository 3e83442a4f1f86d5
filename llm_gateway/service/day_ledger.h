// What the day has cost so far, kept in a file so that a restart does not begin the day's budget anew. The file is
// written whole and atomically, at most once a second while something changes and at the end. What calls under way have
// set aside counts as spent in it: after a crash nobody knows what they took. A crash forgets what was set aside in its
// last second.
// Threading: a thread of its own; the budget outlives this. Units: US dollars, tokens, days since 1970 UTC. Errors:
// Open refuses a file that it cannot read, naming the remedy; a file that cannot be written is logged.
#ifndef WARPSMITH_LLM_GATEWAY_SERVICE_DAY_LEDGER_H_
#define WARPSMITH_LLM_GATEWAY_SERVICE_DAY_LEDGER_H_

#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "common/clock.h"
#include "common/status.h"
#include "llm_gateway/limits/call_budget.h"

namespace warpsmith::gateway {

class DayLedger {
 public:
  // Charges `day` with what the file says of today.
  static absl::StatusOr<std::unique_ptr<DayLedger>> Open(std::filesystem::path file, CallBudget& day, Clock& clock);
  ~DayLedger();
  DayLedger(const DayLedger&) = delete;
  DayLedger& operator=(const DayLedger&) = delete;

  // Writes what has changed, at once.
  absl::Status Write();

 private:
  DayLedger(std::filesystem::path file, CallBudget& day, Clock& clock);
  absl::Status Read();
  void Work();
  int64_t Today() const;

  const std::filesystem::path file_;
  CallBudget& day_;
  Clock& clock_;
  std::mutex writing_;
  std::string written_;  // guarded by writing_
  bool failed_ = false;  // guarded by writing_; told once
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_SERVICE_DAY_LEDGER_H_
