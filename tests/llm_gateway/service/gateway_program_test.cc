
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

TEST_CASE("it serves, and ends soon after SIGTERM though a call is hanging", "[program]") {
  FakeModelServer server(Json({{"hangs", Json::array({Json({{"reply", "x"}, {"stall_s", 60}})})}}));
  auto folder = TemporaryDirectory::Create("gateway").value();
  std::string config = folder.path() / "gateway.yaml", port_file = folder.path() / "port", key = folder.path() / "key";
  REQUIRE(WriteFileAtomically(key, "sk-program-test-secret-key\n").ok());
  REQUIRE(WriteFileAtomically(config, "models:\n  - {name: a, provider: openai_compatible, model: x, base_url: \"" +
                                          server.BaseUrl("hangs") + "\", api_key_file: \"" + key +
                                          "\"}\n  - {name: c, provider: catalog}\n")
              .ok());
  ChildOptions options;
  options.arguments = {kProgram, "--listen", "127.0.0.1:0", "--port-file", port_file, "--config", config};
  options.merge_stderr = true;
  auto child = ChildProcess::Start(options).value();
  std::string port;
  for (int i = 0; i < 500 && port.empty(); ++i) {
    auto text = ReadFile(port_file);
    if (text.ok()) port = text->substr(0, text->find('\n'));
    RealClock().SleepFor(std::chrono::milliseconds(20));
  }
  REQUIRE_FALSE(port.empty());
  auto channel = ConnectTo("127.0.0.1:" + port);
  auto stub = v1::GatewayService::NewStub(channel);
  grpc::ClientContext first;
  v1::ListModelsReply models;
  REQUIRE(stub->ListModels(&first, {}, &models).ok());
  CHECK(models.models_size() == 2);

  grpc::ClientContext context;
  v1::ImplementIdeaRequest request;
  *request.mutable_context() = LayerNormContext();
  request.mutable_idea()->set_title("An idea");
  request.set_count(2);
  auto reader = stub->ImplementIdea(&context, request);
  for (int i = 0; i < 200 && server.RequestsOf("hangs").size() < 2; ++i)
    RealClock().SleepFor(std::chrono::milliseconds(25));
  TimePoint started = RealClock().Now();
  child->Kill(SIGTERM);
  v1::Implementation implementation;
  CHECK_FALSE(reader->Read(&implementation));
  CHECK_FALSE(reader->Finish().ok());
  auto exit = child->Wait(std::chrono::seconds(15));
  REQUIRE(exit.has_value());
  CHECK(exit->exit_code == 0);
  CHECK(ToSeconds(RealClock().Now() - started) < 8);
  std::string log;
  for (auto line = child->ReadLine(std::chrono::seconds(1)); line.ok(); line = child->ReadLine(std::chrono::seconds(1)))
    log += *line + "\n";
  CHECK_THAT(log, Contains("listens on") && !Contains("sk-program"));
}

}  // namespace
}  // namespace warpsmith::gateway
