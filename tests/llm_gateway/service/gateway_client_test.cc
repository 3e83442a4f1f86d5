// The coordinator's calls to a gateway over one stream.
#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "coordinator/engine/gateway_conversation.h"
#include "tests/llm_gateway/service/running_gateway.h"

namespace warpsmith::gateway {
namespace {

using engine::GatewayConversation;

v1::Call ImplementOne() {
  v1::Call call;
  *call.mutable_implement() = ImplementRequest(1);
  return call;
}

// What calls were told, and how many have ended.
struct Heard {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<uint64_t, std::vector<v1::CallReply>> replies;
  size_t ended = 0;

  GatewayConversation::OnReply Ear() {
    return [this](v1::CallReply& reply) {
      std::lock_guard lock(mutex);
      replies[reply.id()].push_back(reply);
      ended += reply.ended();
      changed.notify_all();
    };
  }
  bool Await(size_t number) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(60), [&] { return ended >= number; });
  }
};

TEST_CASE("calls from many threads, each told of its own", "[grpc]") {
  FakeModelServer server(Json{{"code", One({{"reply", Code(kCandidate)}})}});
  RunningGateway gateway(server, Model("a", "code"));
  GatewayConversation conversation(gateway.stub());
  Heard heard;
  std::vector<std::thread> threads;
  std::atomic<int> different{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      uint64_t last = 0;
      for (int i = 0; i < 50; ++i) {
        const uint64_t id = conversation.Start(ImplementOne(), heard.Ear());
        different += id > last;
        last = id;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  REQUIRE(heard.Await(200));
  CHECK(different == 200);
  CHECK(heard.replies.size() == 200);
  for (const auto& [id, replies] : heard.replies) {
    REQUIRE(replies.size() == 1);
    CHECK(replies[0].implementation().status() == "ok");
  }
  CHECK(conversation.supported());
}

TEST_CASE("a call can be cancelled, and the end of the conversation ends the rest", "[grpc]") {
  FakeModelServer server(Json{{"hangs", One({{"reply", "x"}, {"stall_s", 60}})}});
  RunningGateway gateway(server, Model("a", "hangs"));
  Heard heard;
  {
    GatewayConversation conversation(gateway.stub());
    const uint64_t first = conversation.Start(ImplementOne(), heard.Ear());
    conversation.Start(ImplementOne(), heard.Ear());
    while (server.RequestsOf("hangs").size() < 2) RealClock().SleepFor(std::chrono::milliseconds(10));
    conversation.Cancel(first);
    REQUIRE(heard.Await(1));
    CHECK(heard.replies[first].at(0).code() == grpc::StatusCode::CANCELLED);
    CHECK(heard.ended == 1);
    conversation.Cancel(12345);  // nobody's
  }
  CHECK(heard.ended == 2);
}

TEST_CASE("after a gateway has gone the next call opens a stream anew", "[grpc]") {
  FakeModelServer server(
      Json{{"hangs", One({{"reply", "x"}, {"stall_s", 60}})}, {"code", One({{"reply", Code(kCandidate)}})}});
  auto gateway = std::make_unique<RunningGateway>(server, Model("a", "hangs") + Model("b", "code"));
  GatewayConversation conversation(gateway->stub());
  Heard heard;
  v1::Call hangs = ImplementOne();
  hangs.mutable_implement()->mutable_call()->add_models("a");
  conversation.Start(hangs, heard.Ear());
  while (server.RequestsOf("hangs").empty()) RealClock().SleepFor(std::chrono::milliseconds(10));
  gateway->service().CancelAll();  // stops, as a program that is told to
  REQUIRE(heard.Await(1));
  CHECK(heard.replies[1].at(0).code() == grpc::StatusCode::CANCELLED);
  conversation.Start(ImplementOne(), heard.Ear());
  REQUIRE(heard.Await(2));
  CHECK(heard.replies[2].at(0).code() == grpc::StatusCode::UNAVAILABLE);
}

TEST_CASE("a gateway that knows no such stream is told apart from one that is not there", "[grpc]") {
  class Old final : public v1::GatewayService::Service {
  } old;
  auto running = StartServer("127.0.0.1:0", {&old}).value();
  {
    const auto stub = v1::GatewayService::NewStub(ConnectTo("127.0.0.1:" + std::to_string(running.port)));
    GatewayConversation conversation(*stub);
    Heard heard;
    conversation.Start(ImplementOne(), heard.Ear());
    REQUIRE(heard.Await(1));
    CHECK(heard.replies[1].at(0).code() == grpc::StatusCode::UNIMPLEMENTED);
    CHECK_FALSE(conversation.supported());
    // It may have been replaced meanwhile.
    GatewayConversation forgets(*stub, std::chrono::milliseconds(1));
    forgets.Start(ImplementOne(), heard.Ear());
    REQUIRE(heard.Await(2));
    RealClock().SleepFor(std::chrono::milliseconds(2));
    CHECK(forgets.supported());
  }
  StopServer(*running.server, 1);
  const auto stub = v1::GatewayService::NewStub(ConnectTo("127.0.0.1:1"));
  GatewayConversation conversation(*stub);
  Heard heard;
  conversation.Start(ImplementOne(), heard.Ear());
  REQUIRE(heard.Await(1));
  CHECK(heard.replies[1].at(0).code() == grpc::StatusCode::UNAVAILABLE);
  CHECK(conversation.supported());
}

}  // namespace
}  // namespace warpsmith::gateway
