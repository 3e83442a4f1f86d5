// The coordinator's client of a gateway: calls over one stream, and what becomes of them when they are cancelled, late,
// or their gateway is gone, frozen or of an earlier version.
#include "coordinator/engine/grpc_gateway_client.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <set>
#include <thread>

#include "common/child_process.h"
#include "common/file.h"
#include "tests/llm_gateway/service/running_gateway.h"
#include "tests/llm_gateway/support/sample_problem.h"

namespace warpsmith::gateway {
namespace {

using Catch::Matchers::Contains;
using engine::GatewayCall;
using engine::GatewayClient;

absl::Status Ignore(const v1::Implementation&) { return absl::OkStatus(); }

template <typename Holds>
bool Soon(Holds holds) {
  for (int i = 0; i < 1200 && !holds(); ++i) RealClock().SleepFor(std::chrono::milliseconds(25));
  return holds();
}

v1::ImplementIdeaRequest Of(const std::string& model, int count) {
  v1::ImplementIdeaRequest request = ImplementRequest(count);
  request.mutable_call()->add_models(model);
  return request;
}

v1::ProposeIdeasRequest ProposeOf(const std::string& model) {
  v1::ProposeIdeasRequest request;
  *request.mutable_context() = LayerNormContext();
  request.mutable_call()->add_models(model);
  request.set_count(2);
  return request;
}

v1::RepairRequest RepairOf(const std::string& model) {
  v1::RepairRequest request;
  *request.mutable_context() = LayerNormContext();
  request.mutable_call()->add_models(model);
  request.mutable_failed()->set_source("broken");
  request.set_attempt(1);
  return request;
}

// One of every kind, and what a call that makes no sense is told.
void CheckEveryKind(GatewayClient& client) {
  bool sent = false;
  const auto ideas = client.ProposeIdeas(ProposeOf("ideas"), {1, 60, &sent});
  REQUIRE(ideas.ok());
  CHECK(ideas->ideas_size() == 2);
  CHECK(sent);
  std::set<int> indexes;
  CHECK(client
            .ImplementIdea(Of("code", 3), {2, 60, nullptr},
                           [&](const v1::Implementation& implementation) {
                             CHECK(implementation.status() == "ok");
                             indexes.insert(implementation.index());
                             return absl::OkStatus();
                           })
            .ok());
  CHECK(indexes == std::set<int>{0, 1, 2});
  const auto repaired = client.Repair(RepairOf("code"), {3, 60, nullptr});
  REQUIRE(repaired.ok());
  CHECK(repaired->status() == "ok");
  const absl::Status senseless = client.ImplementIdea(Of("code", 0), {4, 60, nullptr}, Ignore);
  CHECK(absl::IsInvalidArgument(senseless));
  CHECK_THAT(Message(senseless), Contains("count"));
  CHECK(absl::IsInvalidArgument(client.ProposeIdeas(ProposeOf("unheard"), {5, 60, nullptr}).status()));
  CHECK(absl::IsInvalidArgument(client.Repair(RepairOf("unheard"), {6, 60, nullptr}).status()));
  const auto models = client.ListModels(10);
  REQUIRE(models.ok());
  CHECK(models->models_size() == 3);
}

Json Scenarios() {
  return {{"code", One({{"reply", Code(kCandidate)}})},
          {"ideas", One({{"reply", R"([{"title": "A"}, {"title": "B"}])"}})},
          {"hangs", One({{"reply", "x"}, {"stall_s", 60}})}};
}
std::string Models() { return Model("code", "code") + Model("ideas", "ideas") + Model("hangs", "hangs"); }

TEST_CASE("calls of every kind, from many threads at once", "[grpc]") {
  FakeModelServer server(Scenarios());
  RunningGateway gateway(server, Models());
  const auto client = engine::ConnectToGateway(gateway.address());
  CheckEveryKind(*client);
  std::atomic<int> fine{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 10; ++round) {
        fine += client->Repair(RepairOf("code"), {100 + i, 60, nullptr}).ok();
        fine += absl::IsInvalidArgument(client->Repair(RepairOf("none"), {100 + i, 60, nullptr}).status());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(fine == 160);
}

TEST_CASE("a call ends by its deadline, by its task's cancellation or by its taker, and no other with it", "[grpc]") {
  FakeModelServer server(Scenarios());
  RunningGateway gateway(server, Models());
  const auto client = engine::ConnectToGateway(gateway.address());
  absl::Status stays;
  std::thread other([&] { stays = client->ImplementIdea(Of("hangs", 1), {70, 60, nullptr}, Ignore); });
  REQUIRE(Soon([&] { return gateway.service().active_calls() == 1; }));

  const TimePoint begin = RealClock().Now();
  CHECK(absl::IsDeadlineExceeded(client->ImplementIdea(Of("hangs", 1), {71, 0.3, nullptr}, Ignore)));
  CHECK(RealClock().Now() - begin >= std::chrono::milliseconds(300));
  CHECK(Soon([&] { return gateway.service().active_calls() == 1; }));  // the gateway has been told

  absl::Status cancelled;
  std::thread waits([&] { cancelled = client->Repair(RepairOf("hangs"), {72, 60, nullptr}).status(); });
  REQUIRE(Soon([&] { return gateway.service().active_calls() == 2; }));
  client->Cancel(99);  // nobody's
  client->Cancel(72);
  waits.join();
  CHECK(absl::IsCancelled(cancelled));
  CHECK(Soon([&] { return gateway.service().active_calls() == 1; }));

  const absl::Status own = client->ImplementIdea(
      Of("code", 2), {73, 60, nullptr}, [](const v1::Implementation&) { return Internal("it cannot be kept"); });
  CHECK_THAT(Message(own), Contains("cannot be kept"));
  CHECK(Soon([&] { return gateway.service().active_calls() == 1; }));

  client->Cancel(0);
  other.join();
  CHECK(absl::IsCancelled(stays));
  CHECK(Soon([&] { return gateway.service().active_calls() == 0; }));
  CHECK(absl::IsCancelled(client->Repair(RepairOf("code"), {74, 60, nullptr}).status()));
}

TEST_CASE("a request that is too large ends alone", "[grpc]") {
  FakeModelServer server(Scenarios());
  RunningGateway gateway(server, Models());
  const auto client = engine::ConnectToGateway(gateway.address());
  absl::Status stays;
  std::thread other([&] { stays = client->ImplementIdea(Of("hangs", 1), {70, 60, nullptr}, Ignore); });
  REQUIRE(Soon([&] { return gateway.service().active_calls() == 1; }));
  v1::RepairRequest large = RepairOf("code");
  large.mutable_failed()->set_source(std::string(17u << 20, 'x'));
  CHECK(absl::IsResourceExhausted(client->Repair(large, {71, 60, nullptr}).status()));
  CHECK(client->Repair(RepairOf("code"), {72, 60, nullptr}).ok());
  CHECK(gateway.service().active_calls() == 1);
  client->Cancel(70);
  other.join();
}

// The program on a socket of its own, as long as nobody kills it.
class GatewayProcess {
 public:
  GatewayProcess(const std::filesystem::path& folder, const std::string& models)
      : address_("unix:" + (folder / "g.sock").string()) {
    REQUIRE(WriteFileAtomically(folder / "gateway.yaml", "models:\n" + models).ok());
    ChildOptions options;
    options.arguments = {WARPSMITH_BINARY_DIR "/bin/warpsmith-gateway", "--listen", address_, "--config",
                         folder / "gateway.yaml"};
    child_ = ChildProcess::Start(options).value();
  }
  const std::string& address() const { return address_; }
  void Signal(int signal) { child_->Kill(signal); }
  void Kill() {
    child_->Kill(SIGKILL);
    REQUIRE(child_->Wait(std::chrono::seconds(10)).has_value());
  }

 private:
  const std::string address_;
  std::unique_ptr<ChildProcess> child_;
};

TEST_CASE("a gateway that is killed ends its calls, and the next one is reached by itself", "[program]") {
  FakeModelServer server(Scenarios());
  const auto folder = TemporaryDirectory::Create("gateway").value();
  const auto at = [&server](const std::string& scenario) {
    return "  - {name: " + scenario + ", provider: openai_compatible, model: x, base_url: \"" +
           server.BaseUrl(scenario) + "\"}\n";
  };
  const std::string models = at("code") + at("ideas") + at("hangs");
  auto gateway = std::make_unique<GatewayProcess>(folder.path(), models);
  const auto client = engine::ConnectToGateway(gateway->address());
  const auto reached = [&client] {
    return Soon([&client] { return client->Repair(RepairOf("code"), {1, 60, nullptr}).ok(); });
  };
  REQUIRE(reached());
  bool sent = false;
  absl::Status lost;
  std::thread waits([&] { lost = client->Repair(RepairOf("hangs"), {2, 60, &sent}).status(); });
  REQUIRE(Soon([&] { return server.RequestsOf("hangs").size() == 1; }));
  gateway->Kill();
  waits.join();
  CHECK(absl::IsUnavailable(lost));
  CHECK(sent);
  CHECK_THAT(Message(lost), Contains(gateway->address()) && Contains("--gateway"));
  // Not reached at all, once the connection's end is known.
  CHECK(Soon([&] {
    sent = false;
    CHECK(absl::IsUnavailable(client->Repair(RepairOf("code"), {3, 1, &sent}).status()));
    return !sent;
  }));

  gateway = std::make_unique<GatewayProcess>(folder.path(), models);
  REQUIRE(reached());
  CheckEveryKind(*client);

  // One that is frozen: who cancels does not wait for it.
  gateway->Signal(SIGSTOP);
  absl::Status frozen;
  std::atomic<bool> ended{false};
  std::thread stuck([&] {
    frozen = client->Repair(RepairOf("code"), {4, 60, nullptr}).status();
    ended = true;
  });
  CHECK(Soon([&] {
    client->Cancel(4);
    return ended.load();
  }));
  stuck.join();
  CHECK(absl::IsCancelled(frozen));
  gateway->Signal(SIGCONT);
  CHECK(client->Repair(RepairOf("code"), {5, 60, nullptr}).ok());
}

// What a gateway was before there was one stream for all calls.
class EarlierGateway final : public v1::GatewayService::Service {
 public:
  explicit EarlierGateway(v1::GatewayService::Stub& now) : now_(now) {}
  grpc::Status ProposeIdeas(grpc::ServerContext*, const v1::ProposeIdeasRequest* request,
                            v1::ProposeIdeasReply* reply) override {
    grpc::ClientContext context;
    return now_.ProposeIdeas(&context, *request, reply);
  }
  grpc::Status ImplementIdea(grpc::ServerContext* caller, const v1::ImplementIdeaRequest* request,
                             grpc::ServerWriter<v1::Implementation>* writer) override {
    const auto context = grpc::ClientContext::FromServerContext(*caller);
    const auto reader = now_.ImplementIdea(context.get(), *request);
    v1::Implementation implementation;
    while (reader->Read(&implementation)) writer->Write(implementation);
    return reader->Finish();
  }
  grpc::Status Repair(grpc::ServerContext* caller, const v1::RepairRequest* request,
                      v1::Implementation* reply) override {
    ++repairs;
    const auto context = grpc::ClientContext::FromServerContext(*caller);
    return now_.Repair(context.get(), *request, reply);
  }
  grpc::Status ListModels(grpc::ServerContext*, const v1::ListModelsRequest* request,
                          v1::ListModelsReply* reply) override {
    grpc::ClientContext context;
    return now_.ListModels(&context, *request, reply);
  }
  std::atomic<int> repairs{0};

 private:
  v1::GatewayService::Stub& now_;
};

TEST_CASE("a gateway of the version before is called as it knows", "[grpc]") {
  FakeModelServer server(Scenarios());
  RunningGateway gateway(server, Models());
  EarlierGateway earlier(gateway.stub());
  const auto running = StartServer("127.0.0.1:0", {&earlier}).value();
  {
    const auto client = engine::ConnectToGateway("127.0.0.1:" + std::to_string(running.port));
    CheckEveryKind(*client);
    CHECK(earlier.repairs == 2);
    absl::Status cancelled;
    std::thread waits([&] { cancelled = client->Repair(RepairOf("hangs"), {72, 60, nullptr}).status(); });
    REQUIRE(Soon([&] { return gateway.service().active_calls() == 1; }));
    client->Cancel(72);
    waits.join();
    CHECK(absl::IsCancelled(cancelled));
    CHECK(absl::IsDeadlineExceeded(client->Repair(RepairOf("hangs"), {73, 0.2, nullptr}).status()));
    CHECK(Soon([&] { return gateway.service().active_calls() == 0; }));
  }
  StopServer(*running.server, 1);
}

}  // namespace
}  // namespace warpsmith::gateway
