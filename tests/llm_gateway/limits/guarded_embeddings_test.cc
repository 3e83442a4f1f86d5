// Embeddings are paid for, counted and recorded like any other call.
#include "llm_gateway/limits/guarded_embeddings.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "llm_gateway/limits/token_count.h"

namespace warpsmith::gateway {
namespace {

using Catch::Matchers::Contains;

class FakeServer final : public EmbeddingServer {
 public:
  EmbeddingAnswer Embed(const std::vector<std::string>& texts, Cancellation&) override {
    ++asked;
    EmbeddingAnswer made = answer;
    if (made.status.ok()) made.vectors.assign(texts.size(), {1.0F});
    return made;
  }
  std::atomic<int> asked{0};
  EmbeddingAnswer answer;
};

struct Setting {
  explicit Setting(std::optional<double> usd_a_million = 10.0) {
    endpoint.config.name = "m";
    endpoint.config.provider = "openai";
    endpoint.config.embedding_model = "small";
    endpoint.limiter = &limiter;
    if (usd_a_million) {
      endpoint.price.emplace();
      endpoint.price->input = *usd_a_million;
      endpoint.price_id = "2026-01-01";
    }
    server.answer.tokens = 40;
    server.answer.sent = server.answer.may_be_billed = true;
  }
  absl::StatusOr<std::vector<std::vector<float>>> Embed() {
    GuardedEmbeddings embeddings(server, endpoint, &day);
    return embeddings.Embed({text, "two"}, asking);
  }
  const std::string text = std::string(300, 'x');
  FakeServer server;
  RateLimiter limiter{RateLimits{0, 0, 4}, RealClock()};
  GuardedEndpoint endpoint;
  CallBudget day{1.0, 0}, request{0.5, 0};
  Cancellation cancellation;
  Asking asking{cancellation, &request};
};

TEST_CASE("embeddings are charged to the request, the day and the model, and recorded", "[unit]") {
  Setting setting;
  REQUIRE(setting.Embed().ok());
  CHECK(setting.request.state().spent_usd == Approx(40 * 10e-6));
  CHECK(setting.request.state().spent_tokens == 40);
  CHECK(setting.day.state().spent_usd == Approx(40 * 10e-6));
  CHECK(setting.request.state().reserved_usd == 0);
  REQUIRE(setting.asking.calls.size() == 1);
  const v1::ModelCall& call = setting.asking.calls[0];
  CHECK(call.model() == "m");
  CHECK(call.provider() == "openai");
  CHECK(call.prompt_version() == kEmbeddingPrompt);
  CHECK(call.input_tokens() == 40);
  CHECK(call.usd() == Approx(40 * 10e-6));
  CHECK(call.price_id() == "2026-01-01");
  CHECK(call.finish_reason() == "stop");
  CHECK_FALSE(call.estimated());
}

TEST_CASE("what a server of embeddings does not count, or breaks off, is charged as reserved", "[unit]") {
  Setting setting;
  setting.server.answer.tokens = -1;
  setting.server.answer.status = Unavailable("broke off");
  CHECK(absl::IsUnavailable(setting.Embed().status()));
  const int64_t most = EstimateTokens(setting.text) + EstimateTokens("two");
  CHECK(setting.request.state().spent_tokens == most);
  REQUIRE(setting.asking.calls.size() == 1);
  CHECK(setting.asking.calls[0].estimated());
  CHECK(setting.asking.calls[0].finish_reason() == "error");
  CHECK(setting.asking.calls[0].error() == "broke off");

  Setting refused;
  refused.server.answer.may_be_billed = false;
  refused.server.answer.tokens = -1;
  refused.server.answer.status = Unavailable("429");
  CHECK_FALSE(refused.Embed().ok());
  CHECK(refused.request.state().spent_tokens == 0);
  REQUIRE(refused.asking.calls.size() == 1);
  CHECK(refused.asking.calls[0].usd() == 0);
}

TEST_CASE("embeddings that nobody can pay for are not asked for", "[unit]") {
  Setting dear(1e6);
  const absl::Status status = dear.Embed().status();
  CHECK(status.code() == absl::StatusCode::kResourceExhausted);
  CHECK_THAT(Message(status), Contains("small") && Contains("the request's limit"));
  CHECK(dear.server.asked == 0);
  CHECK(dear.asking.calls.empty());
  CHECK(dear.request.state().spent_usd == 0);
  CHECK(dear.request.state().reserved_usd == 0);

  Setting unpriced(std::nullopt);
  CHECK_THAT(Message(unpriced.Embed().status()), Contains("embedding_price"));
  CHECK(unpriced.server.asked == 0);

  // The day's money is gone: what the request had set aside comes back.
  Setting late;
  late.day.AddSpent(1.0, 0);
  CHECK_THAT(Message(late.Embed().status()), Contains("max_usd_per_day"));
  CHECK(late.request.state().reserved_usd == 0);
  CHECK(late.request.state().spent_usd == 0);
}

TEST_CASE("embeddings wait for their turn among the model's calls", "[unit]") {
  Setting setting;
  RateLimiter one(RateLimits{0, 0, 1}, RealClock());
  setting.endpoint.limiter = &one;
  auto held = one.Acquire(1, std::chrono::seconds(1), setting.cancellation);
  REQUIRE(held.ticket);
  std::atomic<bool> done{false};
  std::thread other([&] {
    CHECK(setting.Embed().ok());
    done = true;
  });
  while (one.Demand().waiting == 0) std::this_thread::yield();
  CHECK_FALSE(done);
  CHECK(setting.server.asked == 0);
  one.Report(std::move(*held.ticket), 1);
  other.join();
  CHECK(setting.server.asked == 1);
}

TEST_CASE("many embeddings at once never overrun", "[unit]") {
  Setting setting;
  CallBudget day(0.05, 0);
  GuardedEmbeddings embeddings(setting.server, setting.endpoint, &day);
  std::atomic<int> over{0}, refused{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      Cancellation cancellation;
      for (int i = 0; i < 50; ++i) {
        Asking asking(cancellation);
        if (!embeddings.Embed({setting.text}, asking).ok()) ++refused;
        const CallBudget::State state = day.state();
        if (state.spent_usd + state.reserved_usd > 0.05 + 1e-9) ++over;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(over == 0);
  CHECK(refused > 0);
  CHECK(setting.server.asked + refused == 400);
  CHECK(day.state().spent_usd == Approx(setting.server.asked * 40 * 10e-6));
}

}  // namespace
}  // namespace warpsmith::gateway
