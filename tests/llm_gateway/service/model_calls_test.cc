// What a request's call context does to the calls that are made for it, and what is recorded of them.
#include <catch2/catch.hpp>

#include "tests/llm_gateway/service/running_gateway.h"
#include "tests/llm_gateway/support/sample_problem.h"

namespace warpsmith::gateway {
namespace {

using Catch::Matchers::Contains;

v1::ProposeIdeasReply Propose(RunningGateway& gateway, const v1::ProposeIdeasRequest& request) {
  grpc::ClientContext context;
  v1::ProposeIdeasReply reply;
  REQUIRE(gateway.stub().ProposeIdeas(&context, request, &reply).ok());
  return reply;
}

TEST_CASE("effort, cap and prompt variant reach the model and the record", "[grpc]") {
  FakeModelServer server(
      Json{{"code", One({{"reply", Code(kCandidate)},
                         {"usage", {{"prompt_tokens", 1000}, {"completion_tokens", 500}, {"total_tokens", 1500}}}})}});
  RunningGateway gateway(server, Model("a", "code", ", efforts: [low, high], price: {input: 1, output: 10}"), "",
                         "prompt_variants: [default, terse]\n");
  v1::ImplementIdeaRequest request = ImplementRequest(1);
  request.mutable_call()->set_effort("high");
  request.mutable_call()->set_prompt_variant("terse");
  request.mutable_call()->set_max_tokens(4321);
  const v1::Implementation one = gateway.Implement(request).at(0);
  CHECK(one.status() == "ok");
  CHECK(one.call().effort() == "high");
  CHECK(one.call().prompt_variant() == "terse");
  CHECK_THAT(one.call().prompt_version(), Contains("terse/"));
  CHECK(one.call().input_tokens() == 1000);
  CHECK(one.call().usd() == Approx(0.001 + 0.005));
  CHECK(one.call().price_id() == "gateway.yaml");
  CHECK_FALSE(one.call().estimated());
  const Json body = server.RequestsOf("code")[0]["body"];
  CHECK(body["reasoning_effort"] == "high");
  CHECK(body["max_completion_tokens"] == 4321);

  request.mutable_call()->set_prompt_variant("nonesuch");
  grpc::ClientContext context;
  auto reader = gateway.stub().ImplementIdea(&context, request);
  CHECK(ReadAll(*reader).empty());
  const grpc::Status status = reader->Finish();
  CHECK(status.error_code() == grpc::StatusCode::INVALID_ARGUMENT);
  CHECK_THAT(status.error_message(), Contains("nonesuch") && Contains("default, terse"));

  v1::ListModelsReply models;
  grpc::ClientContext listing;
  REQUIRE(gateway.stub().ListModels(&listing, {}, &models).ok());
  const v1::ModelDescription& model = models.models(0);
  CHECK(model.enabled());
  CHECK(model.efforts_size() == 2);
  CHECK(model.prompt_variants_size() == 2);
  CHECK(model.circuit() == "closed");
  CHECK(model.input_usd_per_million() == 1);
  CHECK(model.reservation_usd() > 0.3);  // 32,000 tokens out at 10 $ a million
}

TEST_CASE("the calls of one request spend from one budget", "[grpc]") {
  FakeModelServer server(
      Json{{"code", One({{"reply", Code(kCandidate)},
                         {"delay_s", 0.1},
                         {"usage", {{"prompt_tokens", 1000}, {"completion_tokens", 1000}, {"total_tokens", 2000}}}})}});
  RunningGateway gateway(server, Model("a", "code", ", max_output_tokens: 1000, price: {input: 0, output: 100}"));
  v1::ImplementIdeaRequest request = ImplementRequest(8);
  request.mutable_call()->set_max_usd(0.32);  // 0.1 $ a call; what is left is too little for a shorter one
  int fine = 0, refused = 0;
  double usd = 0;
  for (const v1::Implementation& one : gateway.Implement(request)) {
    fine += one.status() == "ok";
    refused += one.call().error_class() == "budget";
    usd += one.call().usd();
  }
  CHECK(fine == 3);
  CHECK(refused == 5);
  CHECK(usd <= 0.32);
  CHECK(server.RequestsOf("code").size() == 3);

  request.mutable_call()->set_max_usd(0);
  request.mutable_call()->set_max_total_tokens(1);
  for (const v1::Implementation& one : gateway.Implement(request)) CHECK(one.call().error_class() == "budget");
  request.mutable_call()->set_max_usd(-1);
  grpc::ClientContext context;
  auto reader = gateway.stub().ImplementIdea(&context, request);
  CHECK(ReadAll(*reader).empty());
  CHECK(reader->Finish().error_code() == grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_CASE("every call that was made stands in the record: truncated ones, and models that had to step in", "[grpc]") {
  FakeModelServer server(
      Json{{"cut", Json::array({Json({{"reply", "```cuda\n" + std::string(kCandidate)}, {"finish_reason", "length"}}),
                                Json({{"reply", Code(kCandidate)}})})},
           {"down", One({{"status", 404}, {"body", "no such model"}})},
           {"code", One({{"reply", Code(kCandidate)}})}});
  RunningGateway gateway(server, Model("cut", "cut", ", max_output_tokens: 1000") +
                                     Model("down", "down", ", fallback_unavailable: [helps]") + Model("helps", "code"));
  v1::ImplementIdeaRequest request = ImplementRequest(1);
  request.mutable_call()->add_models("cut");
  v1::Implementation one = gateway.Implement(request).at(0);
  CHECK(one.status() == "ok");
  REQUIRE(one.earlier_calls_size() == 1);
  CHECK(one.earlier_calls(0).finish_reason() == "length");
  CHECK(server.RequestsOf("cut")[1]["body"]["max_completion_tokens"] == 2000);

  request.mutable_call()->set_models(0, "down");
  one = gateway.Implement(request).at(0);
  CHECK(one.status() == "ok");
  CHECK(one.call().model() == "helps");
  REQUIRE(one.earlier_calls_size() == 1);
  CHECK(one.earlier_calls(0).model() == "down");
  CHECK(one.earlier_calls(0).error_class() == "not_found");
}

TEST_CASE("ideas too close to earlier ones of the same parent are asked for again, once", "[grpc]") {
  const char kKnown[] = R"({"title": "Keep each row in registers", "category": "memory_access",
      "hypothesis": "a row is read once from memory and kept in registers"})";
  const char kFresh[] = R"({"title": "Overlap loads with cp.async", "category": "async_latency",
      "hypothesis": "the next tile is fetched while this one is worked on"})";
  const char kOther[] = R"({"title": "Sum with tensor cores", "category": "compute",
      "hypothesis": "mma with a matrix of ones sums sixteen rows at once"})";
  const std::string first = std::string("[") + kKnown + "," + kFresh + "]";
  FakeModelServer server(
      Json{{"learns", Json::array({Json({{"reply", first}}), Json({{"reply", std::string("[") + kOther + "]"}})})},
           {"stubborn", One({{"reply", std::string("[") + kKnown + "]"}})}});
  RunningGateway gateway(server, Model("learns", "learns") + Model("stubborn", "stubborn"));
  v1::ProposeIdeasRequest request;
  *request.mutable_context() = LayerNormContext();
  request.mutable_parent()->set_candidate_id("c1");
  request.mutable_parent()->set_source(kCandidate);
  v1::TriedIdea& tried = *request.add_tried();
  tried.set_parent_candidate_id("c1");
  tried.mutable_idea()->set_title("Keep every row in registers");
  tried.mutable_idea()->set_category("memory_access");
  tried.mutable_idea()->set_hypothesis("a row is read once from memory and kept in registers");
  tried.set_outcome("ok");
  tried.set_ratio_to_parent(0.98);
  request.set_count(2);
  request.mutable_call()->add_models("learns");
  v1::ProposeIdeasReply reply = Propose(gateway, request);
  REQUIRE(reply.ideas_size() == 2);
  CHECK(reply.ideas(0).title() == "Overlap loads with cp.async");
  CHECK(reply.ideas(1).title() == "Sum with tensor cores");
  CHECK(reply.calls_size() == 2);
  CHECK(reply.shortfall().empty());
  REQUIRE(server.RequestsOf("learns").size() == 2);
  const Json again = server.RequestsOf("learns")[1]["body"]["messages"];
  CHECK_THAT(again[1]["content"].get<std::string>(), Contains("Keep each row in registers"));
  CHECK(again[0] == server.RequestsOf("learns")[0]["body"]["messages"][0]);

  request.set_count(1);
  request.mutable_call()->set_models(0, "stubborn");
  reply = Propose(gateway, request);
  CHECK(server.RequestsOf("stubborn").size() == 2);  // once again, not for ever
  CHECK(reply.ideas_size() == 1);                    // better than none
  CHECK(reply.calls_size() == 2);
}

TEST_CASE("with novelty_by a model's embeddings tell which ideas are too close", "[grpc]") {
  FakeModelServer server(
      Json{{"ideas", Json::array({Json({{"reply", R"([{"title": "Other words", "category": "compute"}])"}}),
                                  Json({{"reply", R"([{"title": "Something new", "category": "compute"}])"}})})},
           {"vectors",
            One({{"vectors", {{"Old idea", {1, 0}}, {"Other words", {0.99, 0.05}}, {"Something new", {0, 1}}}}})}});
  RunningGateway gateway(server,
                         Model("a", "ideas", ", price: {input: 0, output: 0}") +
                             Model("e", "vectors", ", embedding_model: small, embedding_price: 3"),
                         "", "novelty_by: e\n");
  v1::ProposeIdeasRequest request;
  *request.mutable_context() = LayerNormContext();
  request.mutable_parent()->set_candidate_id("c1");
  request.mutable_parent()->set_source(kCandidate);
  v1::TriedIdea& tried = *request.add_tried();
  tried.set_parent_candidate_id("c1");
  tried.mutable_idea()->set_title("Old idea");
  tried.mutable_idea()->set_category("compute");
  tried.set_outcome("ok");
  request.set_count(1);
  request.mutable_call()->add_models("a");
  const v1::ProposeIdeasReply reply = Propose(gateway, request);
  REQUIRE(reply.ideas_size() == 1);
  CHECK(reply.ideas(0).title() == "Something new");
  CHECK(server.RequestsOf("vectors").back()["body"]["model"] == "small");
  REQUIRE(reply.calls_size() == 4);  // each answer, and what telling its ideas apart took
  double embeddings_usd = 0, usd = 0;
  for (int i = 0; i < 4; ++i) {
    const v1::ModelCall& call = reply.calls(i);
    usd += call.usd();
    if (i % 2 == 0) continue;
    CHECK(call.model() == "e");
    CHECK(call.prompt_version() == "embedding");
    CHECK(call.input_tokens() > 0);
    CHECK(call.estimated());  // this server does not count
    CHECK(call.usd() == Approx(static_cast<double>(call.input_tokens()) * 3e-6));
    embeddings_usd += call.usd();
  }
  CHECK(embeddings_usd > 0);
  CHECK(usd == Approx(embeddings_usd));  // the other model is free

  // Where the request's money does not reach, ideas are taken as they are.
  request.mutable_call()->set_max_usd(1e-9);
  const size_t asked = server.RequestsOf("vectors").size();
  CHECK(Propose(gateway, request).ideas_size() == 1);
  CHECK(server.RequestsOf("vectors").size() == asked);

  // Without a price of its own the one that is listed.
  RunningGateway listed(server, Model("e", "vectors", ", embedding_model: text-embedding-3-small"));
  const PooledModel& model = *listed.parts().models->Find("e");
  REQUIRE(model.embedding_price.has_value());
  CHECK(model.embedding_price->input == 0.02);
  CHECK(model.embedding_price_id != "gateway.yaml");
}

}  // namespace
}  // namespace warpsmith::gateway
