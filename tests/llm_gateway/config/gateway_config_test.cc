#include "llm_gateway/config/gateway_config.h"

#include <catch2/catch.hpp>
#include <cstdlib>

#include "common/file.h"
#include "llm_gateway/config/reloading_key.h"

namespace warpsmith::gateway {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

TEST_CASE("a whole configuration is read", "[unit]") {
  auto config = ParseConfig(R"(
models:
  - name: big
    provider: openai_compatible
    base_url: https://models.example/v1/
    model: big-1
    api_key_env: BIG_KEY
    max_output_tokens: 32000
    temperature: 0.7
    reasoning_effort: high
    idle_seconds: 12.5
    tries: 2
    extra_body: {top_k: 20, stop: ["a", "b"], note: "7", nested: {on: true}}
  - {name: script, provider: command, command: [/bin/cat, -u], pass_environment: [MODEL_HOME], total_seconds: 5}
  - {name: catalog, provider: catalog}
)",
                            "gateway.yaml");
  REQUIRE(config.ok());
  REQUIRE(config->models.size() == 3);
  const ModelConfig& big = config->models[0];
  CHECK(big.base_url == "https://models.example/v1");
  CHECK(big.place == "gateway.yaml:3: models[0]");
  CHECK(big.max_output_tokens == 32000);
  CHECK(big.temperature == 0.7);
  CHECK(big.idle_seconds == 12.5);
  CHECK(big.total_seconds == 1200);
  CHECK(big.extra_body == Json::parse(R"({"top_k": 20, "stop": ["a", "b"], "note": "7", "nested": {"on": true}})"));
  CHECK(config->models[1].command == std::vector<std::string>{"/bin/cat", "-u"});
  CHECK(config->models[1].total_seconds == 5);
}

TEST_CASE("every provider's fields are read", "[unit]") {
  auto config = ParseConfig(R"(
max_usd_per_day: 12.5
prices_file: /etc/prices.yaml
prompt_variants: [default, terse]
models:
  - name: o3
    provider: openai
    model: o3
    reasoning_effort: high
    efforts: [low, medium, high]
    background: true
    max_output_tokens: 32000
    most_output_tokens: 64000
    requests_per_minute: 500
    tokens_per_minute: 2e6
    concurrency: 100
    fallback_unavailable: [claude, gemini]
    fallback_context: [gemini]
    fallback_refused: [local]
    price: {input: 2, cached_input: 0.5, output: 8}
  - {name: claude, provider: anthropic, model: claude-x, api_key_file: /run/key, thinking_budget: 16000}
  - {name: gemini, provider: gemini, model: gemini-x, thinking_budget: -1, structured_output: false, price_name: other}
  - {name: local, provider: openai_compatible, base_url: "http://127.0.0.1:8000/v1", model: m}
  - {name: recorded, provider: recorded, recording: /data/calls.jsonl, upstream: o3}
)",
                            "gateway.yaml");
  INFO(Message(config.status()));
  REQUIRE(config.ok());
  CHECK(config->max_usd_per_day == 12.5);
  CHECK(config->prices_file == "/etc/prices.yaml");
  CHECK(config->prompt_variants == std::vector<std::string>{"default", "terse"});
  const ModelConfig& o3 = config->models[0];
  CHECK(o3.base_url == "https://api.openai.com/v1");
  CHECK(o3.api_key_env == "OPENAI_API_KEY");
  CHECK(o3.efforts == std::vector<std::string>{"low", "medium", "high"});
  CHECK(o3.background);
  CHECK(o3.most_output_tokens == 64000);
  CHECK(o3.tokens_per_minute == 2e6);
  CHECK(o3.fallback_unavailable == std::vector<std::string>{"claude", "gemini"});
  REQUIRE(o3.price.has_value());
  CHECK(o3.price->cached_input == 0.5);
  CHECK(o3.price->cache_write_5m == 2);  // as other input
  CHECK(o3.price->reasoning == 8);       // as other output
  CHECK(config->models[1].base_url == "https://api.anthropic.com/v1");
  CHECK(config->models[1].api_key_env.empty());
  CHECK(config->models[1].thinking_budget == 16000);
  CHECK(config->models[2].base_url == "https://generativelanguage.googleapis.com/v1beta");
  CHECK(config->models[2].api_key_env == "GEMINI_API_KEY");
  CHECK(config->models[2].thinking_budget == -1);
  CHECK_FALSE(config->models[2].structured_output);
  CHECK(config->models[2].price_name == "other");
  CHECK(config->models[3].api_key_env.empty());
  CHECK(config->models[4].upstream == "o3");
  CHECK(DefaultConfig().models.size() == 1);
  CHECK(DefaultConfig().models[0].provider == "catalog");
}

TEST_CASE("files named by relative paths lie beside the configuration", "[unit]") {
  auto folder = TemporaryDirectory::Create("config").value();
  const std::string path = folder.path() / "gateway.yaml";
  REQUIRE(WriteFileAtomically(path, "models:\n  - {name: a, provider: openai, model: x, api_key_file: keys/openai}\n")
              .ok());
  CHECK(LoadConfig(path)->models[0].api_key_file == (folder.path() / "keys/openai").string());
}

TEST_CASE("fields of other providers and references to what is not there are errors", "[unit]") {
  const auto said = [](const std::string& lines) {
    auto config = ParseConfig("models:\n  - {name: c, provider: catalog}\n  - {name: a, " + lines + "}\n", "g.yaml");
    return config.ok() ? std::string("ok") : Message(config.status());
  };
  const std::string openai = "provider: openai, model: x";
  CHECK(said(openai) == "ok");
  CHECK_THAT(said(openai + ", fallback_unavailable: [gone]"),
             StartsWith("g.yaml:3: models[1].fallback_unavailable") && Contains("\"gone\"") && Contains("a, c"));
  CHECK_THAT(said(openai + ", fallback_context: [a]"), Contains("itself"));
  CHECK_THAT(said(openai + ", fallback_refused: [c]"), Contains("catalog"));
  CHECK_THAT(said("provider: recorded, recording: r, upstream: gone"), Contains("models[1].upstream"));
  CHECK_THAT(said("provider: recorded, upstream: c"), Contains("models[1].recording: is missing"));
  CHECK_THAT(said("provider: gemini, model: x, background: true"), Contains("models[1].background: no such field"));
  CHECK_THAT(said(openai + ", thinking_budget: 2000"), Contains("thinking_budget: no such field"));
  CHECK_THAT(said(openai + ", max_tokens_field: max_tokens"), Contains("no such field"));
  CHECK_THAT(said(openai + ", key_header: api-key"), Contains("no such field"));
  const std::string compatible = "provider: openai_compatible, base_url: \"https://x.example/v1\", model: x";
  CHECK(said(compatible + ", key_header: api-key, embedding_model: small") == "ok");
  CHECK_THAT(said(compatible + ", key_header: cookie"), Contains("models[1].key_header") && Contains("api-key"));
  CHECK_THAT(said("provider: gemini, model: x, embedding_model: small"), Contains("no such field"));
  CHECK_THAT(said("provider: anthropic, model: x, thinking_budget: 500"), Contains("1024"));
  CHECK_THAT(said("provider: anthropic, model: x, thinking_budget: 9000, max_output_tokens: 8000"),
             Contains("8000 here"));
  CHECK_THAT(said(openai + ", max_output_tokens: 10, most_output_tokens: 5"), Contains("below max_output_tokens"));
  CHECK_THAT(said(openai + ", price: {input: 1}"), StartsWith("g.yaml:3: models[1].price.output: is missing"));
  CHECK_THAT(said(openai + ", price: {input: 1, output: 2, inptu: 3}"),
             Contains("models[1].price.inptu: no such field"));
  CHECK_THAT(said(openai + ", price: {input: 1, output: 2}, price_name: o3"), Contains("keep one"));
  CHECK_THAT(said(openai + ", efforts: [low, low]"), Contains("efforts"));
  CHECK_THAT(said(openai + ", reasoning_effort: \"very high\""), Contains("reasoning_effort"));
  CHECK_THAT(said(openai + ", extra_body: {input: x}"), Contains("extra_body.input"));
  CHECK_THAT(said(openai + ", requests_per_minute: -1"), Contains("requests_per_minute"));
  for (const char* head :
       {"max_usd_per_day: -1\n", "prompt_variants: [../x]\n", "prompt_variants: [a, a]\n", "max_usd_per_hour: 3\n"}) {
    CHECK_FALSE(ParseConfig(std::string(head) + "models: [{name: c, provider: catalog}]\n", "g.yaml").ok());
  }
}

TEST_CASE("a key that changes is read again, and a broken change keeps the old one", "[unit]") {
  auto folder = TemporaryDirectory::Create("keys").value();
  ModelConfig model;
  model.name = "m";
  model.place = "g.yaml:2: models[0]";
  CHECK(ReloadingKey(model).Get()->empty());
  model.api_key_file = folder.path() / "key";
  ReloadingKey key(model);
  CHECK_FALSE(key.Get().ok());
  REQUIRE(WriteFileAtomically(model.api_key_file, "sk-first").ok());
  CHECK(key.Get()->Reveal() == "sk-first");
  CHECK(key.Problem().ok());
  REQUIRE(WriteFileAtomically(model.api_key_file, "sk-other").ok());  // of the same length
  CHECK(key.Get()->Reveal() == "sk-other");
  REQUIRE(WriteFileAtomically(model.api_key_file, "not a key").ok());
  CHECK(key.Get()->Reveal() == "sk-other");
  CHECK_THAT(Message(key.Problem()), Contains("one line") && !Contains("not a key"));
  std::filesystem::remove(model.api_key_file);
  CHECK(key.Get()->Reveal() == "sk-other");
  CHECK_FALSE(key.Problem().ok());
  REQUIRE(WriteFileAtomically(model.api_key_file, "sk-third").ok());
  key.Reload();
  CHECK(key.Problem().ok());
  CHECK(key.Get()->Reveal() == "sk-third");
}

TEST_CASE("what is wrong is said with line, field and remedy", "[unit]") {
  struct Row {
    const char* text;
    std::vector<const char*> said;
  };
  const std::string head = "models:\n  - name: m\n    provider: openai_compatible\n    model: x\n";
  for (const Row& row : {
           Row{"", {"g.yaml:", "fields"}},
           {"models: []", {"g.yaml:1: models", "at least one"}},
           {"modles: []", {"g.yaml:1: modles: no such field", "models"}},
           {"models:\n  - {name: a, provider: magic}", {"g.yaml:2: models[0].provider", "magic", "openai_compatible"}},
           {"models:\n  - {provider: catalog}", {"models[0].name: is missing"}},
           {"models:\n  - {name: a, provider: catalog}\n  - {name: a, provider: catalog}",
            {"g.yaml:3: models[1].name", "must differ"}},
           {"models:\n  - {name: a, provider: catalog, base_url: x}", {"models[0].base_url: no such field"}},
           {"models:\n  - {name: a, provider: command}", {"models[0].command: is missing"}},
           {"models:\n  - {name: a b, provider: catalog}", {"models[0].name: must be"}},
           {"models:\n  - name: a\n    name: b", {"g.yaml:3", "twice"}},
           {"models: [", {"g.yaml:", "not YAML"}},
           {"models:\n  - just text", {"g.yaml:2: models[0]", "fields"}},
           {(head.c_str()), {"models[0].base_url: is missing"}},
       }) {
    auto config = ParseConfig(row.text, "g.yaml");
    REQUIRE_FALSE(config.ok());
    for (const char* words : row.said) CHECK_THAT(Message(config.status()), Contains(words));
  }
  auto with = [&](const std::string& lines) {
    auto config = ParseConfig(head + lines, "g.yaml");
    return config.ok() ? std::string("ok") : Message(config.status());
  };
  CHECK(with("    base_url: http://127.0.0.1:1/v1\n    api_key_env: K\n") == "ok");
  CHECK_THAT(with("    base_url: http://models.example/v1\n    api_key_env: K\n"),
             StartsWith("g.yaml:5: models[0].base_url") && Contains("unencrypted"));
  CHECK(with("    base_url: http://models.example/v1\n") == "ok");
  CHECK_THAT(with("    base_url: ftp://models.example/v1\n"), Contains("https://"));
  CHECK_THAT(with("    base_url: https://user:pass@models.example/v1\n"), Contains("must hold no user"));
  CHECK_THAT(with("    base_url: https://models.example/v1\n    tries: 0\n"),
             StartsWith("g.yaml:6: models[0].tries") && Contains("from 1 to 20"));
  CHECK_THAT(with("    base_url: https://models.example/v1\n    tries: 1.5\n"), Contains("whole number"));
  CHECK_THAT(with("    base_url: https://models.example/v1\n    tries: many\n"), Contains("\"many\" is not a number"));
  CHECK_THAT(with("    base_url: https://models.example/v1\n    enabled: maybe\n"), Contains("neither true nor false"));
  CHECK_THAT(with("    base_url: https://models.example/v1\n    extra_body: {stream: false}\n"),
             Contains("extra_body.stream"));
  CHECK_THAT(with("    base_url: https://models.example/v1\n    max_tokens_field: tokens\n"),
             Contains("max_completion_tokens"));
  CHECK_THAT(with("    base_url: https://models.example/v1\n    api_key_env: A\n    api_key_file: /b\n"),
             Contains("keep one"));
}

TEST_CASE("a key written into the file is refused without repeating it", "[unit]") {
  const std::string head =
      "models:\n  - name: m\n    provider: openai_compatible\n    model: x\n    base_url: https://models.example/v1\n";
  auto config = ParseConfig(head + "    api_key: sk-very-secret-value\n", "g.yaml");
  REQUIRE_FALSE(config.ok());
  CHECK_THAT(Message(config.status()),
             Contains("g.yaml:6: models[0].api_key") && Contains("api_key_file") && !Contains("secret"));
  config = ParseConfig(head + "    api_key_env: sk-very-secret-value\n", "g.yaml");
  REQUIRE_FALSE(config.ok());
  CHECK_THAT(Message(config.status()), Contains("not the key itself") && !Contains("secret"));
}

TEST_CASE("keys come from files and variables, and problems never show them", "[unit]") {
  auto folder = TemporaryDirectory::Create("keys").value();
  ModelConfig model;
  model.place = "g.yaml:2: models[0]";
  CHECK(KeyOf(model)->empty());
  model.api_key_file = folder.path() / "key";
  CHECK_THAT(Message(KeyOf(model).status()), Contains("models[0].api_key_file"));
  REQUIRE(WriteFileAtomically(model.api_key_file, "  sk-12345678901234567890\r\n\n").ok());
  CHECK(KeyOf(model)->Reveal() == "sk-12345678901234567890");
  REQUIRE(WriteFileAtomically(model.api_key_file, "sk-first\nX-Evil: sk-second").ok());
  CHECK_THAT(Message(KeyOf(model).status()), Contains("one line") && !Contains("sk-"));
  REQUIRE(WriteFileAtomically(model.api_key_file, "\n").ok());
  CHECK_THAT(Message(KeyOf(model).status()), Contains("empty"));

  model.api_key_file.clear();
  model.api_key_env = "WARPSMITH_TEST_KEY";
  unsetenv("WARPSMITH_TEST_KEY");
  CHECK_THAT(Message(KeyOf(model).status()), Contains("WARPSMITH_TEST_KEY is not set"));
  setenv("WARPSMITH_TEST_KEY", "sk-abcdefghijklmnopqrstuvwxyz", 1);
  auto key = KeyOf(model);
  REQUIRE(key.ok());
  CHECK(key->Redact("got sk-abcdefghijklmnopqrstuvwxyz!") == "got [redacted]!");
  CHECK(key->Redact("got sk-abcde*****************wxyz!") == "got [redacted]*********************!");
  CHECK(key->Redact("nothing here") == "nothing here");
}

TEST_CASE("novelty by embeddings needs a model that makes them", "[unit]") {
  const auto with = [](const std::string& head, const std::string& more) {
    return ParseConfig(head + "models:\n  - {name: a, provider: openai, model: x" + more + "}\n", "g.yaml");
  };
  const auto config = with("novelty_by: a\nnovelty_threshold: 0.8\n", ", embedding_model: small");
  REQUIRE(config.ok());
  CHECK(config->novelty_by == "a");
  CHECK(config->novelty_threshold == 0.8);
  CHECK(config->models[0].embedding_model == "small");
  CHECK_FALSE(config->models[0].embedding_price);
  CHECK(with("", ", embedding_model: small, embedding_price: 0.02")->models[0].embedding_price == 0.02);
  CHECK_THAT(Message(with("", ", embedding_price: 0.02").status()), Contains("embedding_price"));
  CHECK_THAT(Message(with("novelty_by: a\n", "").status()),
             StartsWith("g.yaml: novelty_by") && Contains("embedding_model") && Contains("none"));
  CHECK_THAT(Message(with("novelty_by: b\n", ", embedding_model: small").status()), Contains("there are: a"));
  CHECK_THAT(Message(with("novelty_threshold: 0.8\n", "").status()), Contains("novelty_by"));
  CHECK_THAT(Message(with("novelty_by: a\nnovelty_threshold: 2\n", ", embedding_model: small").status()),
             Contains("novelty_threshold"));
}

}  // namespace
}  // namespace warpsmith::gateway
