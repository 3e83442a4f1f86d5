// What the coordinator can take: see benchmarks/coordinator.sh.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <set>
#include <thread>

#include "benchmarks/coordinator/parts.h"
#include "benchmarks/coordinator/replay_gateway.h"
#include "benchmarks/coordinator/report.h"
#include "common/clock.h"
#include "common/grpc_runtime.h"

namespace warpsmith::bench {
namespace {

constexpr Duration kConnectPatience = std::chrono::seconds(120);

struct Flags {
  double seconds = 300;
  int workers = 1000;
  int slots = 2;
  int64_t rows = 1'000'000;
  int searches = 100;
  std::vector<std::string> parts;
  bool json = false;
  std::string json_file;
  bool statements = false;
  bool postgres_defaults = false;
  bool all_before = false;
  std::string hold;     // be workers that hold their tasks, of this name
  std::string address;  // for them
};

// The process that is killed: workers that take tasks and keep them. Says "connected", then how many it holds.
absl::Status Hold(const Flags& flags) {
  WorkerFleet fleet({flags.address, flags.hold, flags.workers, flags.slots, true});
  WARPSMITH_RETURN_IF_ERROR(fleet.Connect(kConnectPatience));
  std::cout << "connected" << std::endl;
  for (int64_t said = 0;;) {
    RealClock().SleepFor(std::chrono::milliseconds(50));
    const int64_t held = fleet.InHand();
    if (held == said) continue;
    said = held;
    std::cout << "holding " << held << std::endl;
  }
}

class Run {
 public:
  explicit Run(const Flags& flags) : flags_(flags), chosen_(flags.parts.begin(), flags.parts.end()) {}

  absl::Status All(const std::string& program) {
    WARPSMITH_ASSIGN_OR_RETURN(const std::unique_ptr<ReplayGateway> gateway, ReplayGateway::Start());
    WARPSMITH_ASSIGN_OR_RETURN(server_,
                               ServerUnderTest::Start(gateway->address(), flags_.statements, flags_.postgres_defaults));
    TaskFeeder feeder(*server_);
    Head();
    WARPSMITH_RETURN_IF_ERROR(Connect());
    WARPSMITH_RETURN_IF_ERROR(feeder.Prepare());
    const auto bench = [&] { return Bench{*server_, feeder, *fleet_, [this](const std::string& line) { Say(line); }}; };
    WARPSMITH_RETURN_IF_ERROR(Loads(bench(), "", ""));
    if (Wanted("off")) {
      Title("fenced results with synchronous_commit off: a crash of PostgreSQL may lose the last ones' records");
      WARPSMITH_RETURN_IF_ERROR(Again(false));
      Bench again = bench();
      WARPSMITH_ASSIGN_OR_RETURN(const Throughput result, MeasureThroughput(again, flags_.seconds / 5));
      Keep("results_synchronous_commit_off", result);
      WARPSMITH_RETURN_IF_ERROR(Again(true));
    }
    if (Wanted("kill")) {
      Title("kill -9 of a process of 16 workers with 64 tasks in hand");
      Bench killed = bench();
      WARPSMITH_ASSIGN_OR_RETURN(const Kill result, MeasureKill(killed, program));
      Keep("kill", result);
    }
    WARPSMITH_RETURN_IF_ERROR(Searches(bench(), *gateway, "", ""));
    if (Wanted("full")) {
      Title(fmt::format("{} finished candidates with their tasks and evaluations in the tables", flags_.rows));
      fleet_.reset();
      server_->StopCoordinator();
      WARPSMITH_RETURN_IF_ERROR(feeder.FillFinished(flags_.rows, [this](int64_t done) {
        if (done % 135'000 == 0 || done == flags_.rows) Say(fmt::format("{} are in", done));
      }));
      server_->Settle();
      WARPSMITH_RETURN_IF_ERROR(Connect());
      WARPSMITH_RETURN_IF_ERROR(Loads(bench(), "full_", ", full tables"));
      WARPSMITH_RETURN_IF_ERROR(Searches(bench(), *gateway, "full_", ", full tables"));
    }
    Title("exactly once");
    Bench last = bench();
    WARPSMITH_ASSIGN_OR_RETURN(const Wrong wrong, CountWrong(last));
    Keep("wrong", wrong);
    if (!flags_.json) std::cout << "\n" << Peers() << std::flush;
    if (flags_.json) std::cout << json_.dump(2) << "\n";
    if (!flags_.json_file.empty()) {
      WARPSMITH_RETURN_IF_ERROR(WriteFileAtomically(flags_.json_file, json_.dump(2) + "\n"));
    }
    if (wrong.any()) return Internal("results were lost or doubled; see above");
    return absl::OkStatus();
  }

 private:
  bool Wanted(const std::string& part) const { return chosen_.empty() || chosen_.contains(part); }
  void Say(const std::string& line) const { std::cerr << "    " << line << std::endl; }
  void Title(const std::string& text) const { (flags_.json ? std::cerr : std::cout) << text << std::endl; }
  template <typename Result>
  void Keep(const std::string& key, const Result& result) {
    json_[key] = Told(result);
    if (!flags_.json) std::cout << Shown(result) << std::endl;
    if (flags_.statements) Say("PostgreSQL's time by statement:\n" + server_->TakeStatements());
  }

  void Head() {
    json_["cores"] = std::thread::hardware_concurrency();
    json_["workers"] = flags_.workers;
    json_["slots"] = flags_.slots;
    std::string settings;
    for (const char* name : {"server_version", "fsync", "synchronous_commit", "full_page_writes", "shared_buffers",
                             "max_wal_size", "checkpoint_timeout"}) {
      const std::string value = server_->Setting(name);
      json_["postgresql"][name] = value;
      settings += fmt::format(" {} {},", name, value);
    }
    const int64_t huge_pages = ServerUnderTest::ReservedHugePages();
    json_["postgresql"]["reserved_huge_pages"] = huge_pages;
    settings += fmt::format(" reserved huge pages {}", huge_pages);
    Title(fmt::format(
        "{} cores for PostgreSQL, the coordinator and the load; {} simulated workers of {} slots, each with a "
        "connection\nof its own. PostgreSQL {}:{}.\n",
        std::thread::hardware_concurrency(), flags_.workers, flags_.slots,
        flags_.postgres_defaults ? "with its defaults" : "as deploy/ starts it", settings));
  }

  absl::Status Connect() {
    WARPSMITH_RETURN_IF_ERROR(server_->StartCoordinator());
    fleet_ =
        std::make_unique<WorkerFleet>(FleetOptions{server_->address(), "sim", flags_.workers, flags_.slots, false});
    const TimePoint start = RealClock().Now();
    WARPSMITH_RETURN_IF_ERROR(fleet_->Connect(kConnectPatience));
    fleet_->SetDraining(true);
    Say(fmt::format("{} workers connected in {:.1f} s", flags_.workers, ToSeconds(RealClock().Now() - start)));
    return absl::OkStatus();
  }

  absl::Status Again(bool synchronous) {
    fleet_.reset();
    server_->StopCoordinator();
    server_->SetSynchronousCommit(synchronous);
    return Connect();
  }

  absl::Status Loads(Bench bench, const std::string& key, const std::string& where) {
    if (Wanted("results")) {
      Title("fenced results, recorded with evaluation, candidate and progress" + where);
      WARPSMITH_ASSIGN_OR_RETURN(const Throughput result, MeasureThroughput(bench, flags_.seconds, flags_.all_before));
      Keep(key + "results", result);
    }
    if (Wanted("latency")) {
      for (const double rate : {1000.0, 100.0}) {
        Title(fmt::format("assignment at {:.0f} results/s, open loop{}", rate, where));
        WARPSMITH_ASSIGN_OR_RETURN(const Latency result,
                                   MeasureLatency(bench, rate, flags_.seconds / (rate > 500 ? 5 : 10)));
        Keep(fmt::format("{}latency_{:.0f}", key, rate), result);
      }
    }
    return absl::OkStatus();
  }

  absl::Status Searches(Bench bench, const ReplayGateway& gateway, const std::string& key, const std::string& where) {
    if (!Wanted("replay")) return absl::OkStatus();
    Title(fmt::format("{} searches from intake to their end{}", flags_.searches, where));
    WARPSMITH_ASSIGN_OR_RETURN(const Replay result,
                               MeasureReplay(bench, flags_.searches, key + "bench", [&] { return gateway.calls(); }));
    Keep(key + "replay", result);
    return absl::OkStatus();
  }

  const Flags flags_;
  const std::set<std::string> chosen_;
  std::unique_ptr<ServerUnderTest> server_;
  std::unique_ptr<WorkerFleet> fleet_;
  Json json_;
};

}  // namespace
}  // namespace warpsmith::bench

int main(int argc, char** argv) {
  warpsmith::InitGrpcRuntime();
  warpsmith::bench::Flags flags;
  CLI::App app{"What the coordinator can take: results a second, latencies, memory, WAL, kills, whole searches."};
  app.name("bench_coordinator");
  app.footer("Example: ./dev bench coordinator --seconds 20 --only results --only latency");
  app.add_option("--seconds", flags.seconds, "of the measurement of results a second; latencies take a fifth of it")
      ->capture_default_str()
      ->check(CLI::Range(2.0, 3600.0));
  app.add_option("--workers", flags.workers, "simulated workers")->capture_default_str()->check(CLI::Range(1, 5000));
  app.add_option("--slots", flags.slots, "tasks that each wants in hand")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  app.add_option("--rows", flags.rows, "finished candidates in the full tables")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, int64_t{100'000'000}));
  app.add_option("--searches", flags.searches, "to replay to their end")
      ->capture_default_str()
      ->check(CLI::Range(1, 10000));
  app.add_option("--only", flags.parts,
                 "parts to run: results, latency, off, kill, replay, full (those of results, latency and replay again)")
      ->check(CLI::IsMember({"results", "latency", "off", "kill", "replay", "full"}));
  app.add_flag("--json", flags.json, "print JSON");
  app.add_flag("--statements", flags.statements, "show after each part which statements took PostgreSQL's time");
  app.add_flag("--all-before", flags.all_before,
               "put in all tasks before results are measured, as other queues are measured; default: beside them too");
  app.add_flag(
      "--postgres-defaults", flags.postgres_defaults,
      "PostgreSQL with its defaults; default: with the settings that deploy/compose and deploy/kubernetes give it");
  app.add_option("--json-file", flags.json_file, "write JSON besides");
  app.add_option("--hold", flags.hold)->group("");
  app.add_option("--address", flags.address)->group("");
  CLI11_PARSE(app, argc, argv);
  signal(SIGPIPE, SIG_IGN);
  const absl::Status status = flags.hold.empty()
                                  ? warpsmith::bench::Run(flags).All(std::filesystem::read_symlink("/proc/self/exe"))
                                  : warpsmith::bench::Hold(flags);
  if (!status.ok()) {
    std::cerr << "bench_coordinator: " << warpsmith::Message(status) << "\n";
    return 1;
  }
  return 0;
}
