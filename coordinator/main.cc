// warpsmith-coordinator: parses its flags, starts a Coordinator, waits for a signal.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "common/file.h"
#include "common/grpc_runtime.h"
#include "common/log.h"
#include "common/metrics/metrics_options.h"
#include "common/security_options.h"
#include "common/service_manager.h"
#include "common/shutdown.h"
#include "common/version.h"
#include "coordinator/coordinator.h"

namespace {

constexpr char kExample[] =
    "Example:\n"
    "  warpsmith-coordinator --listen 127.0.0.1:7700 --database postgresql:///warpsmith?host=/run/postgresql \\\n"
    "    --gateway 127.0.0.1:7701";

// libpq takes it from the environment, so that it is in no conninfo that a log or an error could show. No thread and no
// child process is there yet.
void UseDatabasePassword(const std::string& file) {
  auto text = warpsmith::ReadFile(file, 4096);
  if (!text.ok()) throw CLI::ValidationError("--database-password-file", warpsmith::Message(text.status()));
  while (!text->empty() && (text->back() == '\n' || text->back() == '\r')) text->pop_back();
  if (text->empty()) throw CLI::ValidationError("--database-password-file", file + " is empty");
  setenv("PGPASSWORD", text->c_str(), 1);
}

void AddOptions(CLI::App& app, warpsmith::CoordinatorOptions* options, std::string* port_file, double* grace) {
  app.add_option("--listen", options->listen,
                 "host:port (port 0: any free one) or unix:PATH; TLS and tokens are needed off this machine's loopback")
      ->capture_default_str();
  app.add_option("--port-file", *port_file, "write the bound port to this file once the coordinator serves");
  app.add_option("--database", options->database, "PostgreSQL URL or conninfo; keep passwords in ~/.pgpass, not here")
      ->envname("WARPSMITH_DATABASE");
  app.add_option_function<std::string>("--database-password-file", UseDatabasePassword,
                                       "holds the database's password, where ~/.pgpass is not at hand")
      ->type_name("FILE")
      ->envname("WARPSMITH_DATABASE_PASSWORD_FILE");
  app.add_option("--gateway", options->gateway, "the gateway's address")
      ->capture_default_str()
      ->envname("WARPSMITH_GATEWAY");
  app.add_option("--database-connections", options->database_connections, "connections to keep at most")
      ->capture_default_str()
      ->check(CLI::Range(2, 200));
  app.add_option("--statement-timeout-seconds", options->statement_timeout_seconds,
                 "the database ends a statement of the coordinator's that takes longer")
      ->capture_default_str()
      ->check(CLI::Range(1.0, 86400.0));
  app.add_option("--lease-seconds", options->queue.lease_seconds, "a worker silent for so long is taken for dead")
      ->capture_default_str()
      ->envname("WARPSMITH_LEASE_SECONDS")
      ->check(CLI::Range(0.1, 3600.0));
  app.add_option("--max-worker-deaths", options->queue.max_worker_deaths,
                 "a task that killed so many different workers, or one twice as often, is quarantined")
      ->capture_default_str()
      ->check(CLI::Range(1, 100));
  app.add_option("--election-patience-seconds", options->election_patience_seconds,
                 "how long to wait for another coordinator's lock to go away: long for one that stands by")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 3.2e7));
  app.add_option("--evaluate-deadline-seconds", options->engine.evaluate_deadline_seconds,
                 "a worker's time for one candidate")
      ->capture_default_str()
      ->check(CLI::Range(1.0, 86400.0));
  app.add_option("--intake-deadline-seconds", options->engine.intake_deadline_seconds,
                 "a worker's time for taking a problem in")
      ->capture_default_str()
      ->check(CLI::Range(1.0, 86400.0));
  app.add_option("--model-threads", options->engine.model_threads, "calls to the gateway at once")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  app.add_option("--max-usd-per-day", options->engine.max_usd_per_day,
                 "spend on models over all searches in a UTC day; 0: no limit")
      ->capture_default_str()
      ->envname("WARPSMITH_MAX_USD_PER_DAY")
      ->check(CLI::Range(0.0, 1e9));
  app.add_option("--max-searches-per-owner", options->engine.max_searches_per_owner,
                 "an owner's searches under way at once, over all batches; others wait; 0: no limit")
      ->capture_default_str()
      ->check(CLI::Range(0, 1000000));
  app.add_option("--stop-seconds", *grace, "leave at the latest so long after SIGTERM")
      ->capture_default_str()
      ->check(CLI::Range(1.0, 600.0));
}

void AddOperationsOptions(CLI::App& app, warpsmith::operations::OperationsSettings* settings) {
  const auto days = [&app](const char* name, double* value, const char* what) {
    app.add_option(name, *value, std::string(what) + ", so many days after its search's end; 0: for ever")
        ->capture_default_str()
        ->check(CLI::Range(0.0, 36500.0));
  };
  days("--retain-finished-tasks-days", &settings->retention.finished_task_days, "keep a finished task's row");
  days("--retain-evaluation-bodies-days", &settings->retention.evaluation_body_days,
       "keep samples and profile of a kernel that is neither its search's best nor in the bank");
  days("--retain-raw-replies-days", &settings->retention.raw_reply_days, "keep a model's reply as it came");
  days("--retain-events-days", &settings->retention.event_days, "keep progress lines");
  app.add_option("--retain-blobs-days", settings->retention.blob_days,
                 "keep a blob that nothing refers to so long after it was last put in; 0: for ever")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 36500.0));
  const auto gibibytes = [&app](const char* name, int64_t* bytes, const char* what) {
    app.add_option_function<double>(
           name, [bytes](double gib) { *bytes = static_cast<int64_t>(gib * 1073741824.0); }, what)
        ->check(CLI::Range(0.0, 1e9));
  };
  gibibytes(
      "--min-free-gib", &settings->disk.min_free_bytes,
      "with less free space on the database's disk, new searches and calls to models wait; default 1; 0: no alarm");
  gibibytes("--max-database-gib", &settings->disk.max_database_bytes,
            "with a larger database, new searches and calls to models wait; default 0: no limit");
  app.add_option("--database-disk", settings->disk.path,
                 "a folder on the database's disk; default its own folder, where that is on this machine");
}

}  // namespace

int main(int argc, char** argv) {
  warpsmith::CoordinatorOptions options;
  std::string port_file;
  double grace = 20;
  CLI::App app{"Owns the search tree, the kernel bank and the queue, all in PostgreSQL."};
  app.footer(kExample);
  app.set_version_flag("--version", std::string(warpsmith::kVersion));
  AddOptions(app, &options, &port_file, &grace);
  warpsmith::AddServerSecurityOptions(app, &options.security);
  AddOperationsOptions(app, &options.operations);
  options.metrics.address = "127.0.0.1:9464";
  warpsmith::metrics::AddMetricsOptions(app, &options.metrics);
  CLI11_PARSE(app, argc, argv);

  warpsmith::InitLogging("warpsmith-coordinator");
  warpsmith::InitGrpcRuntime();
  warpsmith::BlockSignals();
  warpsmith::FindServiceManager();
  std::atomic<bool> lost{false};
  // Wakes WaitForSignal below; the exit status then tells a lost leadership from an ordinary stop.
  options.on_lost = [&lost](const std::string&) {
    lost = true;
    kill(getpid(), SIGTERM);
  };
  options.give_up = warpsmith::StopRequested;
  auto coordinator = warpsmith::Coordinator::Start(options);
  if (absl::IsCancelled(coordinator.status())) {
    spdlog::info("{}", warpsmith::Message(coordinator.status()));
    return 0;
  }
  if (!coordinator.ok()) {
    fmt::print(stderr, "warpsmith-coordinator: {}\n", warpsmith::Message(coordinator.status()));
    return 1;
  }
  if (!port_file.empty()) {
    absl::Status written = warpsmith::WriteFileAtomically(port_file, fmt::format("{}\n", (*coordinator)->port()));
    if (!written.ok()) {
      fmt::print(stderr, "warpsmith-coordinator: --port-file: {}\n", warpsmith::Message(written));
      return 1;
    }
  }
  const int signal = warpsmith::WaitForSignal();
  spdlog::info("signal {}: stopping", signal);
  warpsmith::ExitAfter(grace);
  (*coordinator)->Stop();
  spdlog::info("stopped");
  return lost ? 2 : 0;
}
