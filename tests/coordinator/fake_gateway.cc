#include "tests/coordinator/fake_gateway.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "common/grpc_channel.h"
#include "warpsmith/v1/gateway.grpc.pb.h"

namespace warpsmith::testing {
namespace {

void FillCall(const v1::CallContext& context, double usd, v1::ModelCall* call) {
  call->set_provider("fake");
  call->set_model(context.models_size() == 1 ? context.models(0) : "fake-model");
  call->set_effort(context.effort());
  call->set_prompt_variant(context.prompt_variant());
  call->set_input_tokens(100);
  call->set_output_tokens(10);
  call->set_usd(call->model() == "catalog" ? 0 : usd);
  call->set_price_id("test prices");
  call->set_cache_write_5m_tokens(7);
  call->set_tries(1);
  call->set_finish_reason("stop");
  call->set_raw_reply(std::string("raw \0 reply", 11));
}

}  // namespace

std::string KernelText(const std::string& name, double ms, const std::string& outcome) {
  return fmt::format("/* warpsmith-plan {{\"version\": 1}} {} ms={} outcome={} */\n", name, ms, outcome);
}

class FakeGateway::Service final : public v1::GatewayService::Service {
 public:
  explicit Service(FakeGateway* gateway) : gateway_(*gateway) {}

  grpc::Status ProposeIdeas(grpc::ServerContext*, const v1::ProposeIdeasRequest* request,
                            v1::ProposeIdeasReply* reply) override {
    if (grpc::Status status = Hold(); !status.ok()) return status;
    {
      std::lock_guard lock(gateway_.mutex_);
      gateway_.proposals_.push_back(*request);
    }
    FillCall(request->call(), gateway_.usd_a_call, reply->add_calls());
    if (request->call().models_size() == 1 && request->call().models(0) == "catalog") {
      for (int i = 0; i < std::min<int>(request->count(), gateway_.catalog_ideas); ++i) {
        v1::Idea* idea = reply->add_ideas();
        idea->set_title(fmt::format("recipe {} after {}", i, request->tried_size()));
        idea->set_category("memory_access");
        idea->set_origin("catalog");
        idea->set_catalog_key("recipe/" + std::to_string(i));
      }
      if (reply->ideas_size() < request->count()) reply->set_shortfall("exhausted");
      return grpc::Status::OK;
    }
    if (gateway_.exhausted) {
      reply->set_shortfall("exhausted");
      return grpc::Status::OK;
    }
    for (int i = 0; i < request->count(); ++i) {
      v1::Idea* idea = reply->add_ideas();
      idea->set_title(fmt::format("idea {} of round {} after {}", i, request->call().round(), request->tried_size()));
      idea->set_category("memory_access");
      idea->set_origin("fake-model");
    }
    return grpc::Status::OK;
  }

  grpc::Status ImplementIdea(grpc::ServerContext*, const v1::ImplementIdeaRequest* request,
                             grpc::ServerWriter<v1::Implementation>* writer) override {
    if (grpc::Status status = Hold(); !status.ok()) return status;
    {
      std::lock_guard lock(gateway_.mutex_);
      gateway_.asked_.emplace_back(request->indexes().begin(), request->indexes().end());
      gateway_.implementations_.push_back(*request);
    }
    int sent = 0;
    for (int index : request->indexes()) {
      int limit = gateway_.break_after;
      if (limit >= 0 && sent >= limit && gateway_.break_after.compare_exchange_strong(limit, -1)) {
        return {grpc::StatusCode::UNAVAILABLE, "the fake gateway broke off"};
      }
      v1::Implementation implementation;
      implementation.set_index(index);
      FillCall(request->call(), gateway_.usd_a_call, implementation.mutable_call());
      for (int i = 0; i < gateway_.fallback_calls; ++i) {
        v1::ModelCall* earlier = implementation.add_earlier_calls();
        FillCall(request->call(), gateway_.usd_a_call, earlier);
        earlier->set_finish_reason("error");
        earlier->set_error_class("overloaded");
      }
      if (gateway_.write_kernel) {
        implementation.set_source(gateway_.write_kernel(*request, index));
      } else if (gateway_.same_source) {
        implementation.set_source("/* warpsmith-plan ms=1.5 */" + std::string(static_cast<size_t>(index) + 1, '\n'));
      } else {
        implementation.set_source(KernelText(request->idea().id() + "/" + std::to_string(index),
                                             2.0 / (request->call().round() + 0.1 * index)));
      }
      implementation.set_status(implementation.source().empty() ? "no_code" : "ok");
      if (implementation.source().empty()) implementation.set_message("the reply holds no code");
      writer->Write(implementation);
      ++sent;
    }
    return grpc::Status::OK;
  }

  grpc::Status Repair(grpc::ServerContext*, const v1::RepairRequest* request, v1::Implementation* reply) override {
    if (grpc::Status status = Hold(); !status.ok()) return status;
    {
      std::lock_guard lock(gateway_.mutex_);
      gateway_.repairs_.push_back(*request);
    }
    reply->set_status("ok");
    reply->set_source(KernelText("repaired " + request->failed().candidate_id(), 1.25));
    FillCall(request->call(), gateway_.usd_a_call, reply->mutable_call());
    return grpc::Status::OK;
  }

  grpc::Status ListModels(grpc::ServerContext*, const v1::ListModelsRequest*, v1::ListModelsReply* reply) override {
    for (const v1::ModelDescription& model : gateway_.models) *reply->add_models() = model;
    if (!gateway_.models.empty()) return grpc::Status::OK;
    v1::ModelDescription* model = reply->add_models();
    model->set_name("fake-model");
    model->set_provider("fake");
    model->set_enabled(true);
    return grpc::Status::OK;
  }

 private:
  grpc::Status Hold() {
    std::this_thread::sleep_for(std::chrono::milliseconds(gateway_.delay_ms));
    int failing = gateway_.fail_calls;
    while (failing > 0 && !gateway_.fail_calls.compare_exchange_weak(failing, failing - 1)) {
    }
    if (failing > 0) return {grpc::StatusCode::INTERNAL, "the fake gateway failed"};
    return grpc::Status::OK;
  }

  FakeGateway& gateway_;
};

struct FakeGateway::Server {
  RunningServer running;
};

FakeGateway::FakeGateway(int port) : service_(std::make_unique<Service>(this)), server_(std::make_unique<Server>()) {
  server_->running = StartServer("127.0.0.1:" + std::to_string(port), {service_.get()}).value();
  port_ = server_->running.port;
}

FakeGateway::~FakeGateway() { StopServer(*server_->running.server, 0.1); }

std::vector<std::vector<int>> FakeGateway::asked_indexes() const {
  std::lock_guard lock(mutex_);
  return asked_;
}
std::vector<v1::ProposeIdeasRequest> FakeGateway::proposals() const {
  std::lock_guard lock(mutex_);
  return proposals_;
}
std::vector<v1::RepairRequest> FakeGateway::repairs() const {
  std::lock_guard lock(mutex_);
  return repairs_;
}

std::vector<v1::ImplementIdeaRequest> FakeGateway::implementations() const {
  std::lock_guard lock(mutex_);
  return implementations_;
}

}  // namespace warpsmith::testing
