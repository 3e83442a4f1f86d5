#include "benchmarks/coordinator/task_feeder.h"

#include <algorithm>

#include "benchmarks/coordinator/answers.h"
#include "common/clock.h"
#include "common/hash.h"

namespace warpsmith::bench {
namespace {

constexpr int64_t kCandidatesOfASearch = 135;  // as bench.sql has it
constexpr int64_t kRowsAtOnce = 135 * 100;

}  // namespace

absl::Status TaskFeeder::Prepare() {
  const std::string source = KernelSource("bench");
  source_sha256_ = Sha256Hex(source);
  const std::string signature = SimulatedSignature().SerializeAsString();
  return server_.Execute("bench_setup", {source_sha256_, source, store::Bytes{signature}}).status();
}

absl::Status TaskFeeder::AddSearches(int64_t up_to_candidate, bool finished) {
  const int64_t last = up_to_candidate / kCandidatesOfASearch;
  if (last < next_search_) return absl::OkStatus();
  const std::string signature = SimulatedSignature().SerializeAsString();
  const std::string device = SimulatedDevice().SerializeAsString();
  WARPSMITH_RETURN_IF_ERROR(server_
                                .Execute("bench_searches", {next_search_, last, finished ? "done" : "intake",
                                                            store::Bytes{signature}, store::Bytes{device}})
                                .status());
  WARPSMITH_RETURN_IF_ERROR(server_.Execute("bench_rounds", {next_search_, last}).status());
  WARPSMITH_RETURN_IF_ERROR(server_.Execute("bench_ideas", {next_search_, last}).status());
  next_search_ = last + 1;
  return absl::OkStatus();
}

absl::Status TaskFeeder::FillFinished(int64_t rows, const std::function<void(int64_t)>& said) {
  v1::Assignment assignment;
  assignment.mutable_evaluate()->set_candidate_sha256(source_sha256_);
  v1::TaskResult result;
  for (int64_t seed = 0; result.evaluation().outcome() != v1::OUTCOME_OK; ++seed) {
    assignment.mutable_evaluate()->set_seed(seed);
    result = AnswerTo(assignment);
  }
  const std::string body = result.evaluation().SerializeAsString();
  for (int64_t done = 0; done < rows;) {
    const int64_t first = next_candidate_, last = first + std::min(kRowsAtOnce, rows - done) - 1;
    WARPSMITH_RETURN_IF_ERROR(AddSearches(last, true));
    WARPSMITH_RETURN_IF_ERROR(server_.Execute("bench_candidates", {first, last, "done", source_sha256_}).status());
    WARPSMITH_RETURN_IF_ERROR(server_.Execute("bench_tasks", {first, last, "done"}).status());
    WARPSMITH_RETURN_IF_ERROR(server_.Execute("bench_evaluations", {first, last, store::Bytes{body}}).status());
    next_candidate_ = last + 1;
    done += last - first + 1;
    said(done);
  }
  // The next candidates belong to searches of their own.
  next_candidate_ = next_search_ * kCandidatesOfASearch;
  return absl::OkStatus();
}

absl::StatusOr<store::ResultSet> TaskFeeder::AddWaiting(int64_t rows) {
  const int64_t first = next_candidate_, last = first + rows - 1;
  WARPSMITH_RETURN_IF_ERROR(AddSearches(last, false));
  store::ResultSet tasks;
  absl::Status status = server_.database().Write([&](store::Transaction& transaction) -> absl::Status {
    WARPSMITH_RETURN_IF_ERROR(
        transaction.Execute("bench_candidates", {first, last, "evaluating", source_sha256_}).status());
    WARPSMITH_ASSIGN_OR_RETURN(tasks, transaction.Execute("bench_tasks", {first, last, "available"}));
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  next_candidate_ = last + 1;
  waiting_put_in_ += rows;
  return tasks;
}

absl::StatusOr<std::vector<int64_t>> TaskFeeder::FillWaiting(int64_t rows) {
  std::vector<int64_t> ids;
  while (rows > 0) {
    WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet tasks, AddWaiting(std::min(kRowsAtOnce, rows)));
    for (const store::Row row : tasks) ids.push_back(row.Int("id"));
    rows -= static_cast<int64_t>(tasks.size());
  }
  return ids;
}

void TaskFeeder::Run(const std::function<absl::Status()>& step, Duration pause) {
  stopping_ = false;
  thread_ = std::thread([this, step, pause] {
    while (!stopping_) {
      const absl::Status status = step();
      if (!status.ok()) {
        std::lock_guard lock(mutex_);
        error_ = Message(status);
        return;
      }
      RealClock().SleepFor(pause);
    }
  });
}

void TaskFeeder::KeepFull(int64_t low, int64_t step, std::function<int64_t()> taken) {
  Run(
      [this, low, step, taken = std::move(taken)]() -> absl::Status {
        if (waiting_put_in_ - taken() >= low) return absl::OkStatus();
        return AddWaiting(step).status();
      },
      std::chrono::milliseconds(50));
}

void TaskFeeder::FeedSteadily(double per_second) {
  Run(
      [this, per_second, start = RealClock().Now(), fed = int64_t{0}]() mutable -> absl::Status {
        const auto due = static_cast<int64_t>(per_second * ToSeconds(RealClock().Now() - start)) - fed;
        if (due <= 0) return absl::OkStatus();
        WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet tasks, AddWaiting(due));
        fed += due;
        std::lock_guard lock(mutex_);
        for (const store::Row row : tasks) put_in_[row.Int("id")] = row.Int("created_us");
        return absl::OkStatus();
      },
      std::chrono::milliseconds(5));
}

void TaskFeeder::Stop() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
}

std::string TaskFeeder::error() const {
  std::lock_guard lock(mutex_);
  return error_;
}

std::unordered_map<int64_t, int64_t> TaskFeeder::TakePutIn() {
  std::lock_guard lock(mutex_);
  std::unordered_map<int64_t, int64_t> taken;
  taken.swap(put_in_);
  return taken;
}

}  // namespace warpsmith::bench
