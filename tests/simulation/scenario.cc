#include "tests/simulation/scenario.h"

#include <algorithm>

#include "coordinator/search/strategy.h"

namespace warpsmith::simulation {
namespace {

constexpr int64_t kMidnight = 1'700'006'400'000'000;  // UTC

std::vector<std::string> Strategies() {
  std::vector<std::string> names;
  for (const char* name : {"branching", "sequential", "best_of_n", "evolve"}) {
    if (search::MakeStrategy(name).ok()) names.emplace_back(name);
  }
  return names;
}

double DrawRate(Random& random, double low, double high) {
  const double rate = random.Scale(low, high);
  return random.Chance(0.4) ? 0 : rate;
}

FaultRates DrawRates(Random& random) {
  FaultRates rates;
  if (random.Chance(0.1)) return rates;  // some worlds are good
  rates.statement = DrawRate(random, 0.002, 0.05);
  rates.commit = DrawRate(random, 0.001, 0.02);
  rates.crash = DrawRate(random, 0.0005, 0.01);
  rates.cut = DrawRate(random, 0.002, 0.05);
  rates.slow = DrawRate(random, 0.005, 0.1);
  rates.duplicate = DrawRate(random, 0.05, 0.5);
  rates.forget = DrawRate(random, 0.01, 0.1);
  rates.worker_fail = DrawRate(random, 0.01, 0.15);
  rates.gateway = DrawRate(random, 0.01, 0.15);
  return rates;
}

v1::SubmitSearchRequest DrawSearch(Random& random, int number) {
  static const std::vector<std::string> strategies = Strategies();
  v1::SubmitSearchRequest request;
  request.set_name("problem");
  // The same module twice: verdicts are shared between searches.
  request.set_source(random.Chance(0.6) ? "class Model: pass\n" : fmt::format("class Model: pass  # {}\n", number));
  request.set_request_id(fmt::format("search-{}", number));
  v1::SearchSettings* settings = request.mutable_settings();
  settings->set_strategy(strategies[static_cast<size_t>(random.Int(0, static_cast<int>(strategies.size()) - 1))]);
  settings->set_seed(random.Int(1, 1'000'000));
  settings->set_rounds(random.Chance(0.6) ? 1 : 2);
  settings->set_parents(random.Chance(0.7) ? 1 : 2);
  settings->set_ideas(random.Chance(0.6) ? 1 : 2);
  settings->set_implementations(random.Chance(0.5) ? 1 : 2);
  settings->set_repairs(random.Chance(0.5) ? -1 : 1);
  settings->set_round_deadline_seconds(random.Between(20, 90));
  if (random.Chance(0.4)) settings->set_max_usd(random.Scale(0.02, 1));
  if (random.Chance(0.25)) settings->set_max_tokens(random.Int(20'000, 300'000));
  if (random.Chance(0.1)) settings->set_max_gpu_hours(random.Between(0.5, 4) / 3600);
  if (random.Chance(0.2)) settings->set_stop_after_rounds_without_gain(1);
  if (random.Chance(0.2)) settings->set_model_choice("fixed_split");
  return request;
}

// Two problems that share what there is.
v1::SubmitBatchRequest DrawBatch(Random& random) {
  v1::SubmitBatchRequest request;
  request.set_name("batch");
  request.set_request_id("batch");
  request.set_owner("ada");
  for (int number = 1; number <= 2; ++number) {
    const v1::SubmitSearchRequest search = DrawSearch(random, number);
    v1::ProblemSource* problem = request.add_problems();
    problem->set_name(fmt::format("{}_problem", number));
    problem->set_number(number);
    problem->set_level(1);
    problem->set_source(search.source());
    *problem->mutable_settings() = search.settings();
  }
  v1::BatchLimits* limits = request.mutable_limits();
  limits->set_parallel(random.Int(0, 2));
  if (random.Chance(0.5)) limits->set_max_usd(random.Scale(0.05, 1));
  if (random.Chance(0.2)) limits->set_max_tokens(random.Int(40'000, 400'000));
  if (random.Chance(0.3)) limits->set_max_gpu_hours(random.Between(1, 8) / 3600);
  return request;
}

}  // namespace

Scenario DrawScenario(Random& random) {
  Scenario scenario;
  scenario.cluster.queue.lease_seconds = random.Chance(0.5) ? 15 : random.Between(2, 15);
  scenario.cluster.queue.retry_seconds = random.Between(0.1, 2);
  engine::EngineSettings& engine = scenario.cluster.engine;
  engine.tick_seconds = 4;
  engine.intake_deadline_seconds = random.Between(18, 40);
  engine.evaluate_deadline_seconds = random.Between(18, 40);
  engine.propose_deadline_seconds = random.Between(10, 60);
  engine.implement_deadline_seconds = random.Between(10, 60);
  engine.repair_deadline_seconds = random.Between(10, 60);
  scenario.cluster.janitor = random.Chance(0.2);
  if (random.Chance(0.25)) {
    scenario.batch = DrawBatch(random);
    if (random.Chance(0.3)) engine.max_searches_per_owner = 1;
  }
  const int searches = scenario.batch ? 0 : random.Chance(0.75) ? 1 : 2;
  for (int i = 1; i <= searches; ++i) scenario.searches.push_back(DrawSearch(random, i));
  const int workers = random.Int(1, 3);
  for (int i = 0; i < workers; ++i) scenario.worker_slots.push_back(random.Int(1, 3));
  scenario.rates = DrawRates(random);
  scenario.faulty_seconds = random.Scale(5, 60);
  scenario.wall_start_us = kMidnight + Seconds(random.Between(3600, 80'000));
  // Midnight during the search, sometimes with a budget for the day that lets only a part of it happen before.
  if (random.Chance(0.3)) {
    scenario.wall_start_us = kMidnight - Seconds(random.Between(1, 30));
    if (searches == 1 && random.Chance(0.5)) {
      engine.max_usd_per_day = random.Between(0.1, 0.5);
      scenario.searches[0].mutable_settings()->set_max_usd(engine.max_usd_per_day * random.Between(0.5, 1.0));
    }
  }
  return scenario;
}

}  // namespace warpsmith::simulation
