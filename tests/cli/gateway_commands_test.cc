#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>

#include "cli/exit_code.h"
#include "cli/search_calls.h"
#include "common/file.h"
#include "common/grpc_channel.h"
#include "common/json.h"
#include "tests/cli/printed.h"
#include "warpsmith/v1/gateway.grpc.pb.h"

namespace warpsmith::cli {
namespace {

using Catch::Matchers::Contains;

class Folder {
 public:
  Folder() : folder_(TemporaryDirectory::Create("cli-gateway").value()) {
    problem = Write("layer_norm.py", "class Model: pass\n");
    config = Write("gateway.yaml",
                   "models:\n"
                   "  - {name: fine, provider: command, command: [/bin/echo, ready], price: {input: 1, output: 10}}\n"
                   "  - {name: broken, provider: command, command: [/bin/false]}\n"
                   "  - {name: recipes, provider: catalog}\n");
  }
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = (folder_.path() / name).string();
    std::ofstream(path) << text;
    return path;
  }
  std::string path() const { return folder_.path().string(); }

  std::string problem;
  std::string config;

 private:
  TemporaryDirectory folder_;
};

// A fake gateway: what it answers is made up.
class FakeGateway final : public v1::GatewayService::Service {
 public:
  grpc::Status CheckModels(grpc::ServerContext*, const v1::CheckModelsRequest* request,
                           grpc::ServerWriter<v1::ModelCheck>* writer) override {
    v1::ModelCheck check;
    check.mutable_model()->set_name(request->models_size() > 0 ? request->models(0) : "remote\x1b[31m");
    check.set_ok(true);
    check.set_seconds(1.5);
    check.set_limit_requests(5000);
    check.set_remaining_requests(4999);
    writer->Write(check);
    return grpc::Status::OK;
  }
  grpc::Status Estimate(grpc::ServerContext*, const v1::EstimateRequest* request, v1::EstimateReply* reply) override {
    reply->set_usd(0.01 * (request->implement_calls() + request->repair_calls()));
    reply->set_most_usd(10 * reply->usd());
    reply->set_input_tokens(request->implement_calls());
    return grpc::Status::OK;
  }
};

TEST_CASE("check asks each model of a configuration and prints what it found", "[unit]") {
  Folder folder;
  Printed result = RunIt({"gateway", "check", "--config", folder.config});
  INFO(result.out << result.err);
  CHECK(result.code == kExitFailed);
  CHECK_THAT(result.out, Contains("fine") && Contains("$1 / $10") && Contains("broken") && Contains("server") &&
                             Contains("/bin/false") && Contains("not called"));
  result = RunIt({"gateway", "check", "--config", folder.config, "--models", "fine", "--json"});
  CHECK(result.code == 0);
  CHECK(result.err.empty());
  const Json json = Json::parse(result.out);
  REQUIRE(json["checks"].size() == 1);
  CHECK(json["checks"][0]["ok"] == true);
  CHECK(json["checks"][0]["model"]["price_id"] == "gateway.yaml");
  CHECK(json["checks"][0]["seconds"] > 0);
}

TEST_CASE("check and estimate say what is wrong with their arguments", "[unit]") {
  Folder folder;
  CHECK(RunIt({"gateway"}).code == kExitUsage);
  CHECK(RunIt({"estimate"}).code == kExitUsage);
  CHECK(RunIt({"gateway", "check", "--config", folder.config, "--gateway", "127.0.0.1:1"}).code == kExitUsage);
  Printed result = RunIt({"gateway", "check", "--config", "/nowhere/gateway.yaml"});
  CHECK(result.code == kExitUsage);
  CHECK_THAT(result.err, Contains("/nowhere/gateway.yaml"));
  result = RunIt({"gateway", "check", "--config", folder.config, "--models", "unheard"});
  CHECK(result.code == kExitUsage);
  CHECK_THAT(result.err, Contains("unheard"));
  result = RunIt({"gateway", "check", "--gateway", "unix:" + folder.path() + "/none.sock"});
  CHECK(result.code == kExitUnreachable);
  CHECK_THAT(result.err, Contains("--config gateway.yaml"));
  CHECK(RunIt({"estimate", "/nowhere/x.py", "--config", folder.config}).code == kExitUsage);
  for (const std::vector<std::string>& command : {std::vector<std::string>{"gateway", "check"}, {"estimate"}}) {
    std::vector<std::string> help = command;
    help.push_back("--help");
    CHECK_THAT(RunIt(help).out, Contains("Example: warpsmith " + command[0]) && Contains("--config"));
  }
}

TEST_CASE("without a gateway or a configuration the data directory's is taken, else the catalog", "[unit]") {
  Folder folder;
  Printed result = RunIt({"estimate", folder.problem, "--data-dir", folder.path(), "--models", "fine"});
  CHECK(result.code == 0);
  CHECK_THAT(result.err, Contains(folder.config));
  result = RunIt({"estimate", folder.problem, "--data-dir", folder.path() + "/empty"});
  INFO(result.out << result.err);
  CHECK(result.code == 0);
  CHECK_THAT(result.out, Contains("only the catalog answers"));
}

TEST_CASE("an estimate grows with the search and heeds its limits", "[unit]") {
  Folder folder;
  const auto estimate = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"estimate", folder.problem, "--config", folder.config, "--models", "fine", "--json"});
    const Printed result = RunIt(more);
    INFO(result.err);
    REQUIRE(result.code == 0);
    return Json::parse(result.out);
  };
  const Json quick = estimate({"--preset", "quick", "--rounds", "2"});
  const Json deep = estimate({"--preset", "deep"});
  CHECK(quick["expected_usd"] > 0.1);
  CHECK(quick["most_usd"] > quick["expected_usd"]);
  CHECK(deep["expected_usd"] > quick["expected_usd"].get<double>() * 10);
  const Json& calls = quick["searches"][0]["expected_calls"];
  CHECK(calls["implement"] == 2 * 2 * 2 * 2);
  CHECK(calls["propose"] == 3);
  CHECK(calls["repair"] == 12);
  CHECK(quick["searches"][0]["most_calls"]["repair"] == 32);
  CHECK(estimate({"--max-usd", "1.5"})["most_usd"] == 1.5);
  const Printed text = RunIt(
      {"estimate", folder.problem, folder.problem, "--config", folder.config, "--models", "fine", "--max-usd", "0.01"});
  CHECK(text.code == 0);
  CHECK_THAT(text.out, Contains("layer_norm") && Contains("all:") && Contains("--max-usd 0.01 would end it"));
  CHECK_THAT(RunIt({"estimate", folder.problem, "--config", folder.config}).out, Contains("unknown"));
}

TEST_CASE("a gateway that runs is asked over gRPC", "[unit]") {
  Folder folder;
  FakeGateway fake;
  const std::string address = "unix:" + folder.path() + "/g.sock";
  RunningServer server = StartServer(address, {&fake}).value();
  Printed result = RunIt({"gateway", "check", "--gateway", address});
  INFO(result.err);
  CHECK(result.code == 0);
  CHECK_THAT(result.out, Contains("remote") && !Contains("\x1b") && Contains("4999/5000"));
  result = RunIt({"estimate", folder.problem, "--gateway", address, "--json", "--rounds", "1", "--repairs", "-1"});
  CHECK(result.code == 0);
  CHECK(Json::parse(result.out)["expected_usd"].get<double>() == Approx(0.27));
  StopServer(*server.server, 1);
}

TEST_CASE("calls are counted as the strategies make them", "[unit]") {
  search::SearchValues values;
  SearchCalls calls = CallsOf(values);
  CHECK(calls.expected.propose_calls() == 1 + 4 * 3);
  CHECK(calls.expected.implement_calls() == 5 * 27);
  CHECK(calls.most.repair_calls() == 2 * 5 * 27);
  values.repairs = 0;
  CHECK(CallsOf(values).most.repair_calls() == 0);
  values.strategy = "sequential";
  calls = CallsOf(values);
  CHECK(calls.expected.propose_calls() == calls.expected.implement_calls());
  CHECK(calls.expected.propose_calls() + calls.expected.implement_calls() == 5 * 3 * 10);
  CHECK(calls.expected.ideas_per_call() == 1);
  values.strategy = "best_of_n";
  CHECK(CallsOf(values).expected.implement_calls() == 5 * 15);
  values.repairs = 2;
  CHECK(CallsOf(values).most.repair_calls() == 2 * 5 * 15);
  values.strategy = "evolve";
  CHECK(CallsOf(values).expected.propose_calls() == 3 + 4 * 3);
  CHECK(CallsOf(values).expected.implement_calls() == 5 * 27);
}

}  // namespace
}  // namespace warpsmith::cli
