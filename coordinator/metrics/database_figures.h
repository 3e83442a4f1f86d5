// What PostgreSQL alone knows of the cluster, for scrapes: read by a thread and over a connection of their own, not
// more often than every few seconds, so that no scrape waits for the database or loads it. Figures that could not be
// read anew for a while are left out. Also says whether the database answers and who leads.
// Threading: Start and Stop from one thread; the rest from any. Units: seconds. Errors: none; see Reachable.
#ifndef WARPSMITH_COORDINATOR_METRICS_DATABASE_FIGURES_H_
#define WARPSMITH_COORDINATOR_METRICS_DATABASE_FIGURES_H_

#include <prometheus/collectable.h>

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/clock.h"
#include "coordinator/metrics/coordinator_metrics.h"
#include "coordinator/store/postgres_database.h"

namespace warpsmith::metrics {

struct FigureSettings {
  double refresh_seconds = 2;     // younger figures are not read again
  double stale_seconds = 30;      // older ones are not shown
  double patience_seconds = 0.5;  // for which a scrape waits for new ones
  double look_seconds = 1;        // between two looks at whether the database answers
  double statement_seconds = 2;   // the longest that a statement may take
};

struct FigureSources {
  CoordinatorMetrics& metrics;
  double max_usd_per_day = 0;                         // 0: no limit
  std::function<std::optional<double>()> free_bytes;  // of the database's disk
};

class DatabaseFigures final : public prometheus::Collectable {
 public:
  DatabaseFigures(const std::string& conninfo, store::SqlLibrary library, FigureSources sources, Clock& clock,
                  FigureSettings settings = {});
  ~DatabaseFigures() override;

  // From then on the database is looked at; this coordinator leads in `term`.
  void Start(int64_t term);
  void Stop();

  // Asks for new figures where those at hand are old, and waits for them a little.
  std::vector<prometheus::MetricFamily> Collect() const override;
  // Why the database cannot be used now.
  absl::Status Reachable() const;
  // Why this coordinator does not lead, as far as the database says.
  absl::Status Leads() const;

 private:
  struct Figures {
    std::map<std::pair<std::string, std::string>, double> tasks;  // by kind and state
    std::map<std::string, double> oldest;                         // by kind
    std::map<std::string, double> searches, batches;              // by state
    std::map<std::string, double> dead_tuples;                    // by table
    double spend = 0, spent_today = 0, reserved_today = 0;
    std::optional<double> gpu_seconds;  // unset until all evaluations were seen
    double database_bytes = 0;
  };

  void Loop();
  void Look();
  void Refresh();
  absl::Status Read(store::Transaction& transaction, Figures& figures);
  absl::Status AddEvaluations();
  bool Young(TimePoint now, double seconds) const { return read_at_ && now - *read_at_ < FromSeconds(seconds); }

  store::PostgresDatabase database_;
  const FigureSources sources_;
  Clock& clock_;
  const FigureSettings settings_;

  // The thread's.
  int64_t last_evaluation_ = 0;
  double gpu_seconds_ = 0;
  bool all_evaluations_ = false;
  bool seeded_ = false;

  mutable std::mutex mutex_;
  mutable std::condition_variable wake_;   // of the thread
  mutable std::condition_variable ready_;  // of scrapes
  mutable bool wanted_ = false;            // guarded by mutex_, as all below
  bool running_ = false;
  bool stopping_ = false;
  int64_t term_ = 0;
  uint64_t attempts_ = 0;  // refreshes that have ended
  Figures figures_;
  std::optional<TimePoint> read_at_;  // figures_
  std::optional<TimePoint> answered_at_;
  absl::Status answer_;
  int64_t leading_term_ = 0;
  std::string leader_;
  std::thread thread_;
};

}  // namespace warpsmith::metrics

#endif  // WARPSMITH_COORDINATOR_METRICS_DATABASE_FIGURES_H_
