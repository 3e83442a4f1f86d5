// Truncated answers, fallbacks, circuits and pauses.
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "llm_gateway/limits/guarded_model.h"
#include "tests/llm_gateway/limits/scripted_model.h"

using namespace warpsmith;
using namespace warpsmith::gateway;
using Catch::Contains;

TEST_CASE("a truncated answer is asked for again with more room", "[unit]") {
  Models models;
  auto& one = models.Add("a");
  one.endpoint.config.efforts = {"low", "high"};
  one.endpoint.config.reasoning_effort = "high";
  GuardedModel model = models.Guard("a");
  CallBudget budget(1, 0);
  one.model.Next(Answered(100, 1000, "length", "half a ker"));
  std::vector<std::string> deltas;
  Cancellation cancellation;
  Completion completion = model.Complete(
      Ask(&budget),
      [&](DeltaKind kind, std::string_view text) {
        deltas.push_back(kind == DeltaKind::kRestart ? "restart" : std::string(text));
      },
      cancellation);
  CHECK(completion.finish_reason == "stop");
  CHECK(completion.text == "text");
  REQUIRE(completion.earlier.size() == 1);
  CHECK(completion.earlier[0].finish_reason == "length");
  CHECK(completion.earlier[0].usd == Approx(0.0101));
  auto asked = one.model.asked();
  REQUIRE(asked.size() == 2);
  CHECK(asked[1].max_output_tokens == 2000);
  CHECK(asked[1].effort.empty());
  CHECK(budget.state().spent_usd == Approx(0.0101 + 0.0021));
  CHECK(deltas == std::vector<std::string>{"half a ker", "restart", "text"});
}

TEST_CASE("truncated twice stays truncated, and is asked no third time", "[unit]") {
  Models models;
  auto& one = models.Add("a");
  one.endpoint.config.efforts = {"low", "high"};
  one.endpoint.config.reasoning_effort = "high";
  for (int i = 0; i < 3; ++i) one.model.Next(Answered(100, 1000, "length"));
  GuardedModel model = models.Guard("a");
  Completion completion = Run(model, Ask());
  CHECK(completion.ok());
  CHECK(completion.finish_reason == "length");
  CHECK(completion.earlier.size() == 1);
  CHECK(one.model.asked().size() == 2);
}

TEST_CASE("at the cap, less effort is asked for", "[unit]") {
  Models models;
  auto& one = models.Add("a");
  one.endpoint.config.most_output_tokens = 1000;
  one.endpoint.config.efforts = {"low", "medium"};
  one.endpoint.config.reasoning_effort = "high";
  GuardedModel model = models.Guard("a");
  one.model.Next(Answered(100, 1000, "length"));
  Completion completion = Run(model, Ask());
  CHECK(completion.finish_reason == "stop");
  CHECK(completion.effort == "medium");
  CHECK(completion.earlier.at(0).effort == "high");
  CHECK(one.model.asked().at(1).effort == "medium");
  CHECK(one.model.asked().at(1).max_output_tokens == 1000);

  SECTION("the caller's own cap is not passed either") {
    one.endpoint.config.most_output_tokens = 4000;
    one.model.Next(Answered(100, 500, "length"));
    PromptRequest request = Ask();
    request.max_output_tokens = 500;
    request.effort = "low";
    Completion half = Run(model, request);
    CHECK(half.finish_reason == "length");  // no lower effort, no more room
    CHECK(half.earlier.empty());
    CHECK(one.model.asked().back().max_output_tokens == 500);
  }
}

TEST_CASE("where more room is not affordable the truncated answer stays", "[unit]") {
  Models models;
  auto& one = models.Add("a");
  GuardedModel model = models.Guard("a");
  CallBudget budget(0.0105, 0);
  one.model.Next(Answered(100, 1000, "length"));
  Completion completion = Run(model, Ask(&budget));
  CHECK(completion.ok());
  CHECK(completion.finish_reason == "length");
  CHECK(completion.earlier.empty());
  CHECK(one.model.asked().size() == 1);
  CHECK(budget.state().spent_usd == Approx(0.0101));
}

TEST_CASE("fallbacks go by the reason, each model once", "[unit]") {
  Models models;
  auto& a = models.Add("a");
  auto& b = models.Add("b");
  auto& c = models.Add("c");
  a.endpoint.config.fallback_unavailable = {"a", "b", "nobody", "b", "c"};
  a.endpoint.config.fallback_context = {"c"};
  a.endpoint.config.fallback_refused = {"b"};
  b.endpoint.config.fallback_unavailable = {"a"};
  GuardedModel model = models.Guard("a");

  SECTION("unavailable") {
    a.model.Next(Failed(ErrorClass::kOverloaded, 4));
    b.model.Next(Failed(ErrorClass::kConnect, 4));
    Completion completion = Run(model, Ask());
    CHECK(completion.ok());
    CHECK(completion.model == "c");
    REQUIRE(completion.earlier.size() == 2);
    CHECK(completion.earlier[0].model == "a");
    CHECK(completion.earlier[0].error == ErrorClass::kOverloaded);
    CHECK(completion.earlier[1].model == "b");
    CHECK(a.model.asked().size() == 1);  // its own tries are inside its call and are not made again
    CHECK(b.model.asked().size() == 1);
  }
  SECTION("a quota that is used up is not tried again on the same model") {
    a.model.Next(Failed(ErrorClass::kQuota));
    CHECK(Run(model, Ask()).model == "b");
    CHECK(a.model.asked().size() == 1);
  }
  SECTION("context, and then unavailable") {
    a.model.Next(Failed(ErrorClass::kContextLength));
    c.model.Next(Failed(ErrorClass::kServer));
    Completion completion = Run(model, Ask());
    CHECK(completion.model == "b");
    CHECK(completion.earlier.size() == 2);
  }
  SECTION("refused, and recorded as such") {
    a.model.Next(Answered(100, 10, "refusal"));
    Completion completion = Run(model, Ask());
    CHECK(completion.model == "b");
    CHECK(completion.earlier.at(0).finish_reason == "refusal");
    CHECK(completion.earlier.at(0).usd > 0);
    a.model.Next(Answered(100, 10, "refusal"));
    b.model.Next(Answered(100, 10, "refusal"));
    CHECK(Run(model, Ask()).finish_reason == "refusal");
  }
  SECTION("all fail: the last error, with the first one told") {
    for (auto* one : {&a, &b, &c}) one->model.Next(Failed(ErrorClass::kServer));
    Completion completion = Run(model, Ask());
    CHECK(completion.error == ErrorClass::kServer);
    CHECK(completion.model == "c");
    CHECK_THAT(completion.message, Contains("before that"));
    CHECK(completion.earlier.size() == 2);
  }
  SECTION("not for the caller's mistakes, nor for what a budget forbids, nor when cancelled") {
    for (ErrorClass error : {ErrorClass::kInvalidRequest, ErrorClass::kTotalTimeout, ErrorClass::kCancelled}) {
      a.model.Next(Failed(error));
      CHECK(Run(model, Ask()).error == error);
    }
    CallBudget nothing(1e-9, 0);
    CHECK(Run(model, Ask(&nothing)).error == ErrorClass::kBudget);
    Cancellation cancelled;
    cancelled.Cancel();
    CHECK(model.Complete(Ask(), nullptr, cancelled).error == ErrorClass::kCancelled);
    CHECK(b.model.asked().empty());
    CHECK(c.model.asked().empty());
  }
  SECTION("not once the total time is used up") {
    a.endpoint.config.total_seconds = 10;
    ScriptedModel slow([&](const PromptRequest&, Cancellation&) {
      models.clock.Advance(std::chrono::seconds(11));
      return Failed(ErrorClass::kServer);
    });
    a.endpoint.model = &slow;
    CHECK(Run(model, Ask()).model == "a");
    CHECK(b.model.asked().empty());
  }
  SECTION("a disabled one is passed over, an effort it does not know is left to it") {
    b.endpoint.config.enabled = false;
    a.endpoint.config.efforts = {"xhigh"};
    a.model.Next(Failed(ErrorClass::kServer));
    PromptRequest request = Ask();
    request.effort = "xhigh";
    CHECK(Run(model, request).model == "c");
    CHECK(a.model.asked().at(0).effort == "xhigh");
    CHECK(c.model.asked().at(0).effort.empty());
  }
}

TEST_CASE("a model that fails again and again is left alone, its fallback asked", "[unit]") {
  Models models;
  auto& a = models.Add("a");
  auto& b = models.Add("b");
  GuardedModel model = models.Guard("a");
  for (int i = 0; i < 3; ++i) a.model.Next(Failed(ErrorClass::kServer, 4));
  for (int i = 0; i < 3; ++i) CHECK(Run(model, Ask()).error == ErrorClass::kServer);
  CallBudget budget(1, 0);
  Completion refused = Run(model, Ask(&budget));
  CHECK(refused.error == ErrorClass::kCircuitOpen);
  CHECK_THAT(refused.message, Contains("3 times in a row") && Contains("asked again in"));
  CHECK(refused.tries == 0);
  CHECK(budget.state().spent_usd == 0);
  CHECK(a.model.asked().size() == 3);
  a.endpoint.config.fallback_unavailable = {"b"};
  CHECK(Run(model, Ask()).model == "b");
  CHECK(b.model.asked().size() == 1);
  models.clock.Advance(std::chrono::seconds(31));
  CHECK(Run(model, Ask()).model == "a");
  CHECK(a.circuit.state() == CircuitState::kClosed);
}

TEST_CASE("calls that waited for their turn while the model fell ill are not sent", "[unit]") {
  Models models;
  auto& a = models.Add("a", {.concurrency = 1});
  a.endpoint.config.total_seconds = 3600;
  GuardedModel model = models.Guard("a");
  Cancellation none;
  auto held = a.limiter.Acquire(1, std::chrono::seconds(1), none);
  std::vector<Completion> completions(4);
  std::vector<std::thread> threads;
  CallBudget budget(1, 0);
  for (Completion& completion : completions) {
    threads.emplace_back([&] { completion = Run(model, Ask(&budget)); });
  }
  while (a.limiter.Demand().waiting < 4) std::this_thread::yield();
  for (int i = 0; i < 3; ++i) a.circuit.Report(std::move(*a.circuit.Ask()), ErrorClass::kConnect);
  held.ticket.reset();
  for (std::thread& thread : threads) thread.join();
  for (const Completion& completion : completions) CHECK(completion.error == ErrorClass::kCircuitOpen);
  CHECK(a.model.asked().empty());
  CHECK(budget.state().spent_usd == 0);
}

TEST_CASE("our own limit and the server's are told apart", "[unit]") {
  Models models;
  auto& a = models.Add("a", {.requests_per_minute = 5});
  auto& b = models.Add("b");
  a.endpoint.config.total_seconds = 0.01;
  a.endpoint.config.fallback_unavailable = {"b"};
  GuardedModel model = models.Guard("a");
  CallBudget budget(1, 0);

  SECTION("ours") {
    for (int i = 0; i < 5; ++i) CHECK(Run(model, Ask(&budget)).model == "a");
    a.endpoint.config.fallback_unavailable.clear();
    Cancellation cancellation;
    Completion refused;
    std::thread waiting([&] { refused = model.Complete(Ask(&budget), nullptr, cancellation); });
    while (a.limiter.Demand().waiting == 0) std::this_thread::yield();
    models.clock.Advance(std::chrono::milliseconds(20));
    waiting.join();
    CHECK(refused.error == ErrorClass::kOwnRateLimit);
    CHECK_THAT(refused.message,
               Contains("requests_per_minute") && Contains("gateway.yaml:3") && Contains("could have gone in"));
    CHECK(budget.state().spent_usd == Approx(5 * 0.0021));
    CHECK(budget.state().reserved_usd == 0);
  }
  SECTION("the server's: a wait it asks for holds for all callers") {
    Completion limited = Failed(ErrorClass::kRateLimited, 4);
    limited.retry_after_seconds = 40;
    a.model.Next(limited);
    CHECK(Run(model, Ask()).model == "b");
    Completion second = Run(model, Ask());
    CHECK(second.model == "b");
    CHECK(second.earlier.at(0).error == ErrorClass::kRateLimited);
    CHECK(second.earlier.at(0).tries == 0);
    CHECK_THAT(second.earlier.at(0).message, Contains("the server asked to be left alone"));
    CHECK(a.model.asked().size() == 1);
    CHECK(b.model.asked().size() == 2);
  }
  SECTION("also while the first caller is still trying") {
    ScriptedModel trying([&](const PromptRequest& request, Cancellation&) {
      request.on_asked_to_wait(std::chrono::seconds(25));
      CHECK(Run(model, Ask()).model == "b");
      return Answered(1, 1);
    });
    a.endpoint.model = &trying;
    CHECK(Run(model, Ask()).model == "a");
    CHECK(trying.asked().size() == 1);
  }
}
