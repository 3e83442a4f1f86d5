// Many calls over one stream: each is answered by its id, and what ends one leaves the others alone.
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "tests/llm_gateway/service/running_gateway.h"
#include "tests/llm_gateway/support/sample_problem.h"

namespace warpsmith::gateway {
namespace {

using Catch::Matchers::Contains;

v1::Call Implement(uint64_t id, int count, const std::string& model = "") {
  v1::Call call;
  call.set_id(id);
  *call.mutable_implement() = ImplementRequest(count);
  if (!model.empty()) call.mutable_implement()->mutable_call()->add_models(model);
  return call;
}

v1::Call CancelOf(uint64_t id) {
  v1::Call call;
  call.set_id(id);
  call.set_cancel(true);
  return call;
}

class Talk {
 public:
  explicit Talk(RunningGateway& gateway) : stream_(gateway.stub().Converse(&context_)) {}
  ~Talk() { context_.TryCancel(); }
  void Say(const std::vector<v1::Call>& calls) {
    v1::Calls message;
    for (const v1::Call& call : calls) *message.add_calls() = call;
    CHECK(stream_->Write(message));
  }
  // Reads until so many calls have ended; what each was told, in order.
  std::map<uint64_t, std::vector<v1::CallReply>> Hear(size_t ended) {
    std::map<uint64_t, std::vector<v1::CallReply>> heard;
    v1::CallReplies message;
    while (ended > 0 && stream_->Read(&message)) {
      for (const v1::CallReply& reply : message.replies()) {
        heard[reply.id()].push_back(reply);
        if (reply.ended()) --ended;
      }
    }
    CHECK(ended == 0);
    return heard;
  }
  grpc::Status End() {
    stream_->WritesDone();
    v1::CallReplies message;
    while (stream_->Read(&message)) {
    }
    return stream_->Finish();
  }
  void Break() { context_.TryCancel(); }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::Calls, v1::CallReplies>> stream_;
};

TEST_CASE("calls of every kind over one stream, each answered by its id", "[grpc]") {
  FakeModelServer server(Json{{"code", One({{"reply", Code(kCandidate)}})},
                              {"ideas", One({{"reply", R"([{"title": "A"}, {"title": "B"}])"}})}});
  RunningGateway gateway(server, Model("a", "code") + Model("b", "ideas"));
  Talk talk(gateway);
  v1::Call propose;
  propose.set_id(7);
  *propose.mutable_propose()->mutable_context() = LayerNormContext();
  propose.mutable_propose()->mutable_call()->add_models("b");
  propose.mutable_propose()->set_count(2);
  v1::Call repair;
  repair.set_id(8);
  *repair.mutable_repair()->mutable_context() = LayerNormContext();
  repair.mutable_repair()->mutable_call()->add_models("a");
  repair.mutable_repair()->mutable_failed()->set_source("broken");
  repair.mutable_repair()->set_attempt(1);
  talk.Say({propose, Implement(1, 3, "a"), repair});
  auto heard = talk.Hear(3);
  REQUIRE(heard.size() == 3);
  REQUIRE(heard[7].size() == 1);
  CHECK(heard[7][0].ideas().ideas_size() == 2);
  CHECK(heard[7][0].ended());
  CHECK(heard[7][0].code() == 0);
  REQUIRE(heard[8].size() == 1);
  CHECK(heard[8][0].implementation().status() == "ok");
  REQUIRE(heard[1].size() == 3);
  std::set<int> indexes;
  for (const v1::CallReply& reply : heard[1]) {
    CHECK(reply.implementation().status() == "ok");
    indexes.insert(reply.implementation().index());
  }
  CHECK(indexes == std::set<int>{0, 1, 2});
  CHECK(heard[1][2].ended());
  CHECK_FALSE(heard[1][0].ended());
  CHECK(talk.End().ok());
}

TEST_CASE("a call that makes no sense ends, and its stream goes on", "[grpc]") {
  FakeModelServer server(
      Json{{"code", One({{"reply", Code(kCandidate)}})}, {"hangs", One({{"reply", "x"}, {"stall_s", 60}})}});
  RunningGateway gateway(server, Model("a", "code") + Model("h", "hangs"));
  Talk talk(gateway);
  v1::Call empty;
  empty.set_id(3);
  talk.Say({empty, Implement(4, 0, "a"), CancelOf(99), Implement(5, 1, "h")});
  auto heard = talk.Hear(2);
  CHECK(heard[3].at(0).code() == grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(heard[4].at(0).code() == grpc::StatusCode::INVALID_ARGUMENT);
  CHECK_THAT(heard[4].at(0).message(), Contains("count"));
  talk.Say({Implement(5, 1, "a")});  // that number is under way
  heard = talk.Hear(1);
  CHECK(heard[5].at(0).code() == grpc::StatusCode::INVALID_ARGUMENT);
  talk.Say({Implement(6, 1, "a"), CancelOf(5)});
  heard = talk.Hear(2);
  CHECK(heard[6].at(0).implementation().status() == "ok");
  CHECK(heard[5].at(0).code() == grpc::StatusCode::CANCELLED);
  talk.Say({Implement(5, 1, "a")});  // a number may be used again
  CHECK(talk.Hear(1)[5].at(0).implementation().status() == "ok");
  CHECK(talk.End().ok());
}

TEST_CASE("a stream that breaks ends its calls, and no others", "[grpc]") {
  FakeModelServer server(Json{{"hangs", One({{"reply", "x"}, {"stall_s", 60}})}});
  RunningGateway gateway(server, Model("a", "hangs"));
  const auto closed = [&server] {
    size_t gone = 0;
    for (const Json& request : server.RequestsOf("hangs")) gone += request["closed_early"].get<bool>();
    return gone;
  };
  const auto wait_for = [](auto holds) {
    for (int i = 0; i < 400 && !holds(); ++i) RealClock().SleepFor(std::chrono::milliseconds(25));
    return holds();
  };
  Talk stays(gateway);
  stays.Say({Implement(1, 1)});
  {
    Talk breaks(gateway);
    breaks.Say({Implement(1, 2), Implement(2, 1)});
    CHECK(wait_for([&] { return server.RequestsOf("hangs").size() == 4; }));
    breaks.Break();
    CHECK(wait_for([&] { return closed() == 3; }));
  }
  CHECK(gateway.service().active_calls() == 1);
  // The server stops: calls are told, then the stream ends.
  gateway.service().CancelAll();
  CHECK(stays.Hear(1)[1].at(0).code() == grpc::StatusCode::CANCELLED);
  CHECK(stays.End().error_code() == grpc::StatusCode::UNAVAILABLE);
  Talk late(gateway);
  CHECK(late.End().error_code() == grpc::StatusCode::UNAVAILABLE);
}

TEST_CASE("many calls at once over one stream", "[grpc]") {
  FakeModelServer server(Json{{"code", One({{"reply", Code(kCandidate)}})}});
  RunningGateway gateway(server, Model("a", "code", ", concurrency: 16"));
  Talk talk(gateway);
  constexpr uint64_t kCalls = 300;
  std::vector<v1::Call> calls;
  for (uint64_t id = 1; id <= kCalls; ++id) calls.push_back(Implement(id, 1));
  talk.Say(calls);
  const auto heard = talk.Hear(kCalls);
  REQUIRE(heard.size() == kCalls);
  size_t fine = 0;
  for (const auto& [id, replies] : heard) fine += replies.size() == 1 && replies[0].implementation().status() == "ok";
  CHECK(fine == kCalls);
  CHECK(server.RequestsOf("code").size() == kCalls);
  CHECK(talk.End().ok());
}

}  // namespace
}  // namespace warpsmith::gateway
