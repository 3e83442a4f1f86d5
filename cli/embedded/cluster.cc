#include "cli/embedded/cluster.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "cli/embedded/process_record.h"
#include "cli/operator_client.h"
#include "cli/text.h"
#include "common/file.h"

extern char** environ;

namespace warpsmith::cli {
namespace {

namespace fs = std::filesystem;

constexpr Duration kSocketLimit = std::chrono::seconds(60);
constexpr Duration kClusterLimit = std::chrono::seconds(180);  // a first worker compiles its headers and loads PyTorch
constexpr int kMaxRestarts = 5;

bool Connects(const std::string& address) {
  const std::string path = address.substr(std::strlen("unix:"));
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (path.size() >= sizeof name.sun_path) return false;
  std::memcpy(name.sun_path, path.c_str(), path.size() + 1);
  const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool connected = connect(descriptor, reinterpret_cast<sockaddr*>(&name), sizeof name) == 0;
  close(descriptor);
  return connected;
}

bool LooksSecret(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
  for (const char* word : {"KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"}) {
    if (name.find(word) != std::string::npos) return true;
  }
  return false;
}

std::map<std::string, std::string> Environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const size_t end = text.find('=');
    if (end != std::string::npos) variables[text.substr(0, end)] = text.substr(end + 1);
  }
  return variables;
}

// Workers first: they lose their coordinator last.
int StopRank(const std::string& name) {
  if (name.rfind("worker", 0) == 0) return 0;
  if (name == "coordinator") return 1;
  return name == "postgres" ? 3 : 2;
}

}  // namespace

int CountGpus() {
  int count = 0;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/dev", error)) {
    const std::string name = entry.path().filename().string();
    if (name.size() <= 6 || name.rfind("nvidia", 0) != 0) continue;
    count += std::all_of(name.begin() + 6, name.end(), [](unsigned char c) { return std::isdigit(c) != 0; }) ? 1 : 0;
  }
  return count;
}

std::map<std::string, std::string> EnvironmentWithoutSecrets() {
  std::map<std::string, std::string> kept = Environment();
  std::erase_if(kept, [](const auto& variable) { return LooksSecret(variable.first); });
  return kept;
}

Cluster::Cluster(const DataDirectory& directory, ClusterOptions options)
    : directory_(directory), options_(std::move(options)), address_(directory.coordinator_address()) {}

absl::StatusOr<std::unique_ptr<Cluster>> Cluster::Start(const DataDirectory& directory, const ClusterOptions& options) {
  std::unique_ptr<Cluster> cluster(new Cluster(directory, options));
  WARPSMITH_RETURN_IF_ERROR(cluster->StartAll());
  return cluster;
}

Cluster::~Cluster() { Stop(); }

absl::Status Cluster::StartAll() {
  // Left behind by a run that was killed: half a cluster is of no use.
  WARPSMITH_ASSIGN_OR_RETURN(const std::vector<std::string> stopped, StopRecorded(directory_));
  if (!stopped.empty()) options_.say("stopped what an earlier run had left behind");

  const auto describe = [&](const std::string& name, const std::string& program,
                            std::vector<std::string> arguments) -> absl::Status {
    const auto file = FindProgram(program);
    if (!file.ok()) return FailedPrecondition(Message(file.status()));
    DaemonOptions options;
    options.name = name;
    options.log = directory_.log(name);
    options.records = directory_.run_folder();
    options.child.arguments = std::move(arguments);
    options.child.arguments.insert(options.child.arguments.begin(), file->string());
    options.child.arguments.insert(options.child.arguments.end(), {"--metrics-address", ""});
    options.child.environment = name == "gateway" ? Environment() : EnvironmentWithoutSecrets();
    // Their sockets are files of this folder, which need neither certificates nor tokens; those of another cluster
    // would be asked for here.
    for (const char* variable : {"WARPSMITH_TLS_CERTIFICATE", "WARPSMITH_TLS_KEY", "WARPSMITH_TLS_CA",
                                 "WARPSMITH_TLS_CLIENT_CA", "WARPSMITH_TOKENS", "WARPSMITH_TOKEN_FILE"}) {
      options.child.environment->erase(variable);
    }
    options.child.working_directory = directory_.path().string();
    options.stays = options_.stays;
    programs_[name] = std::move(options);
    order_.push_back(name);
    return absl::OkStatus();
  };
  std::vector<std::string> gateway = {"--listen",      directory_.gateway_address(),
                                      "--data-dir",    (directory_.path() / "gateway").string(),
                                      "--coordinator", address_};
  std::string config = options_.gateway_config;
  if (config.empty() && fs::exists(directory_.path() / "gateway.yaml")) {
    config = (directory_.path() / "gateway.yaml").string();
  }
  if (!config.empty()) {
    if (!fs::exists(config)) return InvalidArgument(fmt::format("--gateway-config: there is no file {}", config));
    gateway.insert(gateway.end(), {"--config", fs::absolute(config).string()});
  }
  // All programs are looked for before any is started.
  WARPSMITH_RETURN_IF_ERROR(describe("gateway", "warpsmith-gateway", gateway));
  WARPSMITH_RETURN_IF_ERROR(describe("coordinator", "warpsmith-coordinator", {}));
  const int gpus = options_.device == "emulated" ? 0 : CountGpus();
  const int workers = options_.workers > 0 ? options_.workers : std::max(1, gpus);
  for (int i = 0; i < workers; ++i) {
    const std::string name = fmt::format("worker-{}", i);
    std::vector<std::string> arguments = {
        "--coordinator", address_, "--worker-id", name, "--data-dir", (directory_.path() / name).string()};
    if (!options_.device.empty()) arguments.insert(arguments.end(), {"--device", options_.device});
    WARPSMITH_RETURN_IF_ERROR(describe(name, "warpsmith-worker", arguments));
    if (gpus > 1) (*programs_[name].child.environment)["CUDA_VISIBLE_DEVICES"] = std::to_string(i % gpus);
  }

  options_.say("starting PostgreSQL");
  WARPSMITH_ASSIGN_OR_RETURN(postgres_, Postgres::Start(directory_, options_.stays, options_.interrupted));
  std::vector<std::string>& coordinator = programs_["coordinator"].child.arguments;
  coordinator.insert(coordinator.end(), {"--listen", address_, "--database", postgres_->connection(), "--gateway",
                                         directory_.gateway_address()});
  options_.say(fmt::format("starting gateway, coordinator and {}",
                           workers == 1 ? "a worker" : fmt::format("{} workers", workers)));
  for (const std::string& address : {directory_.gateway_address(), address_}) {
    std::error_code ignored;
    fs::remove(address.substr(std::strlen("unix:")), ignored);  // of a killed run
  }
  for (const std::string& name : order_) WARPSMITH_RETURN_IF_ERROR(StartProgram(name));
  WARPSMITH_RETURN_IF_ERROR(AwaitSocket(directory_.gateway_address(), "gateway"));
  WARPSMITH_RETURN_IF_ERROR(AwaitSocket(address_, "coordinator"));
  return AwaitCluster();
}

absl::Status Cluster::StartProgram(const std::string& name) {
  daemons_.erase(name);  // with its record, before the next one writes its own
  WARPSMITH_ASSIGN_OR_RETURN(daemons_[name], Daemon::Start(programs_[name]));
  return absl::OkStatus();
}

absl::Status Cluster::AwaitSocket(const std::string& address, const std::string& name) {
  const TimePoint deadline = RealClock().Now() + kSocketLimit;
  while (!Connects(address)) {
    if (!daemons_[name]->Running()) return daemons_[name]->Ended();
    if (options_.interrupted()) return Cancelled("interrupted while the cluster was starting");
    if (RealClock().Now() >= deadline) {
      return Unavailable(fmt::format("{} does not listen at {} after {}; its log {} ends with\n{}", name, address,
                                     FormatSeconds(ToSeconds(kSocketLimit)), directory_.log(name).string(),
                                     LogEnd(directory_.log(name))));
    }
    RealClock().SleepFor(std::chrono::milliseconds(20));
  }
  return absl::OkStatus();
}

absl::Status Cluster::AwaitCluster() {
  OperatorClient client(address_, std::chrono::seconds(5));
  const TimePoint deadline = RealClock().Now() + kClusterLimit;
  std::string missing;
  while (RealClock().Now() < deadline) {
    for (auto& [name, daemon] : daemons_) {
      if (!daemon->Running()) return daemon->Ended();
    }
    if (options_.interrupted()) return Cancelled("interrupted while the cluster was starting");
    auto status = client.GetStatus();
    if (!status.ok()) {
      missing = Message(status.status());
    } else if (!status->gateway_reachable()) {
      missing = "the coordinator does not reach the gateway: " + status->gateway_error();
    } else if (std::none_of(status->workers().begin(), status->workers().end(),
                            [](const v1::WorkerStatus& worker) { return worker.connected(); })) {
      missing = fmt::format("no worker has connected; the log {} ends with\n{}", directory_.log("worker-0").string(),
                            LogEnd(directory_.log("worker-0")));
    } else {
      return absl::OkStatus();
    }
    RealClock().SleepFor(std::chrono::milliseconds(50));
  }
  return Unavailable(
      fmt::format("the cluster is not ready after {}: {}", FormatSeconds(ToSeconds(kClusterLimit)), missing));
}

absl::Status Cluster::Tend() {
  if (postgres_ && !postgres_->daemon().Running()) {
    if (++restarts_["postgres"] > kMaxRestarts) return postgres_->daemon().Ended();
    options_.say("PostgreSQL ended; starting it again");
    postgres_.reset();
    WARPSMITH_ASSIGN_OR_RETURN(postgres_, Postgres::Start(directory_, options_.stays, options_.interrupted));
  }
  for (const std::string& name : order_) {
    const auto daemon = daemons_.find(name);
    if (daemon != daemons_.end() && daemon->second->Running()) continue;
    absl::Status ended =
        daemon == daemons_.end() ? Internal(name + " could not be started again") : daemon->second->Ended();
    if (++restarts_[name] > kMaxRestarts) return ended;
    options_.say(fmt::format("{} ended; starting it again (its log: {})", name, directory_.log(name).string()));
    WARPSMITH_RETURN_IF_ERROR(StartProgram(name));
  }
  return absl::OkStatus();
}

void Cluster::Stop() {
  std::vector<std::string> names;
  for (const auto& [name, daemon] : daemons_) names.push_back(name);
  std::stable_sort(names.begin(), names.end(),
                   [](const std::string& a, const std::string& b) { return StopRank(a) < StopRank(b); });
  for (const std::string& name : names) daemons_[name]->Stop();
  daemons_.clear();
  if (postgres_) postgres_->daemon().Stop();
  postgres_.reset();
}

void Cluster::LeaveRunning() {
  for (auto& [name, daemon] : daemons_) daemon->LeaveRunning();
  daemons_.clear();
  if (postgres_) postgres_->daemon().LeaveRunning();
  postgres_.reset();
}

std::optional<std::string> FindRunningCluster(const DataDirectory& directory) {
  const std::string address = directory.coordinator_address();
  for (const ProcessRecord& record : ReadRecords(directory.run_folder())) {
    if (record.name != "coordinator" || !StillRuns(record) || !Connects(address)) continue;
    if (OperatorClient(address, std::chrono::seconds(5)).GetStatus().ok()) return address;
  }
  return std::nullopt;
}

absl::StatusOr<std::vector<std::string>> StopRecorded(const DataDirectory& directory) {
  std::vector<ProcessRecord> records = ReadRecords(directory.run_folder());
  std::stable_sort(records.begin(), records.end(),
                   [](const ProcessRecord& a, const ProcessRecord& b) { return StopRank(a.name) < StopRank(b.name); });
  std::vector<std::string> stopped;
  for (const ProcessRecord& record : records) {
    if (StillRuns(record)) {
      const bool database = record.name == "postgres";
      if (!StopProcess(record, database ? SIGINT : SIGTERM, std::chrono::seconds(database ? 30 : 10))) {
        return FailedPrecondition(fmt::format("{} (process {}) does not end", record.name, record.pid));
      }
      stopped.push_back(record.name);
    }
    RemoveRecord(directory.run_folder(), record.name);
  }
  return stopped;
}

}  // namespace warpsmith::cli
