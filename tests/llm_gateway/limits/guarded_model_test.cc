#include "llm_gateway/limits/guarded_model.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <random>
#include <thread>
#include <vector>

#include "llm_gateway/limits/price_table.h"
#include "llm_gateway/limits/token_count.h"
#include "tests/llm_gateway/limits/scripted_model.h"

using namespace warpsmith;
using namespace warpsmith::gateway;
using Catch::Contains;

TEST_CASE("a call is priced and charged to both budgets", "[unit]") {
  Models models;
  auto& one = models.Add("a");
  one.endpoint.config.reasoning_effort = "high";
  DayBudget day(100, 0, models.clock);
  GuardedModel model = models.Guard("a", &day);
  CallBudget budget(1, 100'000);
  Completion completion = Run(model, Ask(&budget));
  CHECK(completion.ok());
  CHECK(completion.model == "a");
  CHECK(completion.effort == "high");
  CHECK(completion.price_id == "2026-11-29");
  CHECK(completion.usd == Approx(0.0021));  // 100 * 1 + 200 * 10, over a million
  CHECK_FALSE(completion.estimated);
  CHECK(completion.earlier.empty());
  CHECK(budget.state().spent_usd == Approx(0.0021));
  CHECK(budget.state().spent_tokens == 300);
  CHECK(budget.state().calls_in_flight == 0);
  CHECK(day.state().spent_usd == Approx(0.0021));
  CHECK(one.model.asked().at(0).max_output_tokens == 1000);
  CHECK(one.limiter.Demand().in_flight == 0);
}

TEST_CASE("under a limit in dollars a model without a price is refused", "[unit]") {
  Models models;
  auto& one = models.Add("a");
  one.endpoint.price.reset();
  one.endpoint.price_id.clear();
  GuardedModel model = models.Guard("a");
  CallBudget dollars(1, 0);
  Completion refused = Run(model, Ask(&dollars));
  CHECK(refused.error == ErrorClass::kBudget);
  CHECK_THAT(refused.message, Contains("gateway.yaml:3: models[0]") && Contains("has no price") &&
                                  Contains("price_name in gateway.yaml") && Contains("max_usd limits dollars"));
  CHECK(refused.tries == 0);
  CHECK(one.model.asked().empty());
  // By the day's limit too; without one it runs, at no price.
  DayBudget day(1, 0, models.clock);
  GuardedModel daily = models.Guard("a", &day);
  CHECK_THAT(Run(daily, Ask()).message, Contains("max_usd_per_day limits dollars"));
  CallBudget tokens(0, 100'000);
  Completion run = Run(model, Ask(&tokens));
  CHECK(run.ok());
  CHECK(run.usd == 0);
  CHECK(run.price_id.empty());
  CHECK(tokens.state().spent_tokens == 300);
  // A server of one's own costs nothing when it is said so.
  one.endpoint.price = Price();
  CHECK(Run(model, Ask(&dollars)).ok());
}

TEST_CASE("a smaller cap is asked for where only that fits, down to a quarter", "[unit]") {
  Models models;
  auto& one = models.Add("a");
  GuardedModel model = models.Guard("a");
  const double input = 1e-6 * static_cast<double>(EstimatePromptTokens(Ask()));
  for (auto [usd, cap] : {std::pair{0.0101, 1000}, {0.0095, 750}, {0.0051, 500}, {0.0026, 250}}) {
    CallBudget budget(usd, 0);
    CHECK(Run(model, Ask(&budget)).ok());
    CHECK(one.model.asked().back().max_output_tokens == cap);
  }
  size_t asked = one.model.asked().size();
  CallBudget little(input + 0.0024, 0);
  Completion refused = Run(model, Ask(&little));
  CHECK(refused.error == ErrorClass::kBudget);
  CHECK_THAT(refused.message, Contains("the caller's limit") && Contains("at least 250 out") && Contains("left"));
  CHECK(one.model.asked().size() == asked);
  CHECK(little.state().spent_usd == 0);
  // Tokens are a limit like dollars.
  CallBudget tokens(0, 300);
  CHECK(Run(model, Ask(&tokens)).ok());
  CHECK(one.model.asked().back().max_output_tokens == 250);
  // What the day has left counts as well, and nothing stays reserved in the request's budget.
  DayBudget day(0.0001, 0, models.clock);
  GuardedModel daily = models.Guard("a", &day);
  CallBudget budget(1, 0);
  CHECK_THAT(Run(daily, Ask(&budget)).message, Contains("max_usd_per_day of gateway.yaml"));
  CHECK(budget.usd_left() == 1);
}

TEST_CASE("a call without any cap gets one where money or tokens are limited", "[unit]") {
  Models models;
  auto& one = models.Add("a");
  one.endpoint.config.max_output_tokens = 0;
  GuardedModel model = models.Guard("a");
  CallBudget budget(10, 0);
  CHECK(Run(model, Ask(&budget)).ok());
  CHECK(one.model.asked().back().max_output_tokens == 32'000);
  CHECK(Run(model, Ask()).ok());
  CHECK(one.model.asked().back().max_output_tokens == 0);
  one.endpoint.price = Price();  // costs nothing: nothing to bound
  CHECK(Run(model, Ask(&budget)).ok());
  CHECK(one.model.asked().back().max_output_tokens == 0);
}

TEST_CASE("a call given up after it was sent is charged as reserved", "[unit]") {
  Models models;
  auto& one = models.Add("a");
  GuardedModel model = models.Guard("a");
  CallBudget budget(1, 0);
  int64_t input = EstimatePromptTokens(Ask());
  const double reserved = 1e-6 * (static_cast<double>(input) + 10 * 1000);
  one.model.Next(Failed(ErrorClass::kIdleTimeout));
  Completion lost = Run(model, Ask(&budget));
  CHECK(lost.estimated);
  CHECK(lost.usage.input == input);
  CHECK(lost.usage.output == 1000);
  CHECK(lost.usd == Approx(reserved));
  CHECK(budget.state().spent_usd == Approx(reserved));
  // Refused by the server: nothing was made, nothing is charged.
  one.model.Next(Failed(ErrorClass::kInvalidRequest));
  Completion refused = Run(model, Ask(&budget));
  CHECK(refused.usd == 0);
  CHECK_FALSE(refused.estimated);
  CHECK(budget.state().spent_usd == Approx(reserved));
  // An answer without a word on tokens.
  one.model.Next(Answered(0, 0));
  Completion silent = Run(model, Ask(&budget));
  CHECK(silent.ok());
  CHECK(silent.estimated);
  CHECK(silent.usd == Approx(reserved));
  // Tries that were lost before one that worked are charged beside it.
  Completion third = Answered(100, 200);
  third.tries = 3;
  third.unreported_tries = 2;
  one.model.Next(third);
  Completion worked = Run(model, Ask(&budget));
  CHECK(worked.usd == Approx(0.0021));
  REQUIRE(worked.earlier.size() == 2);
  CHECK(worked.earlier[0].estimated);
  CHECK(worked.earlier[0].usd == Approx(reserved));
  CHECK(budget.state().spent_usd == Approx(4 * reserved + 0.0021));
  CHECK(budget.state().calls_over_reservation == 1);
}

TEST_CASE("what a call took above its reservation is recorded", "[unit]") {
  Models models;
  auto& one = models.Add("a");
  GuardedModel model = models.Guard("a");
  CallBudget budget(0.011, 0);
  one.model.Next(Answered(100, 5000));
  Completion completion = Run(model, Ask(&budget));
  CHECK(completion.usd == Approx(0.0501));
  CHECK(budget.state().spent_usd == Approx(0.0501));
  CHECK(budget.state().over_usd == Approx(0.0391));
  CHECK(budget.usd_left() == 0);
  CHECK(Run(model, Ask(&budget)).error == ErrorClass::kBudget);
}

TEST_CASE("a call waits for money that calls in flight may leave", "[unit]") {
  Models models;
  models.Add("a");
  GuardedModel model = models.Guard("a");
  CallBudget budget(0.0101, 0);
  auto other = budget.Reserve(0.01, 0);
  Completion completion;
  std::atomic<bool> done{false};
  std::thread thread([&] {
    completion = Run(model, Ask(&budget));
    done = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK_FALSE(done);
  budget.Settle(std::move(*other), 0.001, 0);
  thread.join();
  CHECK(completion.ok());
  CHECK(budget.state().spent_usd == Approx(0.0031));

  SECTION("cancelled meanwhile") {
    auto held = budget.Reserve(budget.usd_left(), 0);
    Cancellation cancellation;
    std::thread waiting([&] { completion = model.Complete(Ask(&budget), nullptr, cancellation); });
    cancellation.Cancel();
    waiting.join();
    CHECK(completion.error == ErrorClass::kCancelled);
    budget.Release(std::move(*held));
  }
}

TEST_CASE("1,000 calls from many threads stay within their budgets", "[unit]") {
  Models models;
  constexpr double kUsd = 0.5;
  std::mutex mutex;
  std::mt19937 random(11);
  std::atomic<int> over{0};
  CallBudget budget(kUsd, 0);
  DayBudget day(0.4, 0, models.clock);
  auto check = [&] {
    auto state = budget.state();
    if (state.spent_usd + state.reserved_usd > kUsd + 1e-9 || state.over_usd > 0) ++over;
    auto today = day.state();
    if (today.spent_usd + today.reserved_usd > 0.4 + 1e-9 || today.over_usd > 0) ++over;
  };
  ScriptedModel scripted([&](const PromptRequest& request, Cancellation& cancellation) {
    check();
    int fate, output;
    {
      std::lock_guard lock(mutex);
      fate = static_cast<int>(random() % 10);
      output = static_cast<int>(random() % static_cast<unsigned>(request.max_output_tokens)) + 1;
    }
    std::this_thread::yield();
    if (fate == 0) return Failed(ErrorClass::kServer);
    if (fate == 1) return Failed(ErrorClass::kCut);
    if (fate == 2) {
      cancellation.Cancel();
      return Failed(ErrorClass::kCancelled);
    }
    return Answered(20, output);
  });
  auto& one = models.Add("a", {.concurrency = 16});
  one.endpoint.model = &scripted;
  one.endpoint.circuit = nullptr;
  GuardedModel model = models.Guard("a", &day);
  std::mutex sums;
  double usd = 0;
  std::atomic<int> refused{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 50; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        Completion completion = Run(model, Ask(&budget));
        check();
        if (completion.error == ErrorClass::kBudget) ++refused;
        std::lock_guard lock(sums);
        usd += completion.usd;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(over == 0);
  CHECK(refused > 0);
  CHECK(budget.state().calls_in_flight == 0);
  CHECK(budget.state().spent_usd == Approx(usd));
  CHECK(day.state().spent_usd == Approx(usd));
  CHECK(usd > 0.3);  // and what there was has been used
  CHECK(one.limiter.Demand().in_flight == 0);
}

TEST_CASE("a model that is not there says what to do", "[unit]") {
  Models models;
  GuardedModel model = models.Guard("missing");
  Completion completion = Run(model, Ask());
  CHECK(completion.error == ErrorClass::kConfiguration);
  CHECK_THAT(completion.message, Contains("\"missing\"") && Contains("warpsmith gateway check"));
}
