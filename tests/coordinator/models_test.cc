// Which models are asked, what they may cost and what is recorded of them: through a real coordinator and PostgreSQL.
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "common/grpc_channel.h"
#include "tests/coordinator/cluster_fixture.h"
#include "warpsmith/v1/gateway.grpc.pb.h"

namespace warpsmith::testing {
namespace {

v1::ModelDescription Model(const std::string& name, double usd, int64_t output_tokens = 4000) {
  v1::ModelDescription model;
  model.set_name(name);
  model.set_provider(name == "catalog" ? "catalog" : "openai");
  model.set_enabled(true);
  model.set_reservation_usd(usd);
  model.set_max_output_tokens(output_tokens);
  return model;
}

// What no run may leave: an open reservation, a budget that is no sum of its reservations or over its limit.
std::string Money(Cluster& cluster) {
  std::string problems;
  const auto none = [&](const std::string& what, const std::string& sql) {
    if (const std::string rows = cluster.Query(sql); !rows.empty()) problems += what + ": " + rows + "\n";
  };
  none("open reservations", "SELECT id, task_id FROM reservation WHERE state = 'open'");
  none("left in reserve", "SELECT scope, id FROM budget WHERE reserved_nano_usd <> 0 OR reserved_tokens <> 0");
  none("budgets that are no sum",
       "SELECT b.id FROM budget b WHERE scope = 'search' AND used_nano_usd <> (SELECT coalesce(sum(charged_nano_usd), "
       "0) "
       "FROM reservation r WHERE r.search_id = b.id) OR scope = 'search' AND used_tokens <> (SELECT "
       "coalesce(sum(charged_tokens), 0) FROM reservation r WHERE r.search_id = b.id)");
  none("over the limit",
       "SELECT scope, id FROM budget WHERE max_nano_usd > 0 AND used_nano_usd > max_nano_usd OR max_tokens > 0 AND "
       "used_tokens > max_tokens");
  none("calls without a reservation", "SELECT idempotency_key FROM llm_call WHERE reservation_id IS NULL");
  return problems;
}

TEST_CASE("a search ends when its money cannot pay for another call, and never goes over", "[pg][models]") {
  Cluster cluster;
  // A call costs a twentieth of what it might: by the mean there would be money for more.
  cluster.gateway.models = {Model("m", 0.2)};
  cluster.gateway.usd_a_call = 0.01;
  auto worker = cluster.Worker("w1");
  auto request = SmallSearch(5);
  request.mutable_settings()->set_max_usd(0.2);
  const std::string id = cluster.Submit(request).value();
  const v1::Search search = cluster.Finished(id);
  CHECK(search.state() == v1::SEARCH_STATE_DONE);
  CHECK(search.finish_reason() == "budget");
  CHECK(search.usage().usd() <= 0.2);
  CHECK(search.usage().usd() >= 0.149);
  CHECK(search.usage().abandoned_usd() == 0);
  // Each request was told what was set aside for it; the cap of one call is the model's.
  for (const auto& implement : cluster.gateway.implementations()) {
    CHECK(implement.call().max_usd() > 0);
    CHECK(implement.call().max_usd() <= 0.2 * implement.indexes_size() + 1e-9);
    CHECK(implement.call().max_tokens() == 0);
    CHECK(implement.call().max_total_tokens() == 0);  // tokens have no limit here
  }
  CHECK(cluster.Query("SELECT count(*) FROM event WHERE line LIKE 'the budget of softmax is spent: $%'") == "1");
  CHECK(Money(cluster) == "");
  CHECK(cluster.Bookkeeping() == "");
}

TEST_CASE("tokens are a budget too", "[pg][models]") {
  Cluster cluster;
  cluster.gateway.models = {Model("m", 0, 500)};
  auto worker = cluster.Worker("w1");
  auto request = SmallSearch(5);
  // A call is reserved at its prompt, some 8,000 tokens, and 500 more; it takes 110.
  request.mutable_settings()->set_max_tokens(9500);
  const v1::Search search = cluster.Finished(cluster.Submit(request).value());
  CHECK(search.state() == v1::SEARCH_STATE_DONE);
  CHECK(search.usage().input_tokens() + search.usage().output_tokens() <= 9500);
  REQUIRE(!cluster.gateway.implementations().empty());
  for (const auto& implement : cluster.gateway.implementations()) {
    CHECK(implement.call().max_total_tokens() > 500);
    CHECK(implement.call().max_total_tokens() <= 9500);
  }
  CHECK(Money(cluster) == "");
}

TEST_CASE("a search whose first call is too dear asks nobody", "[pg][models]") {
  Cluster cluster;
  cluster.gateway.models = {Model("m", 5)};
  auto worker = cluster.Worker("w1");
  auto request = SmallSearch(3);
  request.mutable_settings()->set_max_usd(1);
  const v1::Search search = cluster.Finished(cluster.Submit(request).value());
  CHECK(search.finish_reason() == "budget");
  CHECK(cluster.gateway.proposals().empty());
  CHECK(search.usage().usd() == 0);
}

TEST_CASE("the day's budget makes searches wait, and a larger one lets them go on", "[pg][models]") {
  Cluster cluster;
  cluster.StopCoordinator();
  cluster.options.engine.max_usd_per_day = 0.05;
  cluster.gateway.models = {Model("m", 0.04)};
  cluster.gateway.usd_a_call = 0.04;
  cluster.StartCoordinator();
  auto worker = cluster.Worker("w1");
  const std::string id = cluster.Submit(SmallSearch(1)).value();
  REQUIRE(cluster.Eventually(
      [&] { return cluster.Query("SELECT count(*) FROM event WHERE line LIKE 'waiting: today''s budget%'") != "0"; }));
  CHECK(cluster.Get(id).value().state() == v1::SEARCH_STATE_RUNNING);
  CHECK(cluster.Status().value().day_usd() == Approx(0.04));
  CHECK(cluster.Status().value().max_day_usd() == Approx(0.05));
  cluster.StopCoordinator();
  cluster.options.engine.max_usd_per_day = 1;
  cluster.StartCoordinator();
  // They would come back within half a minute; the test does not wait for that.
  cluster.Query("UPDATE task SET run_at = now() WHERE state = 'available'");
  CHECK(cluster.Finished(id).finish_reason() == "rounds");
  CHECK(cluster.Query("SELECT max(failures) FROM task") == "0");
  CHECK(Money(cluster) == "");
}

TEST_CASE("calls that nobody heard the end of are charged at what was reserved", "[pg][models][fault]") {
  Cluster cluster;
  cluster.gateway.models = {Model("m", 0.05)};
  cluster.gateway.usd_a_call = 0.01;
  auto worker = cluster.Worker("w1");
  SECTION("the coordinator was stopped") {
    cluster.gateway.delay_ms = 700;
    const std::string id = cluster.Submit(SmallSearch(1)).value();
    REQUIRE(cluster.Eventually(
        [&] { return cluster.Query("SELECT count(*) FROM reservation WHERE state = 'open'") != "0"; }));
    cluster.StopCoordinator();
    CHECK(cluster.Query("SELECT state, lost_nano_usd FROM reservation") == "abandoned|50000000");
    cluster.gateway.delay_ms = 0;
    cluster.StartCoordinator();
    const v1::Search search = cluster.Finished(id);
    CHECK(search.usage().abandoned_usd() == Approx(0.05));
    CHECK(search.usage().usd() == Approx(0.05 + 0.01 * search.usage().model_calls()));
  }
  SECTION("the coordinator died") {
    cluster.gateway.delay_ms = 700;
    const std::string id = cluster.Submit(SmallSearch(1)).value();
    REQUIRE(cluster.Eventually(
        [&] { return cluster.Query("SELECT count(*) FROM reservation WHERE state = 'open'") != "0"; }));
    cluster.StopCoordinator();
    // As it would have been left, had there been no time to settle anything.
    cluster.Query(
        "UPDATE reservation SET state = 'open', charged_nano_usd = 0, charged_tokens = 0, lost_nano_usd = 0, "
        "lost_tokens = "
        "0; UPDATE budget b SET used_nano_usd = 0, used_tokens = 0, reserved_nano_usd = (SELECT sum(nano_usd) FROM "
        "reservation), reserved_tokens = (SELECT sum(tokens) FROM reservation)");
    cluster.gateway.delay_ms = 0;
    cluster.StartCoordinator();
    CHECK(cluster.Finished(id).usage().abandoned_usd() == Approx(0.05));
  }
  SECTION("the search was cancelled") {
    cluster.gateway.delay_ms = 700;
    const std::string id = cluster.Submit(SmallSearch(1)).value();
    REQUIRE(cluster.Eventually(
        [&] { return cluster.Query("SELECT count(*) FROM reservation WHERE state = 'open'") != "0"; }));
    cluster.Cancel(id).value();
    CHECK(cluster.Eventually([&] { return cluster.Get(id).value().usage().abandoned_usd() > 0; }));
  }
  SECTION("the gateway broke off") {
    cluster.gateway.break_after = 1;
    auto request = SmallSearch(1);
    request.mutable_settings()->set_ideas(1);
    const v1::Search search = cluster.Finished(cluster.Submit(request).value());
    CHECK(search.state() == v1::SEARCH_STATE_DONE);
    // Two calls were reserved, one came: the reservation covers it.
    CHECK(search.usage().abandoned_usd() == Approx(2 * 0.05 - 0.01));
  }
  SECTION("the gateway was not there at all: nothing is charged") {
    cluster.StopCoordinator();
    cluster.options.gateway = "127.0.0.1:1";
    cluster.StartCoordinator();
    const std::string id = cluster.Submit(SmallSearch(1)).value();
    REQUIRE(cluster.Eventually(
        [&] { return cluster.Query("SELECT count(*) FROM event WHERE line LIKE 'waiting:%'") != "0"; }));
    CHECK(cluster.Query("SELECT count(*) FROM reservation") == "0");
    cluster.Cancel(id).value();
  }
  CHECK(cluster.Eventually([&] { return Money(cluster) == ""; }));
  CHECK(Money(cluster) == "");
}

TEST_CASE("every call is recorded with all that it cost, those before the last one too", "[pg][models]") {
  Cluster cluster;
  cluster.gateway.models = {Model("m", 0.5)};
  cluster.gateway.models[0].add_efforts("high");
  cluster.gateway.models[0].add_prompt_variants("terse");
  cluster.gateway.fallback_calls = 2;
  auto worker = cluster.Worker("w1");
  const v1::Search search = cluster.Finished(cluster.Submit(SmallSearch(1)).value());
  CHECK(search.state() == v1::SEARCH_STATE_DONE);
  CHECK(search.usage().model_calls() == 1 + 4 * 3);
  CHECK(search.usage().usd() == Approx(0.13));
  CHECK(cluster.Query("SELECT DISTINCT price_id, cache_write_5m_tokens, prompt_variant FROM llm_call") ==
        "test prices|7|terse");
  CHECK(cluster.Query("SELECT count(*) FROM llm_call WHERE effort = 'high'") != "");
  CHECK(
      cluster.Query("SELECT position, count(*) FROM llm_call WHERE error_class = 'overloaded' GROUP BY 1 ORDER BY 1") ==
      "1000|2\n1001|2\n2000|2\n2001|2");
  CHECK(Money(cluster) == "");
}

TEST_CASE("the bandit asks every arm and comes to prefer what brings gains, apart for ideas and code", "[pg][models]") {
  Cluster cluster;
  cluster.gateway.models = {Model("good", 0), Model("bad", 0)};
  cluster.gateway.write_kernel = [](const v1::ImplementIdeaRequest& request, int index) {
    const std::string name = request.idea().id() + "/" + std::to_string(index);
    const double before = request.parent().evaluation().timing().median_ms();
    if (request.call().models(0) == "good") return KernelText(name, (before > 0 ? before : 0.9) * 0.8);
    return KernelText(name, 0, "compile_error");
  };
  auto worker = cluster.Worker("w1");
  auto request = SmallSearch(14);
  const v1::Search search = cluster.Finished(cluster.Submit(request).value(), 120);
  CHECK(search.state() == v1::SEARCH_STATE_DONE);
  std::map<std::string, int> asked;
  for (const auto& implement : cluster.gateway.implementations()) {
    REQUIRE(implement.call().models_size() == 1);
    ++asked[implement.call().models(0)];
  }
  CHECK(asked["bad"] >= 1);
  CHECK(asked["good"] > asked["bad"]);
  std::set<std::string> for_ideas;
  for (const auto& propose : cluster.gateway.proposals()) for_ideas.insert(propose.call().models(0));
  CHECK(for_ideas.size() == 2);
  CHECK(cluster.Query("SELECT count(*) FROM idea WHERE reservation_id IS NULL") == "0");
  CHECK(cluster.Query("SELECT count(*) FROM candidate WHERE reservation_id IS NULL") == "0");
  CHECK(Money(cluster) == "");
}

TEST_CASE("a fixed split keeps to its weights", "[pg][models]") {
  Cluster cluster;
  cluster.gateway.models = {Model("one", 0), Model("two", 0), Model("never", 0)};
  auto worker = cluster.Worker("w1");
  auto request = SmallSearch(8);
  request.mutable_settings()->set_model_choice("fixed_split");
  (*request.mutable_settings()->mutable_model_split())["one"] = 1;
  (*request.mutable_settings()->mutable_model_split())["two"] = 1;
  REQUIRE(cluster.Finished(cluster.Submit(request).value(), 120).state() == v1::SEARCH_STATE_DONE);
  std::map<std::string, int> asked;
  for (const auto& implement : cluster.gateway.implementations()) ++asked[implement.call().models(0)];
  for (const auto& propose : cluster.gateway.proposals()) ++asked[propose.call().models(0)];
  CHECK(asked["one"] >= 3);
  CHECK(asked["two"] >= 3);
  CHECK(asked.size() == 2);
}

TEST_CASE("the catalog is an arm for ideas, keeps its own, and where it runs out models have the rest",
          "[pg][models]") {
  Cluster cluster;
  cluster.gateway.models = {Model("catalog", 0), Model("m", 0.02)};
  cluster.gateway.catalog_ideas = 1;
  auto worker = cluster.Worker("w1");
  auto request = SmallSearch(4);
  request.mutable_settings()->set_max_usd(5);
  const v1::Search search = cluster.Finished(cluster.Submit(request).value(), 120);
  CHECK(search.finish_reason() == "rounds");
  int of_catalog = 0, of_models = 0;
  for (const auto& implement : cluster.gateway.implementations()) {
    if (implement.idea().catalog_key().empty()) {
      ++of_models;
      CHECK(implement.call().models_size() == 1);
      CHECK(implement.call().models(0) == "m");
    } else {
      ++of_catalog;
      CHECK(implement.call().models_size() == 0);  // as the search says: all
    }
  }
  CHECK(of_catalog >= 1);
  CHECK(of_models >= 1);
  // Each proposal brought two ideas, whoever was asked first.
  CHECK(cluster.Query("SELECT count(*) FROM idea") == "8");
  CHECK(cluster.Query("SELECT count(*) FROM llm_call WHERE idempotency_key LIKE 'propose/%/rest'") != "0");
  CHECK(Money(cluster) == "");
  CHECK(cluster.Bookkeeping() == "");
}

TEST_CASE("with the catalog alone nothing is chosen", "[pg][models]") {
  Cluster cluster;
  cluster.gateway.models = {Model("catalog", 0)};
  auto worker = cluster.Worker("w1");
  auto request = SmallSearch(1);
  request.mutable_settings()->set_max_usd(0.001);
  request.mutable_settings()->set_max_tokens(1000);
  const v1::Search search = cluster.Finished(cluster.Submit(request).value());
  CHECK(search.state() == v1::SEARCH_STATE_DONE);
  for (const auto& propose : cluster.gateway.proposals()) CHECK(propose.call().models_size() == 0);
  CHECK(cluster.Query("SELECT count(*) FROM reservation WHERE arm <> ''") == "0");
}

TEST_CASE("replicas of the gateway share their rates through the coordinator", "[pg][models]") {
  Cluster cluster;
  auto stub = v1::RateSharingService::NewStub(ConnectTo(cluster.address()));
  const auto ask = [&](const std::string& gateway, v1::ShareRatesReply* reply) {
    grpc::ClientContext context;
    v1::ShareRatesRequest request;
    request.set_gateway_id(gateway);
    v1::ModelDemand* demand = request.add_demands();
    demand->set_model("m");
    demand->set_requests_per_minute(60);
    demand->set_in_flight(3);
    return stub->ShareRates(&context, request, reply);
  };
  v1::ShareRatesReply first, second;
  REQUIRE(ask("a", &first).ok());
  REQUIRE(ask("b", &second).ok());
  CHECK(second.replicas() == 2);
  CHECK(first.shares(0).requests_per_minute() + second.shares(0).requests_per_minute() <= 60);
  CHECK(ask("", &first).error_code() == grpc::StatusCode::INVALID_ARGUMENT);
}

}  // namespace
}  // namespace warpsmith::testing
