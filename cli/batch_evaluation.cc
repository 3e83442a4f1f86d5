#include "cli/batch_evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <ostream>
#include <thread>

#include "cli/batch_summary.h"
#include "cli/evaluation_session.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/message_json.h"
#include "cli/problem_file.h"
#include "cli/text.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/json.h"

namespace warpsmith::cli {
namespace {

constexpr size_t kMaxKernelBytes = 4u << 20;  // what is too large for a candidate is the evaluator's to say
constexpr auto kLook = std::chrono::milliseconds(100);
constexpr double kProgressSeconds = 10;

int JobsOf(const EvaluateOptions& options, size_t entries) {
  int jobs = options.jobs;
  // One on the device, the others compiling.
  if (jobs <= 0) jobs = std::clamp(static_cast<int>(std::thread::hardware_concurrency()) / 2, 2, 8);
  return static_cast<int>(std::min<size_t>(static_cast<size_t>(jobs), entries));
}

class Batch {
 public:
  Batch(Context& context, const EvaluateOptions& options, EvaluationSession& session, std::vector<BatchEntry> entries)
      : context_(context), options_(options), session_(session), entries_(std::move(entries)) {}

  int Run() {
    const int jobs = JobsOf(options_, entries_.size() * static_cast<size_t>(options_.repeat));
    std::vector<std::jthread> threads;
    {
      std::lock_guard lock(mutex_);
      running_ = jobs;
    }
    threads.reserve(static_cast<size_t>(jobs));
    for (int i = 0; i < jobs; ++i) threads.emplace_back([this] { Work(); });
    Wait();
    threads.clear();
    return Finish();
  }

 private:
  void Work() {
    const size_t all = entries_.size() * static_cast<size_t>(options_.repeat);
    for (size_t i = next_++; i < all && !stop_.stop_requested(); i = next_++) {
      const BatchEntry& entry = entries_[i / static_cast<size_t>(options_.repeat)];
      Evaluate(entry);
    }
    std::lock_guard lock(mutex_);
    --running_;
    changed_.notify_all();
  }

  void Evaluate(const BatchEntry& entry) {
    auto problem_file = ReadProblemFile(entry.problem);
    if (!problem_file.ok()) return Record(entry, Message(problem_file.status()));
    auto problem = session_.TakeIn(problem_file->name, problem_file->source);
    if (!problem.ok()) return Record(entry, Message(problem.status()));
    auto kernel = ReadFile(entry.file, kMaxKernelBytes);
    if (!kernel.ok()) return Record(entry, Message(kernel.status()));
    {
      std::lock_guard lock(mutex_);
      if (!started_) started_ = RealClock().Now();
    }
    Record(entry, session_.Evaluate(*problem, *kernel, entry.accepted, stop_.get_token()));
  }

  void Record(const BatchEntry& entry, const std::string& error) {
    std::lock_guard lock(mutex_);
    rows_.push_back(summary_.AddError(entry, error));
    if (context_.json) {
      const Json line = {{"file", entry.name}, {"error", error}};
      context_.out << line.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
    }
    changed_.notify_all();
  }

  void Record(const BatchEntry& entry, const v1::Evaluation& evaluation) {
    if (stop_.stop_requested() && evaluation.outcome() == v1::OUTCOME_INFRA_ERROR) return;
    std::lock_guard lock(mutex_);
    ended_ = RealClock().Now();
    rows_.push_back(summary_.Add(entry, evaluation));
    if (context_.json) {
      const Json file = entry.name;
      context_.out << "{\"file\": " << file.dump(-1, ' ', false, Json::error_handler_t::replace)
                   << ", \"evaluation\": " << MessageToJson(evaluation, /*one_line=*/true) << "}" << std::endl;
    }
    changed_.notify_all();
  }

  // Shows how far it is until all threads are done.
  void Wait() {
    TimePoint told = RealClock().Now();
    int shown = -1;
    std::unique_lock lock(mutex_);
    while (running_ > 0) {
      changed_.wait_for(lock, kLook);
      if (Interrupted() && !stop_.stop_requested()) stop_.request_stop();
      if (summary_.done() == shown) continue;
      const double since = ToSeconds(RealClock().Now() - told);
      if (context_.err_is_terminal) {
        context_.err << "\r" << Progress() << "\x1b[K" << std::flush;
      } else if (since >= kProgressSeconds) {
        context_.err << Progress() << std::endl;
        told = RealClock().Now();
      } else {
        continue;
      }
      shown = summary_.done();
    }
    if (context_.err_is_terminal) context_.err << "\r\x1b[K" << std::flush;
  }

  std::string Progress() const {
    return fmt::format("{} of {} kernels", summary_.done(), entries_.size() * static_cast<size_t>(options_.repeat));
  }

  int Finish() {
    const double wall = started_ && ended_ > *started_ ? ToSeconds(ended_ - *started_) : 0;
    if (context_.json) {
      context_.err << summary_.ToJson(wall) << std::endl;
    } else {
      context_.out << "on " << Line(session_.device().name()) << '\n'
                   << BatchTable(rows_) << '\n'
                   << summary_.Text(wall) << std::flush;
    }
    if (stop_.stop_requested()) return kExitInterrupted;
    return summary_.infra_errors() > 0 || summary_.unexpected() > 0 ? kExitFailed : kExitOk;
  }

  Context& context_;
  const EvaluateOptions& options_;
  EvaluationSession& session_;
  const std::vector<BatchEntry> entries_;
  std::atomic<size_t> next_{0};
  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int running_ = 0;  // guarded by mutex_, as all below and context_'s streams
  BatchSummary summary_;
  std::vector<BatchRow> rows_;
  std::optional<TimePoint> started_;
  TimePoint ended_{};
};

}  // namespace

int RunBatch(Context& context, EvaluateOptions options) {
  auto entries = ReadBatch(options.batch, options.batch_problem);
  if (!entries.ok()) return Fail(context, entries.status());
  if (absl::Status read = ReadIncumbent(options); !read.ok()) return Fail(context, read);
  if (!context.session) return Fail(context, BuiltWithoutEvaluator());
  auto session = context.session(options);
  if (!session.ok()) return Fail(context, session.status());
  return Batch(context, options, **session, *std::move(entries)).Run();
}

}  // namespace warpsmith::cli
