#include <catch2/catch.hpp>
#include <map>

#include "tests/llm_gateway/service/running_gateway.h"
#include "tests/llm_gateway/support/sample_problem.h"

namespace warpsmith::gateway {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("each model is asked one tiny question, and what is wrong is said", "[grpc]") {
  FakeModelServer server(Json{
      {"fine", One({{"reply", "ready"},
                    {"headers", {{"x-ratelimit-limit-requests", "500"}, {"x-ratelimit-remaining-tokens", "29990"}}},
                    {"usage", {{"prompt_tokens", 20}, {"completion_tokens", 1}, {"total_tokens", 21}}}})},
      {"down", One({{"status", 404}, {"body", "no such model"}})}});
  RunningGateway gateway(server, Model("good", "fine", ", price: {input: 10, output: 20}, efforts: [low, high]") +
                                     Model("bad", "down", ", fallback_unavailable: [good]") +
                                     "  - {name: keyless, provider: openai, model: o3, api_key_env: WARPSMITH_NO_KEY}\n"
                                     "  - {name: recipes, provider: catalog}\n");
  grpc::ClientContext context;
  auto reader = gateway.stub().CheckModels(&context, {});
  std::map<std::string, v1::ModelCheck> checks;
  for (v1::ModelCheck check; reader->Read(&check);) checks[check.model().name()] = check;
  CHECK(reader->Finish().ok());
  REQUIRE(checks.size() == 4);
  const v1::ModelCheck& good = checks["good"];
  CHECK(good.ok());
  CHECK(good.seconds() > 0);
  CHECK(good.first_byte_seconds() > 0);
  CHECK(good.limit_requests() == 500);
  CHECK(good.remaining_tokens() == 29990);
  CHECK(good.limit_tokens() == -1);
  CHECK(good.call().usd() == Approx(0.00022));
  CHECK_FALSE(checks["bad"].ok());  // its fallback is not asked in its place
  CHECK_THAT(checks["bad"].error(), Contains("404"));
  CHECK(checks["bad"].call().error_class() == "not_found");
  CHECK_FALSE(checks["keyless"].ok());
  CHECK_THAT(checks["keyless"].error(), Contains("WARPSMITH_NO_KEY"));
  CHECK(checks["recipes"].ok());
  REQUIRE(server.RequestsOf("fine").size() == 1);
  const Json body = server.RequestsOf("fine")[0]["body"];
  CHECK(body["reasoning_effort"] == "low");
  CHECK(body["max_completion_tokens"] <= 2048);
  CHECK(body.dump().size() < 1000);

  v1::CheckModelsRequest one;
  one.add_models("good");
  grpc::ClientContext second;
  reader = gateway.stub().CheckModels(&second, one);
  v1::ModelCheck check;
  CHECK(reader->Read(&check));
  CHECK_FALSE(reader->Read(&check));
  one.add_models("unheard");
  grpc::ClientContext third;
  reader = gateway.stub().CheckModels(&third, one);
  CHECK_FALSE(reader->Read(&check));
  CHECK_THAT(reader->Finish().error_message(), Contains("unheard"));
}

TEST_CASE("an estimate counts prompts and prices, and calls nobody", "[grpc]") {
  FakeModelServer server(Json{{"code", One({{"reply", "x"}})}});
  RunningGateway gateway(
      server,
      Model("dear", "code", ", price: {input: 10, output: 40}, max_output_tokens: 8000, reasoning_effort: low") +
          Model("free", "code", ", price: {input: 0, output: 0}") + Model("unknown", "code"));
  v1::EstimateRequest request;
  *request.mutable_context() = LayerNormContext();
  request.add_models("dear");
  request.set_propose_calls(10);
  request.set_ideas_per_call(3);
  request.set_implement_calls(90);
  request.set_repair_calls(30);
  const auto estimate = [&] {
    grpc::ClientContext context;
    v1::EstimateReply reply;
    const grpc::Status status = gateway.stub().Estimate(&context, request, &reply);
    INFO(status.error_message());
    REQUIRE(status.ok());
    return reply;
  };
  const v1::EstimateReply dear = estimate();
  REQUIRE(dear.models_size() == 1);
  CHECK(dear.input_tokens() > 130 * 2000);
  CHECK(dear.output_tokens() > 120 * 3000);
  CHECK(dear.output_tokens() <= 130 * 8000);
  CHECK(dear.usd() ==
        Approx((10.0 * static_cast<double>(dear.input_tokens()) + 40.0 * static_cast<double>(dear.output_tokens())) /
               1e6));
  CHECK(dear.most_usd() > 130 * 24000 * 40 / 1e6);  // a cap of 8,000, and 16,000 when asked again
  CHECK_FALSE(dear.notes().empty());
  CHECK(server.Requests().empty());

  request.set_implement_calls(180);
  CHECK(estimate().usd() > 1.5 * dear.usd());
  request.set_implement_calls(90);
  request.clear_models();
  const v1::EstimateReply all = estimate();
  REQUIRE(all.models_size() == 3);
  CHECK(all.usd() == Approx(dear.usd() / 3).epsilon(0.01));
  CHECK_THAT(all.notes(0), Contains("unknown"));
  request.set_implement_calls(-1);
  grpc::ClientContext context;
  v1::EstimateReply reply;
  CHECK(gateway.stub().Estimate(&context, request, &reply).error_code() == grpc::StatusCode::INVALID_ARGUMENT);
}

}  // namespace
}  // namespace warpsmith::gateway
