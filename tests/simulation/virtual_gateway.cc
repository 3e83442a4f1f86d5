#include "tests/simulation/virtual_gateway.h"

#include <algorithm>
#include <cmath>

#include "tests/simulation/kernels.h"

namespace warpsmith::simulation {
namespace {

constexpr int64_t kLongestInput = 3000;  // tokens; the coordinator reserves for at least 8,000

v1::ModelDescription MakeModel(const std::string& name, const std::string& provider, double usd, int64_t tokens) {
  v1::ModelDescription model;
  model.set_name(name);
  model.set_provider(provider);
  model.set_enabled(true);
  model.set_max_output_tokens(tokens);
  model.set_reservation_usd(usd);
  model.set_price_id("drawn");
  return model;
}

}  // namespace

VirtualGateway::VirtualGateway(World& world) : world_(world) {
  models_.push_back(MakeModel("cheap", "drawn", 0.02, 4000));
  if (world.random.Chance(0.5)) models_.push_back(MakeModel("dear", "drawn", 0.2, 16000));
  if (world.random.Chance(0.3)) models_.push_back(MakeModel("catalog", "catalog", 0, 0));
}

void VirtualGateway::Crash() {
  ++boot_;
  away_until_ = world_.scheduler.now() + Seconds(world_.random.Between(0.1, 8));
  const bool lost = world_.random.Chance(0.5);
  if (lost) {
    kept_ideas_.clear();
    kept_implementations_.clear();
  }
  world_.Note("the gateway dies{}", lost ? " and its kept replies are lost" : "");
}

const v1::ModelDescription* VirtualGateway::Model(const v1::CallContext& context) const {
  for (const v1::ModelDescription& model : models_) {
    if (context.models().empty() || model.name() == context.models(0)) return &model;
  }
  return &models_.front();
}

absl::Status VirtualGateway::Begin(const engine::GatewayCall& call, Flight* flight) {
  flight->deadline = world_.scheduler.now() + Seconds(call.seconds);
  if (world_.scheduler.now() < away_until_) return Unavailable("no connection");
  if (world_.Fault(world_.rates.gateway)) {
    switch (world_.random.Int(0, 3)) {
      case 0:
        return Unavailable("no connection: drawn");
      case 1:
        if (call.sent != nullptr) *call.sent = true;
        return FailedPrecondition("the gateway has no model for this: drawn");
      case 2:
        if (call.sent != nullptr) *call.sent = true;
        return InvalidArgument("the gateway refuses the request: drawn");
      default:
        Crash();
        return Unavailable("no connection: drawn");
    }
  }
  if (call.sent != nullptr) *call.sent = true;
  flight->boot = boot_;
  return absl::OkStatus();
}

absl::Status VirtualGateway::CutOff() {
  switch (world_.random.Int(0, 3)) {
    case 0:
      Crash();
      return Unavailable("the gateway died: drawn");
    case 1:
      return Internal("the gateway failed: drawn");
    case 2:
      return ResourceExhausted("every model is overloaded: drawn");
    default:
      return Unavailable("the connection broke: drawn");
  }
}

absl::Status VirtualGateway::Pass(const Flight& flight, double seconds) {
  const Micros now = world_.scheduler.now();
  const bool late = now + Seconds(seconds) > flight.deadline;
  world_.Wait(late ? std::max<Micros>(0, flight.deadline - now) : Seconds(seconds));
  if (flight.cancelled) return Cancelled("the call was cancelled");
  if (flight.boot != boot_) return Unavailable("the connection broke");
  if (late) return DeadlineExceeded("no model answered in time");
  if (world_.Fault(world_.rates.gateway)) return CutOff();
  return absl::OkStatus();
}

v1::ModelCall VirtualGateway::Bill(const v1::CallContext& context, int calls_of_request, int parts) {
  const v1::ModelDescription* model = Model(context);
  v1::ModelCall call;
  call.set_provider(model->provider());
  call.set_model(model->name());
  call.set_effort(context.effort());
  call.set_prompt_variant(context.prompt_variant());
  call.set_tries(1);
  call.set_finish_reason("stop");
  if (model->provider() == "catalog") return call;
  double most_usd = model->reservation_usd() / parts;
  if (context.max_usd() > 0) most_usd = std::min(most_usd, context.max_usd() / calls_of_request / parts);
  int64_t most_tokens = (model->max_output_tokens() + kLongestInput) / parts;
  if (context.max_total_tokens() > 0) {
    most_tokens = std::min(most_tokens, context.max_total_tokens() / calls_of_request / parts);
  }
  // Now and then the worst case to the last bit.
  const double part = world_.random.Chance(0.2) ? 1 : world_.random.Between(0.05, 1);
  call.set_price_id(model->price_id());
  call.set_usd(most_usd * part);
  const auto tokens = static_cast<int64_t>(static_cast<double>(most_tokens) * part);
  call.set_input_tokens(std::min(tokens, kLongestInput));
  call.set_output_tokens((tokens - call.input_tokens()) / 2);
  call.set_reasoning_tokens(tokens - call.input_tokens() - call.output_tokens());
  world_.spent_nano_usd[context.search_id()] += static_cast<int64_t>(std::floor(call.usd() * 1e9));
  world_.spent_tokens[context.search_id()] += tokens;
  return call;
}

v1::ProposeIdeasReply VirtualGateway::MakeIdeas(const v1::ProposeIdeasRequest& request) {
  v1::ProposeIdeasReply reply;
  const bool catalog = Model(request.call())->provider() == "catalog";
  *reply.add_calls() = Bill(request.call(), 1, 1);
  int count = request.count();
  const double luck = world_.random.Unit();
  if (catalog) {
    count = std::min(count, world_.random.Int(0, 1));
    if (count < request.count()) reply.set_shortfall("exhausted");
  } else if (luck < 0.1) {
    count = world_.random.Int(0, count);
    if (count < request.count()) reply.set_shortfall(world_.random.Chance(0.5) ? "exhausted" : "the model gave fewer");
  } else if (luck < 0.15) {
    ++count;  // more than was asked for
  }
  for (int i = 0; i < count; ++i) {
    v1::Idea* idea = reply.add_ideas();
    idea->set_title(fmt::format("idea {}", ++ideas_));
    idea->set_category("memory_access");
    idea->set_origin(catalog ? "catalog" : "model");
    if (catalog) idea->set_catalog_key("recipe/" + std::to_string(ideas_));
  }
  return reply;
}

v1::Implementation VirtualGateway::MakeImplementation(const v1::CallContext& context, int index, int calls_of_request,
                                                      const std::string& name, bool of_catalog) {
  const auto kept = kept_implementations_.find({context.idempotency_key(), index});
  if (kept != kept_implementations_.end()) {
    v1::Implementation again = kept->second;
    for (v1::ModelCall& call : *again.mutable_earlier_calls()) call.set_kept(true);
    again.mutable_call()->set_kept(true);
    return again;
  }
  v1::Implementation implementation;
  implementation.set_index(index);
  if (of_catalog) {
    implementation.mutable_call()->set_provider("catalog");
  } else if (world_.random.Chance(0.15)) {
    // One that failed before it, within the same limit.
    *implementation.add_earlier_calls() = Bill(context, calls_of_request, 2);
    *implementation.mutable_call() = Bill(context, calls_of_request, 2);
  } else {
    *implementation.mutable_call() = Bill(context, calls_of_request, 1);
  }
  if (world_.random.Chance(0.12)) {
    implementation.set_status(world_.random.Chance(0.5) ? "no_code" : "truncated");
    implementation.set_message("the reply holds no code");
  } else {
    implementation.set_status("ok");
    implementation.set_source(DrawKernel(world_, name));
  }
  kept_implementations_[{context.idempotency_key(), index}] = implementation;
  return implementation;
}

class VirtualGateway::Client final : public engine::GatewayClient {
 public:
  explicit Client(VirtualGateway& gateway) : gateway_(gateway), world_(gateway.world_) {}

  absl::StatusOr<v1::ProposeIdeasReply> ProposeIdeas(const v1::ProposeIdeasRequest& request,
                                                     const engine::GatewayCall& call) override {
    const std::string& key = request.call().idempotency_key();
    Open open(*this, call.task_id);
    WARPSMITH_RETURN_IF_ERROR(gateway_.Begin(call, &open.flight));
    auto kept = gateway_.kept_ideas_.find(key);
    const bool stored = kept != gateway_.kept_ideas_.end();
    if (!stored) kept = gateway_.kept_ideas_.emplace(key, gateway_.MakeIdeas(request)).first;
    v1::ProposeIdeasReply reply = kept->second;
    for (v1::ModelCall& one : *reply.mutable_calls()) one.set_kept(stored);
    world_.Note("gateway: {}: {} ideas, ${:.4f} of {:.4f}", key, reply.ideas_size(), reply.calls(0).usd(),
                request.call().max_usd());
    WARPSMITH_RETURN_IF_ERROR(gateway_.Pass(open.flight, CallSeconds()));
    return reply;
  }

  absl::Status ImplementIdea(const v1::ImplementIdeaRequest& request, const engine::GatewayCall& call,
                             const std::function<absl::Status(const v1::Implementation&)>& each) override {
    const std::string& key = request.call().idempotency_key();
    Open open(*this, call.task_id);
    WARPSMITH_RETURN_IF_ERROR(gateway_.Begin(call, &open.flight));
    // All models are asked at once; their answers come in any order.
    std::vector<v1::Implementation> made;
    for (int index : request.indexes()) {
      made.push_back(gateway_.MakeImplementation(request.call(), index, request.indexes_size(),
                                                 fmt::format("{}#{}", key, index),
                                                 !request.idea().catalog_key().empty()));
    }
    for (size_t i = made.size(); i > 1; --i) {
      std::swap(made[i - 1], made[static_cast<size_t>(world_.random.Int(0, static_cast<int>(i) - 1))]);
    }
    for (const v1::Implementation& implementation : made) {
      WARPSMITH_RETURN_IF_ERROR(gateway_.Pass(open.flight, CallSeconds()));
      WARPSMITH_RETURN_IF_ERROR(each(implementation));
    }
    return gateway_.Pass(open.flight, 0.01);
  }

  absl::StatusOr<v1::Implementation> Repair(const v1::RepairRequest& request,
                                            const engine::GatewayCall& call) override {
    const std::string& key = request.call().idempotency_key();
    Open open(*this, call.task_id);
    WARPSMITH_RETURN_IF_ERROR(gateway_.Begin(call, &open.flight));
    const v1::Implementation made =
        gateway_.MakeImplementation(request.call(), 0, 1, key, !request.idea().catalog_key().empty());
    WARPSMITH_RETURN_IF_ERROR(gateway_.Pass(open.flight, CallSeconds()));
    return made;
  }

  absl::StatusOr<v1::ListModelsReply> ListModels(double seconds) override {
    Open open(*this, -1);
    WARPSMITH_RETURN_IF_ERROR(gateway_.Begin({-1, seconds, nullptr}, &open.flight));
    v1::ListModelsReply reply;
    for (const v1::ModelDescription& model : gateway_.models_) *reply.add_models() = model;
    return reply;
  }

  void Cancel(int64_t task_id) override {
    if (task_id == 0) closed_ = true;
    for (auto& [id, flight] : flights_) {
      if (task_id == 0 || id == task_id) flight->cancelled = true;
    }
  }

 private:
  // A call in flight, for Cancel to find.
  struct Open {
    Open(Client& owner, int64_t task_id) : client(owner) {
      flight.cancelled = client.closed_;
      place = client.flights_.emplace(task_id, &flight);
    }
    ~Open() { client.flights_.erase(place); }
    Client& client;
    Flight flight;
    std::multimap<int64_t, Flight*>::iterator place;
  };

  double CallSeconds() {
    if (world_.random.Chance(0.03)) return world_.random.Between(5, 40);
    return world_.random.Scale(0.05, 3);
  }

  VirtualGateway& gateway_;
  World& world_;
  std::multimap<int64_t, Flight*> flights_;
  bool closed_ = false;
};

std::unique_ptr<engine::GatewayClient> VirtualGateway::Connect() { return std::make_unique<Client>(*this); }

}  // namespace warpsmith::simulation
