#include "tests/support/postgres_server.h"

#include <fmt/format.h>
#include <pwd.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "common/clock.h"
#include "common/run_child.h"

namespace warpsmith::testing {
namespace {

constexpr Duration kStartDeadline = std::chrono::seconds(60);

absl::StatusOr<std::string> FindBinaries() {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/lib/postgresql", error)) {
    if (std::filesystem::exists(entry.path() / "bin/initdb")) found.push_back(entry.path() / "bin");
  }
  if (found.empty()) return NotFound("no PostgreSQL server under /usr/lib/postgresql: apt-get install postgresql");
  return std::max_element(found.begin(), found.end())->string();
}

[[noreturn]] void Die(const std::string& what) {
  fmt::print(stderr, "test PostgreSQL: {}\n", what);
  std::abort();
}

}  // namespace

absl::StatusOr<std::unique_ptr<PostgresServer>> PostgresServer::Start() {
  return Start(
      {"fsync=off", "logging_collector=on", "max_connections=200", "shared_buffers=32MB", "deadlock_timeout=200ms"});
}

absl::StatusOr<std::unique_ptr<PostgresServer>> PostgresServer::Start(std::vector<std::string> settings) {
  WARPSMITH_ASSIGN_OR_RETURN(TemporaryDirectory folder, TemporaryDirectory::Create("warpsmith-pg-"));
  std::unique_ptr<PostgresServer> server(new PostgresServer(std::move(folder), std::move(settings)));
  WARPSMITH_ASSIGN_OR_RETURN(server->binaries_, FindBinaries());
  const std::string data = server->folder_.path() / "data";
  if (geteuid() == 0) {
    const passwd* user = getpwnam("postgres");
    if (user == nullptr) user = getpwnam("nobody");
    if (user == nullptr) return FailedPrecondition("there is neither a user postgres nor nobody to run PostgreSQL as");
    server->uid_ = user->pw_uid;
    server->gid_ = user->pw_gid;
    if (chown(server->folder_.path().c_str(), user->pw_uid, user->pw_gid) != 0) {
      return Internal(ErrnoMessage("chown " + server->folder_.path().string(), errno));
    }
  }
  ChildOptions options;
  options.arguments = {server->binaries_ + "/initdb",
                       "-D",
                       data,
                       "-U",
                       "warpsmith",
                       "-A",
                       "trust",
                       "--no-sync",
                       "-E",
                       "UTF8",
                       "--locale=C"};
  options.working_directory = "/";
  options.run_as_uid = server->uid_;
  options.run_as_gid = server->gid_;
  WARPSMITH_ASSIGN_OR_RETURN(const ChildExit made, RunChild(options, "", kStartDeadline));
  if (made.signaled || made.exit_code != 0) {
    return Internal(fmt::format("initdb: {}: {}", made.Describe(), made.standard_error));
  }
  WARPSMITH_RETURN_IF_ERROR(server->Launch());
  return server;
}

absl::Status PostgresServer::Launch() {
  const std::string folder = folder_.path();
  ChildOptions options;
  // The collector takes the log: nobody reads the pipe.
  options.arguments = {binaries_ + "/postgres", "-D", folder + "/data", "-k", folder, "-h", ""};
  for (const std::string& setting : settings_) {
    options.arguments.insert(options.arguments.end(), {"-c", setting});
  }
  options.working_directory = "/";
  options.run_as_uid = uid_;
  options.run_as_gid = gid_;
  options.merge_stderr = true;
  WARPSMITH_ASSIGN_OR_RETURN(server_, ChildProcess::Start(options));
  const TimePoint until = RealClock().Now() + kStartDeadline;
  while (RealClock().Now() < until) {
    ChildOptions ask;
    ask.arguments = {binaries_ + "/pg_isready", "-q", "-h", folder, "-U", "warpsmith", "-d", "postgres"};
    auto answer = RunChild(ask, "", std::chrono::seconds(10));
    if (answer.ok() && !answer->signaled && answer->exit_code == 0) return absl::OkStatus();
    if (!server_->Running()) return Internal("the server ended at its start; see its log under " + folder);
    RealClock().SleepFor(std::chrono::milliseconds(30));
  }
  return DeadlineExceeded("the server did not start in time");
}

PostgresServer::~PostgresServer() { Crash(); }

PostgresServer& PostgresServer::Shared() {
  static std::unique_ptr<PostgresServer> shared = [] {
    auto started = Start();
    if (!started.ok()) Die(Message(started.status()));
    return std::move(started).value();
  }();
  return *shared;
}

std::string PostgresServer::Conninfo(const std::string& database) const {
  return fmt::format("host={} user=warpsmith dbname={} connect_timeout=5", folder_.path().string(), database);
}

std::string PostgresServer::CreateDatabase() {
  const std::string name = fmt::format("test{}", ++databases_);
  Query(Conninfo("postgres"), "CREATE DATABASE " + name);
  return Conninfo(name);
}

void PostgresServer::Crash() {
  if (server_ == nullptr) return;
  // To the postmaster alone: it stops its children, and SIGQUIT makes them leave without a checkpoint.
  if (server_->Running()) kill(server_->pid(), SIGQUIT);
  server_->Wait(std::chrono::seconds(20));
  server_.reset();
}

void PostgresServer::Resume() {
  absl::Status status = Launch();
  if (!status.ok()) Die(Message(status));
}

void PostgresServer::TerminateConnections(const std::string& conninfo) {
  Query(conninfo,
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND "
        "pid <> pg_backend_pid()");
}

std::string PostgresServer::Query(const std::string& conninfo, const std::string& sql) {
  ChildOptions options;
  options.arguments = {binaries_ + "/psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", conninfo, "-c", sql};
  auto result = RunChild(options, "", std::chrono::seconds(60));
  if (!result.ok()) Die(Message(result.status()));
  if (result->signaled || result->exit_code != 0) Die(sql + ": " + result->standard_error);
  std::string text = result->standard_output;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace warpsmith::testing
