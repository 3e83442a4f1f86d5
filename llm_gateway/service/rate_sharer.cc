#include "llm_gateway/service/rate_sharer.h"

#include <algorithm>
#include <cmath>

#include "common/grpc_channel.h"
#include "common/grpc_status.h"
#include "common/hash.h"
#include "common/log.h"

namespace warpsmith::gateway {
namespace {

constexpr double kLongestValidity = 3600;

bool Usable(double rate) { return std::isfinite(rate) && rate >= 0; }

}  // namespace

RateSharer::RateSharer(const std::string& coordinator, ModelPool& models, RateSharerOptions options)
    : options_(options),
      coordinator_(coordinator),
      gateway_id_(RandomHex(8)),
      models_(models),
      stub_(v1::RateSharingService::NewStub(ConnectTo(coordinator))),
      thread_([this] { Work(); }) {}

RateSharer::~RateSharer() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    if (under_way_ != nullptr) under_way_->TryCancel();
  }
  changed_.notify_all();
  thread_.join();
}

void RateSharer::Work() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    const Duration wait = Exchange();
    lock.lock();
    changed_.wait_for(lock, wait, [this] { return stopping_; });
  }
}

Duration RateSharer::Exchange() {
  v1::ShareRatesRequest request;
  request.set_gateway_id(gateway_id_);
  for (const auto& model : models_.models()) {
    const gateway::ModelDemand now = model->limiter->Demand();
    v1::ModelDemand& demand = *request.add_demands();
    demand.set_model(model->config.name);
    demand.set_in_flight(now.in_flight);
    demand.set_waiting(now.waiting);
    demand.set_requests_per_minute(model->config.requests_per_minute);
    demand.set_tokens_per_minute(model->config.tokens_per_minute);
    demand.set_concurrency(model->config.concurrency);
  }
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::duration_cast<std::chrono::microseconds>(options_.deadline));
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return {};
    under_way_ = &context;
  }
  v1::ShareRatesReply reply;
  const grpc::Status status = stub_->ShareRates(&context, request, &reply);
  {
    std::lock_guard lock(mutex_);
    under_way_ = nullptr;
    if (stopping_) return {};
  }
  if (!status.ok()) {
    if (!away_) {
      spdlog::warn("the coordinator at {} does not share rates ({}); going on with the last share", coordinator_,
                   Message(ExplainUnavailable(coordinator_, FromGrpc(status))));
    }
    away_ = true;
    reachable_ = false;
    return options_.first_interval;
  }
  if (away_ || replicas_ != reply.replicas()) {
    spdlog::info("rates are shared by {} gateways", reply.replicas());
  }
  away_ = false;
  reachable_ = true;
  replicas_ = reply.replicas();
  for (const v1::ModelShare& share : reply.shares()) {
    PooledModel* model = models_.Find(share.model());
    if (model == nullptr || !Usable(share.requests_per_minute()) || !Usable(share.tokens_per_minute())) continue;
    model->limiter->SetShare(
        {share.requests_per_minute(), share.tokens_per_minute(), std::max(0, share.concurrency())});
  }
  if (!(reply.valid_seconds() > 0)) return options_.first_interval;
  return FromSeconds(std::min(reply.valid_seconds(), kLongestValidity) / 2);
}

}  // namespace warpsmith::gateway
