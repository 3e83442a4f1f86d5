#include <catch2/catch.hpp>
#include <csignal>

#include "common/child_process.h"
#include "common/file.h"
#include "common/grpc_channel.h"
#include "common/run_child.h"
#include "tests/llm_gateway/support/fake_model_server.h"
#include "tests/llm_gateway/support/sample_problem.h"
#include "warpsmith/v1/gateway.grpc.pb.h"

namespace warpsmith::gateway {
namespace {

using Catch::Matchers::Contains;

const std::string kProgram = WARPSMITH_BINARY_DIR "/bin/warpsmith-gateway";

ChildExit RunProgram(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), kProgram);
  ChildOptions options;
  options.arguments = std::move(arguments);
  return RunChild(options, "", std::chrono::seconds(30)).value();
}

TEST_CASE("the program explains itself", "[program]") {
  ChildExit help = RunProgram({"--help"});
  CHECK(help.exit_code == 0);
  CHECK_THAT(help.standard_output, Contains("--config") && Contains("Example:") && Contains("api_key_env"));
  CHECK(RunProgram({"--no-such-flag"}).exit_code != 0);
}

TEST_CASE("bad starts end with the reason", "[program]") {
  auto folder = TemporaryDirectory::Create("gateway").value();
  std::string config = folder.path() / "gateway.yaml";
  ChildExit exit = RunProgram({"--config", config});
  CHECK(exit.exit_code == 1);
  CHECK_THAT(exit.standard_error, Contains(config));
  REQUIRE(WriteFileAtomically(config, "models:\n  - {name: a, provider: magic}\n").ok());
  exit = RunProgram({"--config", config});
  CHECK(exit.exit_code == 1);
  CHECK_THAT(exit.standard_error, Contains("gateway.yaml:2: models[0].provider"));
  CHECK(RunProgram({"--listen", "192.0.2.1:0"}).exit_code == 1);
}

// The program with a configuration, until its test ends.
class Program {
 public:
  explicit Program(const std::string& models, const std::vector<std::string>& more = {})
      : folder_(TemporaryDirectory::Create("gateway").value()) {
    const std::string config = folder_.path() / "gateway.yaml", port_file = folder_.path() / "port";
    REQUIRE(WriteFileAtomically(config, "models:\n" + models).ok());
    ChildOptions options;
    options.arguments = {kProgram, "--listen", "127.0.0.1:0", "--port-file", port_file, "--config", config};
    options.arguments.insert(options.arguments.end(), more.begin(), more.end());
    options.merge_stderr = true;
    child_ = ChildProcess::Start(options).value();
    std::string port;
    for (int i = 0; i < 500 && port.empty(); ++i) {
      auto text = ReadFile(port_file);
      if (text.ok()) port = text->substr(0, text->find('\n'));
      RealClock().SleepFor(std::chrono::milliseconds(20));
    }
    REQUIRE_FALSE(port.empty());
    channel_ = ConnectTo("127.0.0.1:" + port);
    stub_ = v1::GatewayService::NewStub(channel_);
  }
  v1::GatewayService::Stub& stub() { return *stub_; }
  ChildProcess& child() { return *child_; }
  // All that it wrote; once it has ended.
  std::string Log() {
    std::string log;
    for (auto line = child_->ReadLine(std::chrono::seconds(1)); line.ok();
         line = child_->ReadLine(std::chrono::seconds(1)))
      log += *line + "\n";
    return log;
  }

 private:
  TemporaryDirectory folder_;
  std::unique_ptr<ChildProcess> child_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::GatewayService::Stub> stub_;
};

std::string KeyedModel(const std::string& url, const std::string& key) {
  return "  - {name: a, provider: openai_compatible, model: x, tries: 1, base_url: \"" + url + "\", api_key_file: \"" +
         key + "\"}\n";
}

v1::ImplementIdeaRequest Request(int count) {
  v1::ImplementIdeaRequest request;
  *request.mutable_context() = LayerNormContext();
  request.mutable_idea()->set_title("An idea");
  request.set_count(count);
  return request;
}

TEST_CASE("it serves, and ends soon after SIGTERM though a call is hanging", "[program]") {
  FakeModelServer server(Json({{"hangs", Json::array({Json({{"reply", "x"}, {"stall_s", 60}})})}}));
  auto folder = TemporaryDirectory::Create("gateway").value();
  const std::string key = folder.path() / "key";
  REQUIRE(WriteFileAtomically(key, "sk-program-test-secret-key\n").ok());
  Program program(KeyedModel(server.BaseUrl("hangs"), key) + "  - {name: c, provider: catalog}\n",
                  {"--drain-seconds", "0.5", "--data-dir", folder.path() / "data"});
  grpc::ClientContext first;
  v1::ListModelsReply models;
  REQUIRE(program.stub().ListModels(&first, {}, &models).ok());
  CHECK(models.models_size() == 2);

  grpc::ClientContext context;
  auto reader = program.stub().ImplementIdea(&context, Request(2));
  for (int i = 0; i < 200 && server.RequestsOf("hangs").size() < 2; ++i)
    RealClock().SleepFor(std::chrono::milliseconds(25));
  TimePoint started = RealClock().Now();
  program.child().Kill(SIGTERM);
  v1::Implementation implementation;
  CHECK_FALSE(reader->Read(&implementation));
  CHECK_FALSE(reader->Finish().ok());
  auto exit = program.child().Wait(std::chrono::seconds(15));
  REQUIRE(exit.has_value());
  CHECK(exit->exit_code == 0);
  CHECK(ToSeconds(RealClock().Now() - started) < 6);
  CHECK_THAT(program.Log(), Contains("listens on") && Contains("1 calls") && !Contains("sk-program"));
  CHECK(std::filesystem::is_directory(folder.path() / "data" / "replies"));
}

TEST_CASE("calls under way end before it does, new ones are not taken", "[program]") {
  FakeModelServer server(Json({{"slow", Json::array({Json({{"reply", "@code"}, {"delay_s", 1}})})}}));
  auto folder = TemporaryDirectory::Create("gateway").value();
  const std::string key = folder.path() / "key";
  REQUIRE(WriteFileAtomically(key, "sk-program-test-secret-key\n").ok());
  Program program(KeyedModel(server.BaseUrl("slow"), key), {"--drain-seconds", "10"});
  grpc::ClientContext context;
  auto reader = program.stub().ImplementIdea(&context, Request(1));
  for (int i = 0; i < 200 && server.RequestsOf("slow").empty(); ++i)
    RealClock().SleepFor(std::chrono::milliseconds(25));
  program.child().Kill(SIGTERM);
  RealClock().SleepFor(std::chrono::milliseconds(200));
  grpc::ClientContext late;
  v1::ListModelsReply models;
  CHECK(program.stub().ListModels(&late, {}, &models).error_code() == grpc::StatusCode::UNAVAILABLE);
  v1::Implementation implementation;
  CHECK(reader->Read(&implementation));
  CHECK(reader->Finish().ok());
  auto exit = program.child().Wait(std::chrono::seconds(10));
  REQUIRE(exit.has_value());
  CHECK(exit->exit_code == 0);
}

TEST_CASE("keys are exchanged while it runs: a changed file is noticed, a broken one leaves the old key", "[program]") {
  FakeModelServer server(Json({{"code", Json::array({Json({{"reply", "@code"}})})}}),
                         {"--key", "sk-new-0123456789abcdef"});
  auto folder = TemporaryDirectory::Create("gateway").value();
  const std::string key = folder.path() / "key";
  REQUIRE(WriteFileAtomically(key, "sk-old-0123456789abcdef\n").ok());
  Program program(KeyedModel(server.BaseUrl("code"), key));
  const auto error_class = [&] {
    grpc::ClientContext context;
    auto reader = program.stub().ImplementIdea(&context, Request(1));
    v1::Implementation implementation;
    REQUIRE(reader->Read(&implementation));
    CHECK_THAT(implementation.message(), !Contains("sk-old") && !Contains("sk-new"));
    return implementation.call().error_class();
  };
  CHECK(error_class() == "authentication");
  REQUIRE(WriteFileAtomically(key, "sk-new-0123456789abcdef\n").ok());
  CHECK(error_class().empty());
  REQUIRE(WriteFileAtomically(key, "two words\n").ok());
  CHECK(error_class().empty());
  program.child().Kill(SIGHUP);
  RealClock().SleepFor(std::chrono::milliseconds(100));
  CHECK(error_class().empty());
  program.child().Kill(SIGTERM);
  REQUIRE(program.child().Wait(std::chrono::seconds(10)).has_value());
  CHECK_THAT(program.Log(), Contains("a new key is in use") && Contains("the old one stays in use") &&
                                Contains("reading all keys again") && !Contains("sk-") && !Contains("two words"));
}

}  // namespace
}  // namespace warpsmith::gateway
