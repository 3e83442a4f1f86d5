#include "llm_gateway/service/grpc_service.h"

#include <catch2/catch.hpp>
#include <set>
#include <thread>

#include "tests/llm_gateway/service/running_gateway.h"
#include "tests/llm_gateway/support/sample_problem.h"

namespace warpsmith::gateway {
namespace {

using Catch::Matchers::Contains;
using Running = RunningGateway;

TEST_CASE("ideas from a model, filled up from the next one", "[grpc]") {
  FakeModelServer server(
      Json{{"two", One({{"reply", R"({"ideas": [{"title": "A", "category": "compute"}, {"title": "B"}]})"}})},
           {"more", One({{"reply", R"([{"title": "b"}, {"title": "C"}])"}})},
           {"down", One({{"status", 400}, {"body", "no"}})}});
  Running gateway(server, Model("m1", "two") + Model("m2", "more"));
  v1::ProposeIdeasRequest request;
  *request.mutable_context() = LayerNormContext();
  request.set_count(3);
  grpc::ClientContext context;
  v1::ProposeIdeasReply reply;
  REQUIRE(gateway.stub().ProposeIdeas(&context, request, &reply).ok());
  REQUIRE(reply.ideas_size() == 3);
  CHECK(reply.ideas(0).title() == "A");
  CHECK(reply.ideas(0).origin() == "m1");
  CHECK(reply.ideas(2).title() == "C");  // "b" was among the ideas of the first
  CHECK(reply.ideas(2).origin() == "m2");
  CHECK(reply.shortfall().empty());
  REQUIRE(reply.calls_size() == 2);
  const v1::ModelCall& call = reply.calls(0);
  CHECK(call.provider() == "openai_compatible");
  CHECK(call.model() == "m1");
  CHECK_THAT(call.prompt_version(), Contains("default/") && Contains("propose_ideas-"));
  CHECK(call.prompt_variant() == "default");
  CHECK(call.prompt_sha256().size() == 64);
  CHECK(call.input_tokens() > 100);
  CHECK(call.output_tokens() > 0);
  CHECK(call.seconds() > 0);
  CHECK(call.first_byte_seconds() > 0);
  CHECK(call.finish_reason() == "stop");
  CHECK_THAT(call.raw_reply(), Contains("\"title\": \"A\""));
  CHECK(call.tries() == 1);
  CHECK_THAT(server.RequestsOf("more")[0]["body"]["messages"][1]["content"].get<std::string>(),
             Contains("A | compute | this | proposed"));

  Running broken(server, Model("m3", "down"));
  grpc::ClientContext second;
  REQUIRE(broken.stub().ProposeIdeas(&second, request, &reply).ok());
  CHECK(reply.ideas_size() == 0);
  CHECK_THAT(reply.shortfall(), Contains("model_error") && Contains("HTTP 400"));
  CHECK(reply.calls(0).finish_reason() == "error");
}

TEST_CASE("implementations run in parallel over the models and arrive as they finish", "[grpc]") {
  FakeModelServer server(
      Json{{"slow", One({{"reply", Code(kCandidate)}, {"delay_s", 1.0}})},
           {"fast", One({{"reply", "<think>no</think>" + Code(kCandidate)}})},
           {"cut", One({{"reply", "```cuda\n" + std::string(kCandidate)}, {"finish_reason", "length"}})},
           {"refuses", One({{"reply", "I must not"}, {"finish_reason", "content_filter"}})},
           {"host", One({{"reply", "```python\nclass ModelNew: pass\n```"}})},
           {"down", One({{"status", 400}, {"body", "no"}})}});
  Running gateway(server, Model("a", "slow") + Model("b", "fast") + Model("c", "cut") + Model("d", "refuses") +
                              Model("e", "host") + Model("f", "down"));
  grpc::ClientContext context;
  TimePoint started = RealClock().Now();
  auto reader = gateway.stub().ImplementIdea(&context, ImplementRequest(12));
  std::vector<v1::Implementation> all = ReadAll(*reader);
  CHECK(reader->Finish().ok());
  CHECK(ToSeconds(RealClock().Now() - started) < 8);
  REQUIRE(all.size() == 12);
  std::map<std::string, std::pair<std::string, int>> by_model;
  std::set<int> indexes;
  for (const v1::Implementation& one : all) {
    indexes.insert(one.index());
    by_model[one.call().model()].first = one.status();
    by_model[one.call().model()].second++;
    CHECK_THAT(one.call().prompt_version(), Contains("implement_idea-"));
    CHECK((one.status() == "ok") == (one.source() == kCandidate));
    CHECK((one.status() == "ok") == one.message().empty());
  }
  CHECK(indexes.size() == 12);
  CHECK(all.back().call().model() == "a");  // the slow one is last
  using Pair = std::pair<std::string, int>;
  CHECK(by_model["a"] == Pair{"ok", 2});
  CHECK(by_model["b"] == Pair{"ok", 2});
  CHECK(by_model["c"] == Pair{"truncated", 2});
  CHECK(by_model["d"] == Pair{"refused", 2});
  CHECK(by_model["e"] == Pair{"host_code", 2});
  CHECK(by_model["f"] == Pair{"model_error", 2});

  v1::ImplementIdeaRequest some = ImplementRequest(6);
  some.add_indexes(5);
  some.add_indexes(1);
  some.mutable_call()->add_models("b");
  grpc::ClientContext second;
  reader = gateway.stub().ImplementIdea(&second, some);
  all = ReadAll(*reader);
  REQUIRE(all.size() == 2);
  CHECK(std::set<int>{all[0].index(), all[1].index()} == std::set<int>{1, 5});
  CHECK(all[0].call().model() == "b");
}

TEST_CASE("a model's concurrency is kept", "[grpc]") {
  FakeModelServer server(Json{{"slow", One({{"reply", Code(kCandidate)}, {"delay_s", 0.25}})}});
  Running gateway(server, Model("a", "slow", ", concurrency: 2"));
  grpc::ClientContext context;
  TimePoint started = RealClock().Now();
  auto reader = gateway.stub().ImplementIdea(&context, ImplementRequest(6));
  CHECK(ReadAll(*reader).size() == 6);
  CHECK(ToSeconds(RealClock().Now() - started) >= 0.75);
}

TEST_CASE("a client that goes ends its calls to models", "[grpc]") {
  FakeModelServer server(Json{{"hangs", One({{"reply", "x"}, {"stall_s", 60}})}});
  Running gateway(server, Model("a", "hangs"));
  auto wait_for = [&](size_t requests, size_t closed) {
    for (int i = 0; i < 200; ++i) {
      Json seen = server.RequestsOf("hangs");
      size_t gone = 0;
      for (const Json& request : seen) gone += request["closed_early"].get<bool>();
      if (seen.size() >= requests && gone >= closed) return true;
      RealClock().SleepFor(std::chrono::milliseconds(25));
    }
    return false;
  };
  {
    grpc::ClientContext context;
    auto reader = gateway.stub().ImplementIdea(&context, ImplementRequest(3));
    REQUIRE(wait_for(3, 0));
    context.TryCancel();
    CHECK(ReadAll(*reader).empty());
    CHECK(reader->Finish().error_code() == grpc::StatusCode::CANCELLED);
    CHECK(wait_for(3, 3));
  }
  {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(400));
    v1::ProposeIdeasRequest request;
    *request.mutable_context() = LayerNormContext();
    request.set_count(1);
    v1::ProposeIdeasReply reply;
    CHECK(gateway.stub().ProposeIdeas(&context, request, &reply).error_code() == grpc::StatusCode::DEADLINE_EXCEEDED);
    CHECK(wait_for(4, 4));
  }
  {
    grpc::ClientContext context;
    auto reader = gateway.stub().ImplementIdea(&context, ImplementRequest(1));
    REQUIRE(wait_for(5, 4));
    gateway.service().CancelAll();  // the server is to stop
    CHECK(ReadAll(*reader).empty());
    CHECK(reader->Finish().error_code() == grpc::StatusCode::CANCELLED);
    CHECK(wait_for(5, 5));
  }
}

TEST_CASE("repair", "[grpc]") {
  FakeModelServer server(Json{{"fixes", One({{"reply", Code(kCandidate)}})}});
  Running gateway(server, Model("a", "fixes"));
  v1::RepairRequest request;
  *request.mutable_context() = LayerNormContext();
  request.mutable_idea()->set_title("An idea");
  request.mutable_failed()->set_source("broken");
  request.mutable_failed()->mutable_evaluation()->set_message("step 0: no kernel g");
  request.set_attempt(1);
  grpc::ClientContext context;
  v1::Implementation reply;
  REQUIRE(gateway.stub().Repair(&context, request, &reply).ok());
  CHECK(reply.status() == "ok");
  CHECK(reply.source() == kCandidate);
  CHECK_THAT(reply.call().prompt_version(), Contains("repair-"));
  CHECK_THAT(server.RequestsOf("fixes")[0]["body"]["messages"][1]["content"].get<std::string>(),
             Contains("no kernel g"));
}

TEST_CASE("the catalog implements its own ideas beside models", "[grpc]") {
  FakeModelServer server(Json{{"model", One({{"reply", Code(kCandidate)}})}});
  Running gateway(server, "  - {name: recipes, provider: catalog}\n" + Model("a", "model"));
  v1::ProposeIdeasRequest request;
  *request.mutable_context() = LayerNormContext();
  request.mutable_call()->add_models("recipes");
  request.set_count(2);
  grpc::ClientContext context;
  v1::ProposeIdeasReply reply;
  REQUIRE(gateway.stub().ProposeIdeas(&context, request, &reply).ok());
  REQUIRE(reply.ideas_size() >= 1);
  CHECK(reply.ideas(0).origin() == "catalog");

  v1::ImplementIdeaRequest implement = ImplementRequest(2);
  *implement.mutable_idea() = reply.ideas(0);
  grpc::ClientContext second;
  auto reader = gateway.stub().ImplementIdea(&second, implement);
  std::vector<v1::Implementation> all = ReadAll(*reader);
  REQUIRE(all.size() == 2);
  CHECK(all[0].call().provider() == "catalog");
  CHECK(all[0].status() == "ok");
  CHECK_THAT(all[0].source(), Contains("warpsmith-plan") && !Contains("@{"));
  CHECK(all[0].source() != all[1].source());

  grpc::ClientContext third;
  reader = gateway.stub().ImplementIdea(&third, ImplementRequest(1));  // an idea of nobody's
  CHECK(ReadAll(*reader).at(0).call().model() == "a");
}

TEST_CASE("requests that make no sense, and models that cannot be used", "[grpc]") {
  FakeModelServer server(Json::object());
  unsetenv("WARPSMITH_TEST_NO_KEY");
  Running gateway(server,
                  "  - {name: keyless, provider: openai_compatible, base_url: \"https://models.example/v1\", model: x, "
                  "api_key_env: WARPSMITH_TEST_NO_KEY}\n"
                  "  - {name: off, provider: command, command: [/bin/cat], enabled: false}\n");
  grpc::ClientContext context;
  v1::ListModelsReply models;
  REQUIRE(gateway.stub().ListModels(&context, {}, &models).ok());
  REQUIRE(models.models_size() == 2);
  CHECK_FALSE(models.models(0).enabled());
  CHECK_THAT(models.models(0).problem(),
             Contains("g.yaml:2: models[0].api_key_env") && Contains("WARPSMITH_TEST_NO_KEY is not set"));
  CHECK_THAT(models.models(1).problem(), Contains("disabled"));

  auto status = [&](const v1::ImplementIdeaRequest& request) {
    grpc::ClientContext own;
    auto reader = gateway.stub().ImplementIdea(&own, request);
    ReadAll(*reader);
    return reader->Finish();
  };
  CHECK(status(ImplementRequest(1)).error_code() == grpc::StatusCode::FAILED_PRECONDITION);
  CHECK_THAT(status(ImplementRequest(1)).error_message(), Contains("keyless") && Contains("WARPSMITH_TEST_NO_KEY"));
  CHECK(status(ImplementRequest(0)).error_code() == grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(status(ImplementRequest(1000)).error_code() == grpc::StatusCode::INVALID_ARGUMENT);
  v1::ImplementIdeaRequest request = ImplementRequest(2);
  request.add_indexes(2);
  CHECK_THAT(status(request).error_message(), Contains("indexes"));
  request = ImplementRequest(2);
  request.mutable_call()->add_models("unheard");
  CHECK_THAT(status(request).error_message(), Contains("unheard") && Contains("keyless, off"));
  request = ImplementRequest(2);
  request.mutable_context()->mutable_problem()->clear_source();
  CHECK_THAT(status(request).error_message(), Contains("context.problem.source"));
  request = ImplementRequest(2);
  request.clear_idea();
  CHECK_THAT(status(request).error_message(), Contains("idea.title"));

  request = ImplementRequest(1);
  request.mutable_call()->add_models("keyless");
  grpc::ClientContext named;
  auto reader = gateway.stub().ImplementIdea(&named, request);
  std::vector<v1::Implementation> all = ReadAll(*reader);
  REQUIRE(all.size() == 1);
  CHECK(all[0].status() == "model_error");
  CHECK_THAT(all[0].message(), Contains("is not set"));
}

}  // namespace
}  // namespace warpsmith::gateway
