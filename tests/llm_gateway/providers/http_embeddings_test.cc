#include "llm_gateway/providers/http_embeddings.h"

#include <catch2/catch.hpp>
#include <cstdlib>

#include "tests/llm_gateway/providers/model_testing.h"
#include "tests/llm_gateway/support/fake_model_server.h"

namespace warpsmith::gateway {
namespace {

using Catch::Matchers::Contains;

FakeModelServer& EmbeddingServer() {
  const auto body = [](const Json& value) { return Json::array({{{"body", value}}}); };
  static FakeModelServer server(Json{
      {"good", Json::array({{{"vectors", {{"one", {1, 0, 0.5}}, {"two", {0, 1, -2e-3}}}}}})},
      {"busy",
       Json::array({{{"status", 429}, {"body", {{"error", {{"message", std::string("slow down, ") + kTestKey}}}}}}})},
      {"few", body({{"data", {{{"index", 0}, {"embedding", {1, 2}}}}}})},
      {"twice", body({{"data", {{{"index", 0}, {"embedding", {1}}}, {{"index", 0}, {"embedding", {1}}}}}})},
      {"beyond", body({{"data", {{{"index", 5}, {"embedding", {1}}}}}})},
      {"words", body({{"data", {{{"index", 0}, {"embedding", {"a"}}}}}})},
      {"html", body("<html>")},
      {"counted", body({{"data", {{{"index", 0}, {"embedding", {1}}}, {{"index", 1}, {"embedding", {2}}}}},
                        {"usage", {{"prompt_tokens", 7}, {"total_tokens", 7}}}})},
      {"closed", Json::array({{{"close", true}}})}});
  return server;
}

EmbeddingAnswer Embed(const std::string& scenario, const std::string& key_header = "authorization") {
  static CurlTransport transport;
  ModelConfig config = TestModel("openai_compatible", EmbeddingServer().BaseUrl(scenario));
  config.embedding_model = "small-embeddings";
  config.key_header = key_header;
  config.api_key_env = "WARPSMITH_TEST_KEY";
  setenv("WARPSMITH_TEST_KEY", kTestKey, 1);
  HttpEmbeddings model(
      config, [config] { return KeyOf(config); }, transport);
  Cancellation cancellation;
  return model.Embed({"one", "two"}, cancellation);
}

TEST_CASE("all texts go in one request, and vectors come back in their order", "[http]") {
  const EmbeddingAnswer answer = Embed("good");
  REQUIRE(answer.status.ok());
  CHECK(answer.vectors == std::vector<std::vector<float>>{{1, 0, 0.5F}, {0, 1, -2e-3F}});
  const Json request = EmbeddingServer().RequestsOf("good").back();
  CHECK(request["path"] == "/good/v1/embeddings");
  CHECK(request["headers"]["authorization"] == std::string("Bearer ") + kTestKey);
  CHECK(request["body"] ==
        Json({{"model", "small-embeddings"}, {"input", {"one", "two"}}, {"encoding_format", "float"}}));
  REQUIRE(Embed("good", "api-key").status.ok());
  CHECK(EmbeddingServer().RequestsOf("good").back()["headers"]["api-key"] == kTestKey);
  CHECK_FALSE(EmbeddingServer().RequestsOf("good").back()["headers"].contains("authorization"));
}

TEST_CASE("what a server of embeddings does wrong is said, without the key", "[http]") {
  const absl::Status busy = Embed("busy").status;
  CHECK(busy.code() == absl::StatusCode::kUnavailable);
  CHECK_THAT(Message(busy), Contains("small-embeddings") && Contains("slow down") && !Contains("0123456789"));
  for (const char* scenario : {"few", "twice", "beyond", "words", "html"}) {
    INFO(scenario);
    CHECK(Embed(scenario).status.code() == absl::StatusCode::kInternal);
  }
  CHECK(Embed("closed").status.code() == absl::StatusCode::kUnavailable);
}

TEST_CASE("what embeddings took is told: as the server counts, or that it may have been billed", "[http]") {
  CHECK(Embed("counted").tokens == 7);
  CHECK(Embed("good").tokens == -1);
  CHECK(Embed("good").may_be_billed);
  CHECK(Embed("html").may_be_billed);
  CHECK(Embed("closed").may_be_billed);
  CHECK(Embed("busy").sent);
  CHECK_FALSE(Embed("busy").may_be_billed);  // refused
}

}  // namespace
}  // namespace warpsmith::gateway
