#include "llm_gateway/config/gateway_config.h"

#include <catch2/catch.hpp>
#include <cstdlib>

#include "common/file.h"

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

}  // namespace
}  // namespace warpsmith::gateway
