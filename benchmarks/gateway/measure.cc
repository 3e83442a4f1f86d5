#include "benchmarks/gateway/measure.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <sstream>

#include "common/clock.h"

namespace warpsmith::bench {
namespace {

// Answers as they come, and how many are still to come.
class Tally {
 public:
  void Begin() { ++under_way_; }
  // `late`: how long after it was due the request was made.
  void End(const Outcome& outcome, bool counts, double late = 0) {
    std::lock_guard lock(mutex_);
    if (counts) {
      ++result_.requests;
      if (!outcome.ok) ++result_.failed;
      whole_.push_back(outcome.seconds + late);
      first_.push_back(outcome.first_seconds + late);
    }
    if (--under_way_ == 0) changed_.notify_all();
  }
  void AwaitAll() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return under_way_ == 0; });
  }
  Result Sum(double seconds) {
    std::lock_guard lock(mutex_);
    result_.seconds = seconds;
    result_.p50 = Share(whole_, 0.5);
    result_.p99 = Share(whole_, 0.99);
    result_.first_p50 = Share(first_, 0.5);
    result_.first_p99 = Share(first_, 0.99);
    return result_;
  }

 private:
  static double Share(std::vector<double>& values, double share) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    return values[std::min(values.size() - 1, static_cast<size_t>(share * static_cast<double>(values.size())))];
  }

  std::atomic<int> under_way_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  Result result_;
  std::vector<double> whole_, first_;
};

constexpr double kWarmUp = 0.5;

// One request after the other, until told to stop.
struct Lane {
  Target& target;
  Tally& tally;
  std::atomic<bool>& counting;
  std::atomic<bool>& stopping;
  bool stream = false;

  void Next() {
    tally.Begin();
    target.Start(stream, [this](const Outcome& outcome) {
      if (!stopping) Next();
      tally.End(outcome, counting);
    });
  }
};

}  // namespace

Result Closed(Target& target, int concurrency, double seconds) {
  Tally tally;
  std::atomic<bool> counting{false}, stopping{false};
  std::vector<Lane> lanes(static_cast<size_t>(concurrency), Lane{target, tally, counting, stopping});
  for (Lane& lane : lanes) lane.Next();
  RealClock().SleepFor(FromSeconds(kWarmUp));
  counting = true;
  const TimePoint started = RealClock().Now();
  RealClock().SleepFor(FromSeconds(seconds));
  counting = false;
  const double took = ToSeconds(RealClock().Now() - started);
  stopping = true;
  tally.AwaitAll();
  return tally.Sum(took);
}

Result Open(Target& target, double per_second, double seconds) {
  Tally tally;
  const TimePoint started = RealClock().Now();
  const auto count = static_cast<int64_t>(per_second * (kWarmUp + seconds));
  tally.Begin();  // this loop
  for (int64_t i = 0; i < count; ++i) {
    const double due_seconds = static_cast<double>(i) / per_second;
    const TimePoint due = started + FromSeconds(due_seconds);
    if (const TimePoint now = RealClock().Now(); now < due) RealClock().SleepFor(due - now);
    const bool counts = due_seconds >= kWarmUp;
    const double late = std::max(0.0, ToSeconds(RealClock().Now() - due));
    tally.Begin();
    // The generator's own lateness is not the target's, and equal for all; only what is beyond a timer's is counted.
    target.Start(
        false, [&tally, counts, late](const Outcome& outcome) { tally.End(outcome, counts, late > 0.001 ? late : 0); });
  }
  tally.End({}, false);
  tally.AwaitAll();
  return tally.Sum(seconds);
}

Result WithStreams(Target& target, int streams, double per_second, double seconds) {
  Tally background, tally;
  std::atomic<bool> counting{false}, stopping{false};
  std::vector<Lane> lanes(static_cast<size_t>(streams), Lane{target, background, counting, stopping, true});
  for (Lane& lane : lanes) {
    lane.Next();
    RealClock().SleepFor(std::chrono::milliseconds(1));  // spread over their chunks
  }
  const TimePoint started = RealClock().Now();
  tally.Begin();
  for (int64_t i = 0; i < static_cast<int64_t>(per_second * seconds); ++i) {
    const TimePoint due = started + FromSeconds(static_cast<double>(i) / per_second);
    if (const TimePoint now = RealClock().Now(); now < due) RealClock().SleepFor(due - now);
    tally.Begin();
    target.Start(true, [&tally](const Outcome& outcome) { tally.End(outcome, true); });
  }
  stopping = true;
  tally.End({}, false);
  tally.AwaitAll();
  background.AwaitAll();
  return tally.Sum(seconds);
}

double CpuSeconds(int pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const size_t end = text.rfind(')');
  if (end == std::string::npos) return 0;
  std::istringstream fields(text.substr(end + 2));
  std::string skipped;
  for (int i = 3; i < 14; ++i) fields >> skipped;
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double ResidentMegabytes(int pid) {
  std::ifstream file(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("VmRSS:", 0) == 0) return std::strtod(line.c_str() + 6, nullptr) / 1024;
  }
  return 0;
}

}  // namespace warpsmith::bench
