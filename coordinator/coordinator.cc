#include "coordinator/coordinator.h"

#include <fmt/format.h>
#include <grpcpp/impl/service_type.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>

#include "common/clock.h"
#include "common/grpc_channel.h"
#include "common/hash.h"
#include "common/metrics/health_reporter.h"
#include "common/metrics/metrics_server.h"
#include "common/metrics/service_notice.h"
#include "common/version.h"
#include "coordinator/api/administration_service.h"
#include "coordinator/api/audit_database.h"
#include "coordinator/api/audit_interceptor.h"
#include "coordinator/api/audit_service.h"
#include "coordinator/api/bank_service.h"
#include "coordinator/api/batch_service.h"
#include "coordinator/api/export_service.h"
#include "coordinator/api/operator_service.h"
#include "coordinator/api/rate_sharing_service.h"
#include "coordinator/api/recording_service.h"
#include "coordinator/api/report_service.h"
#include "coordinator/api/worker_service.h"
#include "coordinator/batch/batch_scheduler.h"
#include "coordinator/engine/change_bus.h"
#include "coordinator/engine/grpc_gateway_client.h"
#include "coordinator/engine/model_runner.h"
#include "coordinator/engine/search_engine.h"
#include "coordinator/engine/worker_hub.h"
#include "coordinator/metrics/database_figures.h"
#include "coordinator/queue/postgres_task_queue.h"
#include "coordinator/store/budgets.h"
#include "coordinator/store/leadership.h"
#include "coordinator/store/migrator.h"
#include "coordinator/store/postgres_database.h"

namespace warpsmith {
namespace {

std::string Holder(const std::string& listen) {
  char host[256] = {};
  gethostname(host, sizeof(host) - 1);
  return fmt::format("{} (pid {}) on {}", listen, getpid(), host);
}

class RunningCoordinator final : public Coordinator, private engine::Signals {
 public:
  RunningCoordinator(const CoordinatorOptions& options, store::SqlLibrary library)
      : options_(options),
        boot_id_(RandomHex(8)),
        figures_(std::make_shared<metrics::DatabaseFigures>(
            options.database, library,
            metrics::FigureSources{metrics_, options.engine.max_usd_per_day, [this] { return FreeBytes(); }}, clock_)),
        postgres_(options.database, std::move(library), options.database_connections, clock_,
                  options.statement_timeout_seconds),
        queue_(options.queue),
        gateway_(engine::ConnectToGateway(options.gateway, options.security)),
        engine_(database_, queue_, options.engine, *this, clock_),
        results_(database_, queue_, engine_.executor(), *this, clock_),
        models_(database_, queue_, *gateway_, results_, options.engine, *this, clock_, boot_id_),
        hub_(database_, queue_, results_, *this, clock_, [this] { return models_.RenewLeases(); }),
        janitor_(database_, options.operations, clock_, [this](bool held) {
          queue_.HoldNewWork(held);
          if (!held) TasksAdded();
        }) {}

  ~RunningCoordinator() override { Stop(); }

  absl::Status Begin() {
    WARPSMITH_RETURN_IF_ERROR(ShowMetrics());
    WARPSMITH_ASSIGN_OR_RETURN(ServerOptions server_options, ServerOptionsFrom(options_.security));
    WARPSMITH_RETURN_IF_ERROR(CheckListener(options_.listen, server_options));
    WARPSMITH_RETURN_IF_ERROR(CheckConnection(options_.gateway, options_.security));
    notice_ = std::make_unique<metrics::ServiceNotice>(telemetry_.readiness());
    int tries = 0;
    const auto give_up = [&] {
      if (++tries == 2) notice_->StandBy(true);  // the first one failed: another one leads
      return options_.give_up && options_.give_up();
    };
    WARPSMITH_ASSIGN_OR_RETURN(leadership_,
                               store::Leadership::Acquire(options_.database, Holder(options_.listen),
                                                          FromSeconds(options_.election_patience_seconds), give_up));
    notice_->StandBy(false);
    WARPSMITH_ASSIGN_OR_RETURN(const std::vector<store::Migration> migrations, store::LoadShippedMigrations());
    WARPSMITH_ASSIGN_OR_RETURN(const int schema_version, store::Migrate(options_.database, migrations));
    WARPSMITH_ASSIGN_OR_RETURN(const int64_t term, leadership_->BeginTerm([this](const std::string& why) {
      spdlog::error("this coordinator no longer leads: {}", why);
      metrics_.SetLeader(false);
      if (options_.on_lost) options_.on_lost(why);
    }));
    postgres_.SetTerm(term);
    postgres_.RenewPlans();
    metrics_.SetLeader(true);
    figures_->Start(term);
    // The last coordinator's calls to models ended with it, and are charged at what was reserved for them; workers'
    // tasks wait for their Hello.
    absl::Status freed = database_.Write([&](store::Transaction& transaction) -> absl::Status {
      WARPSMITH_RETURN_IF_ERROR(transaction.Execute("worker_disconnect_all", {}).status());
      WARPSMITH_RETURN_IF_ERROR(store::AbandonAllReservations(transaction));
      return queue_.FreeOtherBoots(transaction, {queue::kCoordinatorWorker, boot_id_}, false).status();
    });
    if (!freed.ok()) return freed;

    worker_service_ = api::MakeWorkerService(hub_, database_, server_options.access);
    operator_service_ = api::MakeOperatorService({audited_, queue_, engine_.executor(), *gateway_, *this, changes_,
                                                  clock_, options_.engine, schema_version, term, clock_.WallMicros()});
    rate_sharing_service_ = api::MakeRateSharingService(rate_sharing_);
    administration_service_ =
        api::MakeAdministrationService({audited_, janitor_, *this, [this](const std::string& worker_id, bool wanted) {
                                          hub_.WantDraining(worker_id, wanted);
                                        }});
    batch_service_ = api::MakeBatchService({audited_, queue_, engine_.executor(), *this, clock_}, changes_);
    recording_service_ = api::MakeRecordingService(database_);
    report_service_ = api::MakeReportService(database_);
    bank_service_ = api::MakeBankService({audited_, queue_, *this, clock_, options_.engine});
    export_service_ = api::MakeExportService(database_, clock_);
    import_service_ = api::MakeImportService({audited_, queue_, *this, clock_, options_.engine});
    audit_service_ = api::MakeAuditService(database_);
    server_options.interceptors.push_back(api::MakeAuditInterceptors(audited_, server_options.access));
    WARPSMITH_ASSIGN_OR_RETURN(
        server_,
        StartServer(options_.listen,
                    {audit_service_.get(), batch_service_.get(), worker_service_.get(), operator_service_.get(),
                     rate_sharing_service_.get(), recording_service_.get(), report_service_.get(),
                     export_service_.get(), import_service_.get(), bank_service_.get(), administration_service_.get()},
                    std::move(server_options)));
    started_ = true;
    hub_.Observe(metrics_);
    results_.Observe(metrics_);
    serving_ = true;
    health_ = std::make_unique<metrics::HealthReporter>(*server_.server, telemetry_.readiness());
    hub_.Start();
    models_.Start();
    engine_.Start();
    batches_.Start();
    janitor_.Start();
    spdlog::info("coordinator {} leads in term {}, schema {}, listening on {}{}", kVersion, term, schema_version,
                 options_.listen, server_.port != 0 ? fmt::format(" (port {})", server_.port) : "");
    return absl::OkStatus();
  }

  int port() const override { return server_.port; }
  int metrics_port() const override { return metrics_server_ ? metrics_server_->port() : 0; }
  const queue::QueueCounters& counters() const override { return queue_.counters(); }

  void Stop() override {
    if (!started_) return;
    started_ = false;
    // Watches and streams end first, so that the server has nothing to wait for; then the work in hand.
    serving_ = false;
    notice_->Stop();
    health_->Stop();
    changes_.Close();
    janitor_.Stop();
    batches_.Stop();
    hub_.Stop();
    models_.Stop();
    engine_.Stop();
    StopServer(*server_.server, options_.stop_seconds);
    health_.reset();
    server_.server.reset();
    figures_->Stop();
    metrics_.SetLeader(false);
    leadership_.reset();
  }

 private:
  absl::Status ShowMetrics() {
    metrics::Readiness& readiness = telemetry_.readiness();
    readiness.Set("database", [this] { return figures_->Reachable(); });
    readiness.Set("leadership", [this] { return figures_->Leads(); });
    readiness.Set("workers", [this] {
      return serving_ ? absl::OkStatus() : Unavailable("workers and operators cannot connect now");
    });
    telemetry_.Add(figures_);
    WARPSMITH_ASSIGN_OR_RETURN(metrics_server_, metrics::StartMetrics(options_.metrics, telemetry_));
    return absl::OkStatus();
  }
  std::optional<double> FreeBytes() const {
    const int64_t bytes = janitor_.disk().health().free_bytes;
    return bytes < 0 ? std::nullopt : std::optional<double>(static_cast<double>(bytes));
  }
  void SearchChanged(const std::string& search_id) override {
    engine_.MarkChanged(search_id);
    batches_.Wake();
    changes_.Notify(search_id);
  }
  void TasksAdded() override {
    hub_.Wake();
    models_.Wake();
    batches_.Wake();
  }
  void TasksCancelled(const std::vector<queue::CancelledTask>& tasks) override {
    hub_.Cancel(tasks);
    models_.Cancel(tasks);
  }

  const CoordinatorOptions options_;
  const std::string boot_id_;
  Clock& clock_ = RealClock();
  metrics::Telemetry telemetry_;
  metrics::CoordinatorMetrics metrics_{telemetry_, clock_};
  const std::shared_ptr<metrics::DatabaseFigures> figures_;
  store::PostgresDatabase postgres_;
  metrics::ObservedDatabase database_{postgres_, metrics_};
  queue::PostgresTaskQueue queue_;
  engine::ChangeBus changes_;
  api::AuditDatabase audited_{database_};  // what operators' services write to
  const std::unique_ptr<engine::GatewayClient> gateway_;
  engine::SearchEngine engine_;
  engine::ResultRecorder results_;
  engine::ModelRunner models_;
  engine::WorkerHub hub_;
  batch::BatchScheduler batches_{{database_, queue_, engine_.executor(), *this, clock_}};
  operations::Janitor janitor_;
  std::unique_ptr<store::Leadership> leadership_;
  std::unique_ptr<grpc::Service> worker_service_;
  std::unique_ptr<grpc::Service> operator_service_;
  engine::RateSharing rate_sharing_{clock_};
  std::unique_ptr<grpc::Service> rate_sharing_service_;
  std::unique_ptr<grpc::Service> audit_service_;
  std::unique_ptr<grpc::Service> batch_service_;
  std::unique_ptr<grpc::Service> recording_service_;
  std::unique_ptr<grpc::Service> report_service_;
  std::unique_ptr<grpc::Service> export_service_;
  std::unique_ptr<grpc::Service> import_service_;
  std::unique_ptr<grpc::Service> bank_service_;
  std::unique_ptr<grpc::Service> administration_service_;
  RunningServer server_;
  std::atomic<bool> serving_{false};
  std::unique_ptr<metrics::HealthReporter> health_;
  std::unique_ptr<metrics::ServiceNotice> notice_;
  std::unique_ptr<metrics::MetricsServer> metrics_server_;
  bool started_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Coordinator>> Coordinator::Start(const CoordinatorOptions& options) {
  if (options.database.empty()) {
    return InvalidArgument(
        "no database is given; use --database postgresql://USER@HOST/DATABASE or set WARPSMITH_DATABASE");
  }
  if (!(options.engine.max_usd_per_day >= 0 && options.engine.max_usd_per_day <= 1e9)) {
    return InvalidArgument("--max-usd-per-day must lie between 0 (no limit) and 1000000000");
  }
  if (!(options.statement_timeout_seconds >= 1 && options.statement_timeout_seconds <= 86400)) {
    return InvalidArgument("--statement-timeout-seconds must lie between 1 and 86400");
  }
  if (options.queue.lease_seconds < 0.1 || options.queue.lease_seconds > 3600) {
    return InvalidArgument("--lease-seconds must lie between 0.1 and 3600");
  }
  WARPSMITH_ASSIGN_OR_RETURN(store::SqlLibrary library, store::SqlLibrary::LoadShipped());
  auto coordinator = std::make_unique<RunningCoordinator>(options, std::move(library));
  WARPSMITH_RETURN_IF_ERROR(coordinator->Begin());
  return std::unique_ptr<Coordinator>(std::move(coordinator));
}

}  // namespace warpsmith
