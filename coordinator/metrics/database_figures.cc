#include "coordinator/metrics/database_figures.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "common/metrics/families.h"
#include "coordinator/store/budgets.h"

namespace warpsmith::metrics {
namespace {

constexpr double kAnswersWithin = 3;  // older answers say nothing any more
constexpr int kEvaluationsAtOnce = 5'000;
constexpr double kEvaluationsSeconds = 0.3;  // of a refresh
constexpr const char* kFigureKinds[] = {"intake", "propose", "implement", "repair", "evaluate"};
constexpr const char* kFigureTaskStates[] = {"available", "held", "running", "quarantined"};
constexpr const char* kSearchStates[] = {"waiting", "intake", "running", "paused", "done", "cancelled", "failed"};
constexpr const char* kBatchStates[] = {"assembling", "running", "paused", "done", "cancelled"};

template <typename Names>
std::map<std::string, double> Zeros(const Names& names) {
  std::map<std::string, double> zeros;
  for (const char* name : names) zeros[name] = 0;
  return zeros;
}

absl::Status ReadCounts(store::Transaction& transaction, const char* statement, std::map<std::string, double>& counts) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute(statement, {}));
  for (const store::Row row : rows) counts[row.Text("state")] = row.Double("count");
  return absl::OkStatus();
}

}  // namespace

DatabaseFigures::DatabaseFigures(const std::string& conninfo, store::SqlLibrary library, FigureSources sources,
                                 Clock& clock, FigureSettings settings)
    : database_(conninfo, std::move(library), 1, clock, settings.statement_seconds),
      sources_(std::move(sources)),
      clock_(clock),
      settings_(settings) {}

DatabaseFigures::~DatabaseFigures() { Stop(); }

void DatabaseFigures::Start(int64_t term) {
  {
    const std::lock_guard lock(mutex_);
    term_ = leading_term_ = term;
    answered_at_ = clock_.Now();
    running_ = true;
  }
  thread_ = std::thread([this] { Loop(); });
}

void DatabaseFigures::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  ready_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void DatabaseFigures::Loop() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const bool wanted = wanted_;
    lock.unlock();
    Look();
    if (wanted) Refresh();
    lock.lock();
    if (wanted) {
      wanted_ = false;
      ++attempts_;
      ready_.notify_all();
    }
    wake_.wait_for(lock, FromSeconds(settings_.look_seconds), [this] { return stopping_ || wanted_; });
  }
}

void DatabaseFigures::Look() {
  int64_t term = 0;
  std::string holder;
  const absl::Status status = database_.Read([&](store::Transaction& transaction) -> absl::Status {
    WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("metrics_term", {}));
    if (rows.empty()) return Internal("the database has no row of its leader");
    term = rows[0].Int("term");
    holder = rows[0].Text("holder");
    return absl::OkStatus();
  });
  const std::lock_guard lock(mutex_);
  answer_ = status;
  answered_at_ = clock_.Now();
  if (!status.ok()) return;
  leading_term_ = term;
  leader_ = holder;
}

void DatabaseFigures::Refresh() {
  Figures figures;
  absl::Status status = database_.Read([&](store::Transaction& transaction) { return Read(transaction, figures); });
  if (status.ok()) status = AddEvaluations();
  if (!status.ok()) {
    spdlog::debug("metrics are not read from the database: {}", Message(status));
    return;
  }
  if (all_evaluations_) figures.gpu_seconds = gpu_seconds_;
  const std::lock_guard lock(mutex_);
  figures_ = std::move(figures);
  read_at_ = clock_.Now();
}

absl::Status DatabaseFigures::Read(store::Transaction& transaction, Figures& figures) {
  figures = {};
  for (const char* kind : kFigureKinds) {
    for (const char* state : kFigureTaskStates) figures.tasks[{kind, state}] = 0;
  }
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet tasks, transaction.Execute("metrics_tasks", {}));
  for (const store::Row row : tasks) {
    figures.tasks[{row.Text("kind"), row.Text("state")}] = row.Double("count");
    if (!row.Null("oldest")) figures.oldest[row.Text("kind")] = row.Double("oldest");
  }
  figures.searches = Zeros(kSearchStates);
  figures.batches = Zeros(kBatchStates);
  WARPSMITH_RETURN_IF_ERROR(ReadCounts(transaction, "metrics_searches", figures.searches));
  WARPSMITH_RETURN_IF_ERROR(ReadCounts(transaction, "metrics_batches", figures.batches));
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet spend,
                             transaction.Execute("metrics_spend", {store::UtcDay(clock_.WallMicros())}));
  figures.spend = spend[0].Double("total");
  figures.spent_today = spend[0].Double("spent");
  figures.reserved_today = spend[0].Double("reserved");
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet size, transaction.Execute("metrics_size", {}));
  figures.database_bytes = size[0].Double("bytes");
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet tables, transaction.Execute("metrics_dead_tuples", {}));
  for (const store::Row row : tables) figures.dead_tuples[row.Text("name")] = row.Double("dead");
  if (seeded_) return absl::OkStatus();
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet last, transaction.Execute("metrics_last_improvement", {}));
  sources_.metrics.SeedLastImprovement(last[0].Double("at"));
  seeded_ = true;
  return absl::OkStatus();
}

// A large database's evaluations are added up over several refreshes at the start, afterwards only the new ones.
absl::Status DatabaseFigures::AddEvaluations() {
  const TimePoint until = clock_.Now() + FromSeconds(kEvaluationsSeconds);
  do {
    int64_t count = 0, last = 0;
    double seconds = 0;
    WARPSMITH_RETURN_IF_ERROR(database_.Read([&](store::Transaction& transaction) -> absl::Status {
      WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows,
                                 transaction.Execute("metrics_evaluations", {last_evaluation_, kEvaluationsAtOnce}));
      count = rows[0].Int("count");
      last = rows[0].Int("last_id");
      seconds = rows[0].Double("gpu_seconds");
      return absl::OkStatus();
    }));
    if (count > 0) last_evaluation_ = last;
    gpu_seconds_ += seconds;
    if (count < kEvaluationsAtOnce) all_evaluations_ = true;
    if (count < kEvaluationsAtOnce) break;
  } while (clock_.Now() < until);
  return absl::OkStatus();
}

absl::Status DatabaseFigures::Reachable() const {
  const std::lock_guard lock(mutex_);
  if (!answer_.ok()) return answer_;
  if (!answered_at_) return Unavailable("the database has not been asked yet");
  const double age = ToSeconds(clock_.Now() - *answered_at_);
  if (age <= kAnswersWithin) return absl::OkStatus();
  return Unavailable(fmt::format("the database has not answered for {:.0f} s", age));
}

absl::Status DatabaseFigures::Leads() const {
  const std::lock_guard lock(mutex_);
  if (!sources_.metrics.leads()) return FailedPrecondition("this coordinator does not lead");
  if (leading_term_ == term_) return absl::OkStatus();
  return FailedPrecondition(fmt::format("{} leads in term {}", leader_, leading_term_));
}

std::vector<prometheus::MetricFamily> DatabaseFigures::Collect() const {
  Figures figures;
  bool known = false;
  {
    std::unique_lock lock(mutex_);
    if (running_ && !stopping_ && !Young(clock_.Now(), settings_.refresh_seconds)) {
      const uint64_t before = attempts_;
      wanted_ = true;
      wake_.notify_all();
      ready_.wait_for(lock, FromSeconds(settings_.patience_seconds), [&] { return stopping_ || attempts_ != before; });
    }
    known = Young(clock_.Now(), settings_.stale_seconds);
    if (known) figures = figures_;
  }
  Families families;
  const FleetFigures fleet = sources_.metrics.fleet();
  families.Gauge("warpsmith_workers", "Workers, by whether they are there")
      .Value({{"state", "connected"}}, fleet.connected)
      .Value({{"state", "draining"}}, fleet.draining)
      .Value({{"state", "silent"}}, fleet.silent);
  families.Gauge("warpsmith_gpus", "Devices of workers");
  for (const auto& [labels, count] : fleet.gpus) {
    families.Value({{"node", labels.first}, {"state", labels.second}}, count);
  }
  families.Gauge("warpsmith_last_improvement_timestamp_seconds", "When a search's best last became another one");
  if (sources_.metrics.last_improvement() > 0) families.Value({}, sources_.metrics.last_improvement());
  families.Gauge("warpsmith_disk_free_bytes", "Free on the database's disk")
      .Value({}, sources_.free_bytes ? sources_.free_bytes() : std::nullopt);
  if (!known) return families.Take();

  double quarantined = 0;
  families.Gauge("warpsmith_tasks", "Tasks of the queue that have not ended");
  for (const auto& [labels, count] : figures.tasks) {
    families.Value({{"kind", labels.first}, {"state", labels.second}}, count);
    if (labels.second == "quarantined") quarantined += count;
  }
  families.Gauge("warpsmith_quarantined_tasks", "Tasks given up that wait for an operator").Value({}, quarantined);
  families.Gauge("warpsmith_queue_oldest_age_seconds", "How long the oldest task that could start has been able to");
  for (const auto& [kind, age] : figures.oldest) families.Value({{"kind", kind}}, age);
  families.Gauge("warpsmith_searches", "Searches but the coordinator's own");
  for (const auto& [state, count] : figures.searches) families.Value({{"state", state}}, count);
  families.Gauge("warpsmith_batches", "Batches of searches");
  for (const auto& [state, count] : figures.batches) families.Value({{"state", state}}, count);
  families.Counter("warpsmith_spend_usd_total", "Charged for calls to models, since ever").Value({}, figures.spend);
  families.Gauge("warpsmith_budget_usd", "Of this UTC day")
      .Value({{"state", "spent"}}, figures.spent_today)
      .Value({{"state", "reserved"}}, figures.reserved_today);
  if (sources_.max_usd_per_day > 0) families.Value({{"state", "limit"}}, sources_.max_usd_per_day);
  families.Counter("warpsmith_gpu_seconds_total", "Device time of all evaluations, since ever")
      .Value({}, figures.gpu_seconds);
  families.Gauge("warpsmith_database_size_bytes", "Of the whole database").Value({}, figures.database_bytes);
  families.Gauge("warpsmith_database_dead_tuples", "Dead rows that vacuum has not removed yet");
  for (const auto& [table, rows] : figures.dead_tuples) families.Value({{"table", table}}, rows);
  return families.Take();
}

}  // namespace warpsmith::metrics
