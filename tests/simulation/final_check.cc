#include "tests/simulation/final_check.h"

#include <cmath>
#include <set>

namespace warpsmith::simulation {
namespace {

bool Near(double a, double b, double tolerance) { return std::abs(a - b) <= tolerance * std::max(a, b); }

// Each recorded evaluation is what the holder of that lease found, of that candidate.
void CheckEvaluations(World& world, SimulatedStore& simulated) {
  for (const store::Row row : simulated.Rows("simulation_evaluations")) {
    const auto found = world.computed.find({row.Int("task_id"), row.Int("epoch")});
    const std::string name = fmt::format("the evaluation of task {}@{}", row.Int("task_id"), row.Int("epoch"));
    if (found == world.computed.end()) {
      world.Violate(name + " was never made by a worker");
      continue;
    }
    const ComputedResult& computed = found->second;
    if (computed.candidate_sha256 != row.Text("source_sha256")) world.Violate(name + " is of another candidate");
    if (computed.outcome != row.Int("outcome") || !Near(computed.median_ms, row.Double("median_ms"), 1e-9)) {
      world.Violate(fmt::format("{} says outcome {}, {} ms; the worker said {}, {} ms", name, row.Int("outcome"),
                                row.Double("median_ms"), static_cast<int>(computed.outcome), computed.median_ms));
    }
  }
}

// Whatever way a candidate came to its verdict, it is its code's.
void CheckCandidates(World& world, SimulatedStore& simulated) {
  for (const store::Row row : simulated.Rows("simulation_candidates")) {
    if (row.Text("state") == "rejected") continue;
    const auto truth = world.kernels.find(row.Text("source_sha256"));
    if (truth == world.kernels.end()) {
      world.Violate(fmt::format("candidate {} has a source that nobody wrote", row.Text("id")));
    } else if (truth->second.outcome != row.Int("outcome") ||
               !Near(truth->second.median_ms, row.Double("median_ms"), 0.02)) {
      world.Violate(fmt::format("candidate {} has outcome {}, {} ms; its code stands for {}, {} ms", row.Text("id"),
                                row.Int("outcome"), row.Double("median_ms"), static_cast<int>(truth->second.outcome),
                                truth->second.median_ms));
    }
  }
}

void CheckAcknowledgements(World& world, SimulatedStore& simulated) {
  std::map<int64_t, int64_t> done;
  for (const store::Row row : simulated.Rows("simulation_done_tasks")) {
    done[row.Int("id")] = row.Int("epoch");
    if (!world.computed.contains({row.Int("id"), row.Int("epoch")})) {
      world.Violate(fmt::format("task {}@{} is done, and no worker ever did it", row.Int("id"), row.Int("epoch")));
    }
  }
  for (const auto& [task, epochs] : world.accepted) {
    for (int64_t epoch : epochs) {
      const auto found = done.find(task);
      if (found == done.end() || found->second != epoch) {
        world.Violate(fmt::format("the result of task {}@{} was acknowledged as recorded, and is not", task, epoch));
      }
    }
  }
}

// Providers billed no more than the limits, and no more than the budgets account for.
void CheckMoney(World& world, SimulatedStore& simulated, const Scenario& scenario,
                const std::map<std::string, std::string>& searches_by_request) {
  std::map<std::string, std::pair<int64_t, int64_t>> used;
  int64_t used_in_all = 0, spent_in_all = 0;
  for (const store::Row row : simulated.Rows("simulation_budgets")) {
    if (row.Text("scope") == "search") used[row.Text("id")] = {row.Int("used_nano_usd"), row.Int("used_tokens")};
    if (row.Text("scope") != "day") continue;
    used_in_all += row.Int("used_nano_usd");
  }
  for (const auto& [search, nano] : world.spent_nano_usd) {
    spent_in_all += nano;
    const int64_t tokens = world.spent_tokens[search];
    if (used[search].first < nano || used[search].second < tokens) {
      world.Violate(fmt::format("search {} spent {} nanodollars and {} tokens; {} and {} are accounted for", search,
                                nano, tokens, used[search].first, used[search].second));
    }
  }
  if (used_in_all < spent_in_all) {
    world.Violate(fmt::format("{} nanodollars were spent, {} are accounted for by day", spent_in_all, used_in_all));
  }
  for (const v1::SubmitSearchRequest& request : scenario.searches) {
    const auto found = searches_by_request.find(request.request_id());
    if (found == searches_by_request.end()) continue;
    const v1::SearchSettings& settings = request.settings();
    const int64_t nano = world.spent_nano_usd[found->second];
    if (settings.max_usd() > 0 && static_cast<double>(nano) > settings.max_usd() * 1e9) {
      world.Violate(fmt::format("search {} spent {} nanodollars of {}", found->second, nano, settings.max_usd() * 1e9));
    }
    if (settings.max_tokens() > 0 && world.spent_tokens[found->second] > settings.max_tokens()) {
      world.Violate(fmt::format("search {} spent {} tokens of {}", found->second, world.spent_tokens[found->second],
                                settings.max_tokens()));
    }
  }
}

// A batch has come to its end, and its searches together spent no more than it may.
void CheckBatch(World& world, SimulatedStore& simulated, const Scenario& scenario) {
  const store::ResultSet batches = simulated.Rows("simulation_batches");
  if (batches.size() != (scenario.batch ? 1 : 0)) world.Violate(fmt::format("there are {} batches", batches.size()));
  int64_t nano = 0, tokens = 0;
  for (const store::Row row : simulated.Rows("simulation_searches")) {
    nano += world.spent_nano_usd[row.Text("id")];
    tokens += world.spent_tokens[row.Text("id")];
  }
  for (const store::Row row : batches) {
    const std::string state = row.Text("state");
    if (state != "done" && state != "cancelled") world.Violate("the batch did not end: " + state);
    const int64_t most = row.Int("max_nano_usd"), most_tokens = row.Int("max_tokens");
    if ((most > 0 && nano > most) || (most_tokens > 0 && tokens > most_tokens)) {
      world.Violate(
          fmt::format("the batch spent {} nanodollars and {} tokens of {} and {}", nano, tokens, most, most_tokens));
    }
  }
}

// What an operator was told to have done is in the audit.
void CheckAudit(World& world, SimulatedStore& simulated, const VirtualOperator& asked) {
  std::set<std::string> acts;
  for (const store::Row row : simulated.Rows("simulation_audit")) acts.insert(row.Text("action"));
  for (const auto& [what, answer] : asked.answers()) {
    if (!acts.contains(what)) world.Violate(fmt::format("\"{}\" was done, and the audit says nothing of it", what));
  }
}

}  // namespace

void CheckAtRest(World& world, SimulatedStore& simulated, const Scenario& scenario, const VirtualOperator& asked) {
  for (const store::Row row : simulated.Rows("simulation_problems")) world.Violate(row.Text("problem"));
  CheckEvaluations(world, simulated);
  CheckCandidates(world, simulated);
  CheckAcknowledgements(world, simulated);
  CheckMoney(world, simulated, scenario, asked.searches());
  CheckBatch(world, simulated, scenario);
  CheckAudit(world, simulated, asked);
  const size_t submitted = scenario.searches.size() + (scenario.batch ? scenario.batch->problems_size() : 0);
  size_t searches = 0;
  for (const store::Row row : simulated.Rows("simulation_searches")) searches += row.Bool("superseded") ? 0 : 1;
  if (searches != submitted) {
    world.Violate(fmt::format("{} searches were submitted, there are {}", submitted, searches));
  }
}

}  // namespace warpsmith::simulation
