// Replies are paid for once: the same call again, after a failure, after a restart, and while the first one runs.
#include <catch2/catch.hpp>
#include <set>
#include <thread>

#include "common/file.h"
#include "tests/llm_gateway/service/running_gateway.h"
#include "tests/llm_gateway/support/sample_problem.h"

namespace warpsmith::gateway {
namespace {

using Catch::Matchers::Contains;

// The reply as it was first given: it says that it was kept, and nothing else differs.
std::string AsFirst(v1::Implementation again) {
  CHECK(again.call().kept());
  again.mutable_call()->clear_kept();
  return again.SerializeAsString();
}

TEST_CASE("a repeated call gets what is stored, also after a restart, and models only what is missing", "[grpc]") {
  FakeModelServer server(Json{{"code", One({{"reply", Code(kCandidate)}})}});
  auto folder = TemporaryDirectory::Create("gateway").value();
  std::vector<v1::Implementation> first;
  {
    RunningGateway gateway(server, Model("a", "code", ", price: {input: 2, output: 8}"), folder.path());
    first = gateway.Implement(ImplementRequest(2, "task 7"));
    REQUIRE(first.size() == 2);
    CHECK(server.RequestsOf("code").size() == 2);
    std::vector<v1::Implementation> again = gateway.Implement(ImplementRequest(2, "task 7"));
    REQUIRE(again.size() == 2);
    for (size_t i = 0; i < 2; ++i) CHECK(AsFirst(again[i]) == first[i].SerializeAsString());
    CHECK(server.RequestsOf("code").size() == 2);
  }
  RunningGateway gateway(server, Model("a", "code"), folder.path());
  std::vector<v1::Implementation> again = gateway.Implement(ImplementRequest(4, "task 7"));
  REQUIRE(again.size() == 4);
  CHECK(AsFirst(again[0]) == first[0].SerializeAsString());
  CHECK_FALSE(again[3].call().kept());
  CHECK(again[0].call().usd() > 0);  // at the price that it was bought for
  CHECK(again[0].call().price_id() == "gateway.yaml");
  CHECK_THAT(again[0].call().raw_reply(), Contains("warpsmith-plan"));
  CHECK(server.RequestsOf("code").size() == 4);
  CHECK(gateway.Implement(ImplementRequest(2, "another task")).size() == 2);
  CHECK(server.RequestsOf("code").size() == 6);
  CHECK(gateway.Implement(ImplementRequest(1)).size() == 1);  // without a key nothing is the same
  CHECK(gateway.Implement(ImplementRequest(1)).size() == 1);
  CHECK(server.RequestsOf("code").size() == 8);
}

TEST_CASE("stored replies come at once, not after the models", "[grpc]") {
  FakeModelServer server(Json{{"code", Json::array({Json({{"reply", Code(kCandidate)}}),
                                                    Json({{"reply", Code(kCandidate)}, {"delay_s", 0.7}})})}});
  RunningGateway gateway(server, Model("a", "code"));
  gateway.Implement(ImplementRequest(1, "k"));
  grpc::ClientContext context;
  const TimePoint started = RealClock().Now();
  auto reader = gateway.stub().ImplementIdea(&context, ImplementRequest(2, "k"));
  v1::Implementation one;
  REQUIRE(reader->Read(&one));
  CHECK(one.index() == 0);
  CHECK(ToSeconds(RealClock().Now() - started) < 0.5);
  REQUIRE(reader->Read(&one));
  CHECK(one.index() == 1);
  CHECK(ToSeconds(RealClock().Now() - started) >= 0.7);
  CHECK_FALSE(reader->Read(&one));
  CHECK(reader->Finish().ok());
}

TEST_CASE("failed calls are no answers: the next one asks again", "[grpc]") {
  FakeModelServer server(Json{
      {"code", Json::array({Json({{"status", 400}, {"body", "no"}}), Json({{"reply", Code(kCandidate)}})})},
      {"ideas", Json::array({Json({{"status", 400}, {"body", "no"}}), Json({{"reply", R"([{"title": "A"}])"}})})}});
  RunningGateway gateway(server, Model("a", "code") + Model("b", "ideas"));
  v1::ImplementIdeaRequest implement = ImplementRequest(1, "k");
  implement.mutable_call()->add_models("a");
  CHECK(gateway.Implement(implement).at(0).status() == "model_error");
  CHECK(gateway.Implement(implement).at(0).call().error_class().empty());
  CHECK(gateway.Implement(implement).at(0).status() == "ok");
  CHECK(server.RequestsOf("code").size() == 2);

  v1::ProposeIdeasRequest propose;
  *propose.mutable_context() = LayerNormContext();
  propose.mutable_call()->set_idempotency_key("k");  // of another kind: another call
  propose.mutable_call()->add_models("b");
  propose.set_count(1);
  for (int i = 0; i < 3; ++i) {
    grpc::ClientContext context;
    v1::ProposeIdeasReply reply;
    REQUIRE(gateway.stub().ProposeIdeas(&context, propose, &reply).ok());
    CHECK(reply.ideas_size() == (i == 0 ? 0 : 1));
  }
  CHECK(server.RequestsOf("ideas").size() == 2);
}

TEST_CASE("the same call twice at once is one call to a model", "[grpc]") {
  FakeModelServer server(Json{{"code", One({{"reply", Code(kCandidate)}, {"delay_s", 0.4}})}});
  RunningGateway gateway(server, Model("a", "code"));
  std::vector<std::thread> clients;
  std::atomic<int> fine{0};
  for (int i = 0; i < 6; ++i) {
    clients.emplace_back([&] {
      v1::RepairRequest request;
      *request.mutable_context() = LayerNormContext();
      request.mutable_failed()->set_source("broken");
      request.set_attempt(1);
      request.mutable_call()->set_idempotency_key("k");
      grpc::ClientContext context;
      v1::Implementation reply;
      fine += gateway.stub().Repair(&context, request, &reply).ok() && reply.status() == "ok";
    });
  }
  for (std::thread& client : clients) client.join();
  CHECK(fine == 6);
  CHECK(server.RequestsOf("code").size() == 1);
}

TEST_CASE("a restart goes on with the day's budget", "[grpc]") {
  FakeModelServer server(
      Json{{"code", One({{"reply", Code(kCandidate)},
                         {"usage", {{"prompt_tokens", 10}, {"completion_tokens", 1000}, {"total_tokens", 1010}}}})}});
  auto folder = TemporaryDirectory::Create("gateway").value();
  const std::string model = Model("a", "code", ", max_output_tokens: 1000, price: {input: 0, output: 100}");
  for (const char* outcome : {"ok", "model_error"}) {
    RunningGateway gateway(server, model, folder.path(), "max_usd_per_day: 0.11\n");
    const v1::Implementation one = gateway.Implement(ImplementRequest(1)).at(0);
    CHECK(one.status() == outcome);
    if (one.status() != "ok") CHECK_THAT(one.message(), Contains("max_usd_per_day"));
  }
  CHECK(server.RequestsOf("code").size() == 1);
}

}  // namespace
}  // namespace warpsmith::gateway
