#include <atomic>

#include "benchmarks/gateway/target.h"
#include "common/clock.h"
#include "common/grpc_channel.h"
#include "coordinator/engine/gateway_conversation.h"
#include "llm_gateway/http/curl_transport.h"
#include "llm_gateway/providers/wire_format.h"
#include "llm_gateway/service/build_gateway.h"
#include "warpsmith/v1/gateway.grpc.pb.h"

namespace warpsmith::bench {
namespace {

class Layers final : public Target {
 public:
  static absl::StatusOr<std::unique_ptr<Layers>> Make(const std::string& config_file) {
    auto layers = std::make_unique<Layers>();
    WARPSMITH_ASSIGN_OR_RETURN(const gateway::GatewayConfig config, gateway::LoadConfig(config_file));
    WARPSMITH_ASSIGN_OR_RETURN(const gateway::GatewayFolders folders, gateway::GatewayFolders::Find());
    WARPSMITH_ASSIGN_OR_RETURN(layers->parts_, gateway::BuildGateway(config, folders, layers->transport_, RealClock()));
    WARPSMITH_ASSIGN_OR_RETURN(const gateway::RenderedPrompt prompt,
                               layers->parts_.prompts->ImplementIdea(BenchmarkRequest(), 0));
    layers->request_.messages = prompt.messages;
    return layers;
  }
  std::string Body() const {
    const gateway::ModelConfig& config = parts_.models->Find("plain")->config;
    return gateway::MakeWireFormat(config)->Build(request_, config).body;
  }
  std::string name() const override { return "in process"; }
  void Start(bool stream, std::function<void(const Outcome&)> done) override {
    const TimePoint started = RealClock().Now();
    parts_.pool->Run([this, stream, started, done = std::move(done)] {
      gateway::Cancellation cancellation;
      Outcome outcome;
      const gateway::Completion completion = parts_.models->Find(stream ? "stream" : "plain")
                                                 ->guarded->Complete(
                                                     request_,
                                                     [&](gateway::DeltaKind, std::string_view) {
                                                       if (outcome.first_seconds == 0)
                                                         outcome.first_seconds = ToSeconds(RealClock().Now() - started);
                                                     },
                                                     cancellation);
      outcome.ok = completion.ok();
      outcome.seconds = ToSeconds(RealClock().Now() - started);
      done(outcome);
    });
  }

 private:
  gateway::CurlTransport transport_;
  gateway::GatewayParts parts_;
  gateway::PromptRequest request_;
};

class Rpc final : public Target {
 public:
  explicit Rpc(const std::string& address) : stub_(v1::GatewayService::NewStub(ConnectTo(address))) {
    for (const bool stream : {false, true}) {
      requests_[stream] = BenchmarkRequest();
      requests_[stream].mutable_call()->add_models(stream ? "stream" : "plain");
    }
  }
  std::string name() const override { return kRpc; }
  void Start(bool stream, std::function<void(const Outcome&)> done) override {
    (new Call(*stub_, requests_[stream], std::move(done)))->Go();
  }

 private:
  class Call final : public grpc::ClientReadReactor<v1::Implementation> {
   public:
    Call(v1::GatewayService::Stub& stub, const v1::ImplementIdeaRequest& request,
         std::function<void(const Outcome&)> done)
        : done_(std::move(done)) {
      stub.async()->ImplementIdea(&context_, &request, this);
    }
    void Go() {
      StartRead(&reply_);
      StartCall();
    }
    void OnReadDone(bool ok) override {
      if (!ok) return;
      outcome_.first_seconds = ToSeconds(RealClock().Now() - started_);
      outcome_.ok = reply_.status() == "ok";
      StartRead(&reply_);
    }
    void OnDone(const grpc::Status& status) override {
      outcome_.ok = outcome_.ok && status.ok();
      outcome_.seconds = ToSeconds(RealClock().Now() - started_);
      done_(outcome_);
      delete this;
    }

   private:
    const TimePoint started_ = RealClock().Now();
    std::function<void(const Outcome&)> done_;
    grpc::ClientContext context_;
    v1::Implementation reply_;
    Outcome outcome_;
  };

  std::unique_ptr<v1::GatewayService::Stub> stub_;
  v1::ImplementIdeaRequest requests_[2];
};

// All calls over one stream.
class OneStream final : public Target {
 public:
  explicit OneStream(const std::string& address)
      : stub_(v1::GatewayService::NewStub(ConnectTo(address))), conversation_(*stub_) {
    for (const bool stream : {false, true}) {
      *calls_[stream].mutable_implement() = BenchmarkRequest();
      calls_[stream].mutable_implement()->mutable_call()->add_models(stream ? "stream" : "plain");
    }
  }
  std::string name() const override { return kOneStream; }
  void Start(bool stream, std::function<void(const Outcome&)> done) override {
    const TimePoint started = RealClock().Now();
    conversation_.Start(calls_[stream], [started, done = std::move(done)](v1::CallReply& reply) {
      if (!reply.ended()) return;
      Outcome outcome;
      outcome.ok = reply.code() == 0 && reply.implementation().status() == "ok";
      outcome.seconds = outcome.first_seconds = ToSeconds(RealClock().Now() - started);
      done(outcome);
    });
  }

 private:
  const std::unique_ptr<v1::GatewayService::Stub> stub_;
  engine::GatewayConversation conversation_;
  v1::Call calls_[2];
};

}  // namespace

v1::ImplementIdeaRequest BenchmarkRequest() {
  v1::ImplementIdeaRequest request;
  v1::Problem& problem = *request.mutable_context()->mutable_problem();
  problem.set_name("layer_norm");
  problem.set_source("class Model(nn.Module):\n  def __init__(self):\n    self.ln = nn.LayerNorm(256, eps=1e-3)\n");
  request.mutable_context()->mutable_device()->set_name("emulated");
  request.mutable_context()->mutable_device()->set_emulated(true);
  request.mutable_idea()->set_title("Keep each row in registers");
  request.set_count(1);
  return request;
}

absl::StatusOr<InProcess> InProcessTarget(const std::string& config_file) {
  WARPSMITH_ASSIGN_OR_RETURN(std::unique_ptr<Layers> layers, Layers::Make(config_file));
  InProcess made;
  made.body = layers->Body();
  made.target = std::move(layers);
  return made;
}

std::unique_ptr<Target> RpcTarget(const std::string& address) { return std::make_unique<Rpc>(address); }

std::unique_ptr<Target> OneStreamTarget(const std::string& address) { return std::make_unique<OneStream>(address); }

}  // namespace warpsmith::bench
