#include "tests/simulation/simulation.h"

#include <algorithm>
#include <memory>

#include "tests/simulation/final_check.h"
#include "tests/simulation/scenario.h"
#include "tests/simulation/seeded_ids.h"
#include "tests/simulation/virtual_operator.h"
#include "tests/simulation/virtual_worker.h"

namespace warpsmith::simulation {
namespace {

constexpr Micros kAllMustEndWithin = 3600 * kSecond;  // after the last fault
constexpr Micros kLook = 2 * kSecond;

class Simulation {
 public:
  Simulation(SimulatedStore& simulated, uint64_t seed, bool whole_trace)
      : simulated_(simulated),
        world_(seed, whole_trace),
        scenario_(DrawScenario(world_.random)),
        ids_(seed),
        clock_(world_.scheduler, scenario_.wall_start_us, [this](Micros span) { world_.Wait(span); }),
        gateway_(world_) {
    world_.rates = scenario_.rates;
  }

  Report Run();

 private:
  std::shared_ptr<VirtualCoordinator> Leader() const {
    return leader_ != nullptr && !leader_->stopped() ? leader_ : nullptr;
  }
  void Setup();
  void DrawTroubles();
  void At(double low, double high, std::function<void()> event);
  void StartLeader();
  void StartLeaderIn(double seconds);
  void TakeOver();
  void StopInOrder();
  void Discard(std::shared_ptr<VirtualCoordinator> old, double seconds);
  void Died();
  bool AtRest();
  void EndOfFaults();

  SimulatedStore& simulated_;
  World world_;
  const Scenario scenario_;
  const SeededIds ids_;
  VirtualClock clock_;
  VirtualGateway gateway_;
  std::vector<std::unique_ptr<VirtualWorker>> workers_;
  std::unique_ptr<VirtualOperator> operator_;
  // Their ends of streams name workers: gone before those.
  std::shared_ptr<VirtualCoordinator> leader_;
  std::vector<std::shared_ptr<VirtualCoordinator>> former_;  // superseded or stopped, not gone yet
  bool starting_ = false;
  int boots_ = 0;
};

void Simulation::StartLeaderIn(double seconds) {
  if (starting_) return;
  starting_ = true;
  world_.scheduler.In(Seconds(seconds), [this] {
    starting_ = false;
    StartLeader();
  });
}

void Simulation::StartLeader() {
  if (leader_ != nullptr) return;
  if (world_.scheduler.now() < world_.database_away_until) return StartLeaderIn(world_.random.Between(0.2, 2));
  auto next = std::make_shared<VirtualCoordinator>(world_, simulated_, gateway_, clock_, scenario_.cluster,
                                                   fmt::format("coordinator{}", ++boots_));
  const absl::Status begun = next->Begin();
  if (!begun.ok()) {
    world_.Note("coordinator{} cannot start: {}", boots_, Message(begun));
    return StartLeaderIn(world_.random.Between(0.2, 2));
  }
  leader_ = std::move(next);
}

// Once none of its calls stands on the stack any more.
void Simulation::Discard(std::shared_ptr<VirtualCoordinator> old, double seconds) {
  former_.push_back(old);
  world_.scheduler.In(Seconds(seconds), [this, weak = std::weak_ptr<VirtualCoordinator>(old)] {
    const auto still = weak.lock();
    if (still == nullptr) return;
    std::erase(former_, still);
    if (still->frames() > 0) return Discard(still, 0.5);
    const bool in_order = still->stopped();
    world_.Note("an old coordinator ends");
    if (in_order && leader_ == nullptr) StartLeaderIn(world_.random.Scale(0.05, 3));
  });
}

// The leader loses its lock unnoticed, and another one is elected; it hears of that later.
void Simulation::TakeOver() {
  if (leader_ == nullptr || world_.scheduler.now() < world_.database_away_until) return;
  leader_->Supersede();
  Discard(std::move(leader_), world_.random.Scale(0.5, 10));
  leader_ = nullptr;
  StartLeader();
}

void Simulation::StopInOrder() {
  if (leader_ == nullptr) return;
  leader_->Stop();
  Discard(std::move(leader_), 0.1);
  leader_ = nullptr;
}

// Whatever stood on the stack is gone, and so is every process that it belonged to.
void Simulation::Died() {
  leader_ = nullptr;
  former_.clear();
  StartLeaderIn(world_.random.Scale(0.1, 8));
}

void Simulation::At(double low, double high, std::function<void()> event) {
  world_.scheduler.In(Seconds(world_.random.Scale(low, high)), [this, event = std::move(event)] {
    if (world_.faults_on) event();
  });
}

void Simulation::DrawTroubles() {
  const double end = scenario_.faulty_seconds;
  const auto any = [this]() -> VirtualWorker& {
    return *workers_[static_cast<size_t>(world_.random.Int(0, static_cast<int>(workers_.size()) - 1))];
  };
  if (world_.random.Chance(0.25)) At(0.5, end, [this] { TakeOver(); });
  if (world_.random.Chance(0.25)) At(0.5, end, [this] { StopInOrder(); });
  if (world_.random.Chance(0.25)) {
    At(0.5, end, [this] {
      if (leader_ == nullptr) return;
      world_.Note("the coordinator is killed");
      throw CoordinatorCrash();
    });
  }
  if (world_.random.Chance(0.3)) {
    At(0.5, end, [this] {
      const double seconds = world_.random.Scale(0.3, 25);
      world_.Note("the database is away for {:.1f} s", seconds);
      world_.database_away_until = world_.scheduler.now() + Seconds(seconds);
    });
  }
  if (world_.random.Chance(0.3)) At(0.5, end, [this] { gateway_.Crash(); });
  if (world_.random.Chance(0.3)) At(0.5, end, [this, any] { any().Stall(world_.random.Scale(0.5, 40)); });
  if (world_.random.Chance(0.3)) At(0.5, end, [this, any] { any().Die(world_.random.Chance(0.3)); });
  if (world_.random.Chance(0.2)) At(0.5, end, [any] { any().Drain(); });
}

void Simulation::EndOfFaults() {
  world_.Note("nothing more goes wrong from here");
  world_.faults_on = false;
  world_.database_away_until = 0;
}

void Simulation::Setup() {
  simulated_.Reset();
  StartLeaderIn(0);
  const auto leader = [this] { return Leader(); };
  for (size_t i = 0; i < scenario_.worker_slots.size(); ++i) {
    workers_.push_back(
        std::make_unique<VirtualWorker>(world_, fmt::format("w{}", i + 1), scenario_.worker_slots[i], leader));
  }
  operator_ = std::make_unique<VirtualOperator>(world_, scenario_, leader);
  if (world_.random.Chance(0.9)) DrawTroubles();
  world_.scheduler.In(Seconds(scenario_.faulty_seconds), [this] { EndOfFaults(); });
}

bool Simulation::AtRest() {
  if (!operator_->satisfied() || leader_ == nullptr || leader_->frames() > 0 || !former_.empty()) return false;
  if (simulated_.Rows("simulation_open_searches")[0].Int("open") > 0) return false;
  // What is left to do once searches have ended must do without luck.
  if (world_.faults_on) EndOfFaults();
  return std::none_of(workers_.begin(), workers_.end(), [](const auto& worker) { return worker->HasUnacknowledged(); });
}

Report Simulation::Run() {
  Setup();
  const Micros limit = Seconds(scenario_.faulty_seconds) + kAllMustEndWithin;
  try {
    bool rest = false;
    while (!rest && world_.scheduler.now() < limit && world_.violations().empty()) {
      try {
        world_.scheduler.RunUntil(world_.scheduler.now() + kLook);
        rest = AtRest();
      } catch (const CoordinatorCrash&) {
        Died();
      }
    }
    if (!rest && world_.violations().empty()) {
      world_.Violate("not everything came to its end");
      for (const auto& worker : workers_) {
        if (worker->HasUnacknowledged()) world_.Violate(worker->id() + " has results that nobody acknowledges");
      }
    }
  } catch (const Runaway&) {
    world_.Violate("events without end");
  }
  world_.in_transaction = false;
  // What is violated in the middle leaves much undone, which says nothing more.
  if (world_.violations().empty()) CheckAtRest(world_, simulated_, scenario_, *operator_);
  if (!world_.violations().empty()) {
    for (const char* rows : {"simulation_reservations", "simulation_open_tasks"}) {
      for (const store::Row row : simulated_.Rows(rows)) world_.Note("{}", row.Text("line"));
    }
  }
  Report report;
  report.seed = world_.seed;
  for (const store::Row row : simulated_.Rows("simulation_searches")) {
    const std::string ending = row.Text("state") + "/" + row.Text("finish_reason");
    ++report.endings[row.Text("strategy") + " " + ending];
    world_.Note("{} ({}): {}, best {:.4f} ms", row.Text("request_id"), row.Text("strategy"), ending,
                row.Double("best_ms"));
  }
  report.trace_hash = world_.trace_hash();
  report.violations = world_.violations();
  report.trace = world_.trace();
  report.virtual_seconds = static_cast<double>(world_.scheduler.now()) / kSecond;
  report.events = world_.scheduler.executed();
  report.transactions = world_.transactions;
  report.statements = world_.statements;
  report.coordinators = boots_;
  return report;
}

}  // namespace

Report Simulate(SimulatedStore& simulated, uint64_t seed, bool whole_trace) {
  return Simulation(simulated, seed, whole_trace).Run();
}

std::string Describe(const Report& report) {
  std::string text = fmt::format("seed {}:\n", report.seed);
  for (const std::string& violation : report.violations) text += "  violated: " + violation + "\n";
  text += "its trace (seconds, event):\n";
  for (const std::string& line : report.trace) text += line + "\n";
  text += fmt::format("again, with the whole trace: WARPSMITH_SIMULATION_SEED={} build/dev/tests/simulation_test\n",
                      report.seed);
  return text;
}

}  // namespace warpsmith::simulation
