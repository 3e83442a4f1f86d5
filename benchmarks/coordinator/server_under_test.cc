#include "benchmarks/coordinator/server_under_test.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "common/clock.h"

namespace warpsmith::bench {
namespace {

constexpr Duration kStartPatience = std::chrono::seconds(60);

// The fields of /proc/PID/stat after the name.
std::vector<std::string> StatOf(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<std::string> fields;
  if (text.rfind(')') == std::string::npos) return fields;
  std::istringstream rest(text.substr(text.rfind(')') + 1));
  for (std::string field; rest >> field;) fields.push_back(field);
  return fields;
}

double TicksToSeconds(const std::string& ticks) {
  return std::atof(ticks.c_str()) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

// Of a process itself; with what it waited for, where `children`.
double CpuOf(const std::vector<std::string>& stat, bool children) {
  if (stat.size() < 15) return 0;
  const double own = TicksToSeconds(stat[11]) + TicksToSeconds(stat[12]);
  return children ? own + TicksToSeconds(stat[13]) + TicksToSeconds(stat[14]) : own;
}

// A server and its backends, those that have ended too.
double CpuOfTree(pid_t pid) {
  const std::string parent = std::to_string(pid);
  double seconds = CpuOf(StatOf(parent), true);
  for (const std::filesystem::path& entry : EntriesOf("/proc")) {
    const std::string name = entry.filename().string();
    if (name.empty() || name[0] < '0' || name[0] > '9') continue;
    const std::vector<std::string> stat = StatOf(name);
    if (stat.size() > 1 && stat[1] == parent) seconds += CpuOf(stat, false);
  }
  return seconds;
}

// Of a file of /proc with a field a line.
double FieldOf(const std::string& path, const std::string& field) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(field + ":", 0) == 0) return std::atof(line.c_str() + field.size() + 1);
  }
  return 0;
}

double StatusMegabytes(pid_t pid, const std::string& field) {
  return FieldOf(fmt::format("/proc/{}/status", pid), field) / 1024;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ServerUnderTest>> ServerUnderTest::Start(const std::string& gateway, bool statements,
                                                                        bool postgres_defaults) {
  WARPSMITH_ASSIGN_OR_RETURN(TemporaryDirectory folder, TemporaryDirectory::Create("bench-coordinator-"));
  std::unique_ptr<ServerUnderTest> server(new ServerUnderTest(std::move(folder)));
  server->gateway_ = gateway;
  std::vector<std::string> settings = {"logging_collector=on"};
  // As deploy/compose and deploy/kubernetes start it. fsync, synchronous_commit and full_page_writes stay on.
  if (!postgres_defaults)
    settings.insert(settings.end(), {"shared_buffers=2GB", "max_wal_size=4GB", "checkpoint_timeout=15min"});
  if (statements) settings.emplace_back("shared_preload_libraries=pg_stat_statements");
  WARPSMITH_ASSIGN_OR_RETURN(server->postgres_, testing::PostgresServer::Start(settings));
  server->conninfo_ = server->postgres_->CreateDatabase();
  if (statements) server->postgres_->Query(server->conninfo_, "CREATE EXTENSION pg_stat_statements");
  WARPSMITH_ASSIGN_OR_RETURN(const std::filesystem::path sql, FindShare("benchmarks/coordinator"));
  WARPSMITH_ASSIGN_OR_RETURN(store::SqlLibrary library, store::SqlLibrary::Load(sql));
  server->database_ = std::make_unique<store::PostgresDatabase>(server->conninfo_, std::move(library), 4, RealClock());
  server->database_->RenewPlans();
  return server;
}

int64_t ServerUnderTest::ReservedHugePages() {
  return static_cast<int64_t>(FieldOf("/proc/meminfo", "HugePages_Total"));
}

ServerUnderTest::~ServerUnderTest() { StopCoordinator(); }

std::string ServerUnderTest::address() const { return fmt::format("127.0.0.1:{}", port_); }

absl::Status ServerUnderTest::StartCoordinator() {
  const std::string port_file = (folder_.path() / "port").string();
  std::filesystem::remove(port_file);
  WARPSMITH_ASSIGN_OR_RETURN(const std::filesystem::path program, FindProgram("warpsmith-coordinator"));
  ChildOptions options;
  options.arguments = {program.string(), "--listen", "127.0.0.1:0", "--port-file", port_file,
                       "--gateway",      gateway_,   "--database",  conninfo_};
  options.stderr_to_parent = true;
  WARPSMITH_ASSIGN_OR_RETURN(coordinator_, ChildProcess::Start(options));
  const TimePoint until = RealClock().Now() + kStartPatience;
  while (RealClock().Now() < until && coordinator_->Running()) {
    auto text = ReadFile(port_file);
    if (text.ok() && !text->empty()) {
      port_ = std::atoi(text->c_str());
      return absl::OkStatus();
    }
    RealClock().SleepFor(std::chrono::milliseconds(20));
  }
  return Unavailable("warpsmith-coordinator did not start; what it said stands above");
}

void ServerUnderTest::StopCoordinator() {
  if (coordinator_ != nullptr) coordinator_->Stop(std::chrono::seconds(25));
  coordinator_.reset();
}

void ServerUnderTest::SetSynchronousCommit(bool on) {
  const std::string database = conninfo_.substr(conninfo_.find("dbname=") + 7);
  postgres_->Query(conninfo_, fmt::format("ALTER DATABASE {} SET synchronous_commit = {}",
                                          database.substr(0, database.find(' ')), on ? "on" : "off"));
}

void ServerUnderTest::Settle() {
  for (const char* table : {"search", "candidate", "evaluation", "task", "idea"}) {
    postgres_->Query(conninfo_, fmt::format("VACUUM ANALYZE {}", table));
  }
  postgres_->Query(conninfo_, "CHECKPOINT");
}

std::string ServerUnderTest::TakeStatements() {
  const std::string shown = postgres_->Query(
      conninfo_,
      "SELECT format('%s ms in %s calls, %s rows: %s', lpad(round(total_exec_time)::text, 8), lpad(calls::text, 7), "
      "lpad(rows::text, 8), left(regexp_replace(query, '\\s+', ' ', 'g'), 110)) FROM pg_stat_statements ORDER BY "
      "total_exec_time DESC LIMIT 24");
  postgres_->Query(conninfo_, "SELECT pg_stat_statements_reset()");
  return shown;
}

std::string ServerUnderTest::Setting(const std::string& name) { return postgres_->Query(conninfo_, "SHOW " + name); }

absl::StatusOr<store::ResultSet> ServerUnderTest::Execute(const std::string& statement,
                                                          const store::Parameters& parameters) {
  store::ResultSet rows;
  absl::Status status = database_->Write([&](store::Transaction& transaction) -> absl::Status {
    WARPSMITH_ASSIGN_OR_RETURN(rows, transaction.Execute(statement, parameters));
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return rows;
}

absl::StatusOr<Figures> ServerUnderTest::Read() {
  Figures figures;
  figures.coordinator_cpu_seconds = CpuOf(StatOf(std::to_string(coordinator_->pid())), false);
  figures.database_cpu_seconds = CpuOfTree(postgres_->pid());
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  figures.load_cpu_seconds = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                             1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  figures.coordinator_megabytes = StatusMegabytes(coordinator_->pid(), "VmRSS");
  figures.coordinator_peak_megabytes = StatusMegabytes(coordinator_->pid(), "VmHWM");
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet wal, Execute("bench_wal", {}));
  figures.wal_bytes = wal[0].Int("bytes");
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet statements, Execute("bench_statements", {}));
  figures.commits = statements[0].Int("commits");
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet tables, Execute("bench_tables", {}));
  for (const store::Row row : tables) {
    figures.tables.push_back({row.Text("name"), row.Int("live"), row.Int("dead"), row.Int("inserted"),
                              row.Int("updated"), row.Int("hot"), row.Int("deleted"), row.Int("table_bytes"),
                              row.Int("index_bytes")});
  }
  return figures;
}

}  // namespace warpsmith::bench
