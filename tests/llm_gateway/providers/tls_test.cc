// Every provider's format over TLS: the server's certificate is checked before a key is sent.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "tests/llm_gateway/providers/model_testing.h"
#include "tests/llm_gateway/providers/scripted_answers.h"
#include "tests/llm_gateway/support/fake_model_server.h"
#include "tests/support/certificates.h"

namespace warpsmith::gateway {
namespace {

struct Authority {
  testing::Authority authority;
  // One file with certificate and key.
  std::string Pem(const std::string& name, const std::string& names = "DNS:localhost,IP:127.0.0.1") {
    const testing::CertificateFiles files = authority.Make(name, names);
    const std::string path = authority.folder() + "/" + name + ".both.pem";
    REQUIRE(WriteFileAtomically(path, ReadFile(files.certificate).value() + ReadFile(files.key).value()).ok());
    return path;
  }
};

TEST_CASE("each provider is asked over TLS, and only a server that is who it says gets the key", "[http]") {
  setenv("WARPSMITH_TEST_KEY", kTestKey, 1);
  Authority ours;
  const std::string good = ours.Pem("good"), elsewhere = ours.Pem("elsewhere", "DNS:other.example");
  const Json answers = {{"good", GoodBut(Json::object())}, {"chat", Json::array({{{"reply", kAnswerText}}})}};
  struct Server {
    FakeModelServer formats, chat;
    Server(const Json& scenarios, const std::string& pem)
        : formats(scenarios, {"--certificate", pem}, "tests/llm_gateway/support/fake_provider_server.py"),
          chat(scenarios, {"--certificate", pem}) {}
  } right(answers, good), wrong(answers, elsewhere);
  for (const char* provider : {"openai", "anthropic", "gemini", "openai_compatible"}) {
    INFO(provider);
    const bool chat = provider == std::string("openai_compatible");
    const auto config_of = [&](const Server& server) {
      const FakeModelServer& of = chat ? server.chat : server.formats;
      ModelConfig config =
          TestModel(provider, "https://127.0.0.1:" + std::to_string(of.port()) + (chat ? "/chat" : "/good") +
                                  (provider == std::string("gemini") ? "/v1beta" : "/v1"));
      config.ca_file = ours.authority.ca();
      config.api_key_env = "WARPSMITH_TEST_KEY";
      return config;
    };
    const Completion completion = Ask(config_of(right));
    INFO(completion.message);
    CHECK(completion.ok());
    CHECK(completion.text == kAnswerText);
    const Completion refused = Ask(config_of(wrong));
    CHECK(Name(refused.error) == Name(ErrorClass::kTls));
    CHECK(refused.tries == 1);
    ModelConfig unknown = config_of(right);
    unknown.ca_file.clear();
    CHECK(Name(Ask(unknown).error) == Name(ErrorClass::kTls));
    ModelConfig plain = config_of(right);
    plain.base_url.replace(0, 5, "http");
    plain.api_key_env.clear();
    plain.tries = 1;
    plain.first_byte_seconds = 5;
    CHECK_FALSE(Ask(plain).ok());
  }
  unsetenv("WARPSMITH_TEST_KEY");
}

}  // namespace
}  // namespace warpsmith::gateway
