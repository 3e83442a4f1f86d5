#include "llm_gateway/service/model_pool.h"

#include <fmt/format.h>

#include <random>

#include "common/log.h"
#include "llm_gateway/providers/command_model.h"
#include "llm_gateway/providers/http_model.h"
#include "llm_gateway/providers/recorded_model.h"
#include "llm_gateway/providers/wire_format.h"

namespace warpsmith::gateway {
namespace {

// A typical prompt, for the reservation that a description shows.
constexpr int64_t kTypicalInput = 32'000;
constexpr int64_t kDefaultOutput = 32'000;
constexpr char kOwnPrice[] = "gateway.yaml";

double RandomUnit() {
  thread_local std::mt19937_64 generator{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(generator);
}

// A recorded model is limited, priced and told about as the one it records.
ModelConfig WithUpstream(ModelConfig config, const ModelConfig& upstream) {
  config.model = upstream.model;
  config.max_output_tokens = upstream.max_output_tokens;
  config.most_output_tokens = upstream.most_output_tokens;
  config.reasoning_effort = upstream.reasoning_effort;
  config.efforts = upstream.efforts;
  if (!config.price && config.price_name.empty()) {
    config.price = upstream.price;
    config.price_name = upstream.price_name;
  }
  return config;
}

}  // namespace

std::string PooledModel::Problem() const {
  if (!config.enabled) return "disabled in the configuration: " + config.place + ".enabled";
  if (!broken.empty()) return broken;
  const absl::StatusOr<Secret> own = key->Get();
  return own.ok() ? "" : Message(own.status());
}

bool PooledModel::Healthy() const { return circuit->state() != CircuitState::kOpen; }

v1::ModelDescription PooledModel::Describe() const {
  v1::ModelDescription description;
  description.set_name(config.name);
  description.set_provider(config.provider);
  description.set_problem(Problem());
  description.set_enabled(description.problem().empty());
  description.set_model(config.model);
  for (const std::string& effort : config.efforts) description.add_efforts(effort);
  description.set_max_output_tokens(config.max_output_tokens);
  if (config.max_output_tokens == 0 && config.provider == "anthropic") description.set_max_output_tokens(32'000);
  description.set_requests_per_minute(config.requests_per_minute);
  description.set_tokens_per_minute(config.tokens_per_minute);
  description.set_circuit(std::string(gateway::Name(circuit->state())));
  if (endpoint.price) {
    description.set_price_id(endpoint.price_id);
    description.set_input_usd_per_million(endpoint.price->input);
    description.set_output_usd_per_million(endpoint.price->output);
    description.set_reservation_usd(
        MostCost(*endpoint.price, kTypicalInput,
                 description.max_output_tokens() > 0 ? description.max_output_tokens() : kDefaultOutput, true));
  }
  return description;
}

ModelPool::ModelPool(const GatewayConfig& config, HttpTransport& transport, Clock& clock)
    : transport_(transport), clock_(clock), day_(config.max_usd_per_day, 0, clock) {}

absl::StatusOr<std::unique_ptr<ModelPool>> ModelPool::Build(const GatewayConfig& config, HttpTransport& transport,
                                                            Clock& clock) {
  std::unique_ptr<ModelPool> pool(new ModelPool(config, transport, clock));
  std::string path = config.prices_file;
  if (path.empty()) {
    WARPSMITH_ASSIGN_OR_RETURN(path, PriceTable::DefaultPath());
  }
  auto prices = PriceTable::Load(path);
  if (!prices.ok()) return Annotate(prices.status(), config.place + "prices_file");
  // Recorded models last: what they record must be there.
  for (const bool recorded : {false, true}) {
    for (const ModelConfig& model : config.models) {
      if (model.provider == "catalog" || (model.provider == "recorded") != recorded) continue;
      WARPSMITH_RETURN_IF_ERROR(pool->Add(model, *prices));
    }
  }
  return pool;
}

absl::Status ModelPool::Price(PooledModel& model, const PriceTable& prices) {
  const ModelConfig& config = model.config;
  if (config.price) {
    model.endpoint.price = config.price;
    model.endpoint.price_id = kOwnPrice;
    return absl::OkStatus();
  }
  const std::string& name = config.price_name.empty() ? config.model : config.price_name;
  model.endpoint.price = prices.Find(name);
  if (model.endpoint.price) {
    model.endpoint.price_id = prices.id();
  } else if (!config.price_name.empty()) {
    return InvalidArgument(
        fmt::format("{}.price_name: the price file of {} has no \"{}\"; name one that it has, or "
                    "give a price of its own in {}.price",
                    config.place, prices.id(), name, config.place));
  }
  return absl::OkStatus();
}

void ModelPool::PriceEmbeddings(PooledModel& model, const PriceTable& prices) {
  const ModelConfig& config = model.config;
  if (config.embedding_model.empty()) return;
  gateway::Price own;
  if (config.embedding_price) {
    own.input = *config.embedding_price;
  } else if (auto listed = prices.Find(config.embedding_model)) {
    model.embedding_price = listed;
    model.embedding_price_id = prices.id();
    return;
  } else if (!config.price || config.price->input > 0) {
    return;  // of a server that is free the embeddings are too; of another nothing is known
  }
  model.embedding_price = own;
  model.embedding_price_id = kOwnPrice;
}

absl::Status ModelPool::Add(const ModelConfig& given, const PriceTable& prices) {
  auto model = std::make_unique<PooledModel>();
  PooledModel* upstream = given.upstream.empty() ? nullptr : Find(given.upstream);
  model->config = upstream != nullptr ? WithUpstream(given, upstream->config) : given;
  const ModelConfig& config = model->config;
  model->key = std::make_unique<ReloadingKey>(config);
  WARPSMITH_RETURN_IF_ERROR(Price(*model, prices));
  PriceEmbeddings(*model, prices);
  if (config.provider == "command") {
    model->bare = std::make_unique<CommandModel>(config);
  } else if (config.provider == "recorded") {
    // Known by the recorded model's own name, the same with and without an upstream.
    auto recorded = std::make_unique<RecordedModel>(config.recording,
                                                    upstream != nullptr ? upstream->bare.get() : nullptr, config.name);
    if (!recorded->status().ok()) model->broken = Message(recorded->status());
    model->bare = std::move(recorded);
  } else {
    ReloadingKey* key = model->key.get();
    model->bare = std::make_unique<HttpModel>(
        config, MakeWireFormat(config), [key] { return key->Get(); }, transport_, clock_, RandomUnit);
  }
  model->limiter = std::make_unique<RateLimiter>(
      RateLimits{config.requests_per_minute, config.tokens_per_minute, config.concurrency}, clock_);
  model->circuit = std::make_unique<CircuitBreaker>(CircuitPolicy{}, clock_);
  model->endpoint.config = config;
  model->endpoint.model = model->bare.get();
  model->endpoint.limiter = model->limiter.get();
  model->endpoint.circuit = model->circuit.get();
  model->guarded = std::make_unique<GuardedModel>(
      config.name,
      [this](const std::string& name) -> const GuardedEndpoint* {
        PooledModel* found = Find(name);
        return found != nullptr && found->Problem().empty() ? &found->endpoint : nullptr;
      },
      &day_, clock_);
  if (std::string problem = model->Problem(); !problem.empty() && config.enabled) {
    spdlog::warn("model {} is not usable: {}", config.name, problem);
  }
  by_name_[config.name] = model.get();
  models_.push_back(std::move(model));
  return absl::OkStatus();
}

PooledModel* ModelPool::Find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

std::string ModelPool::ProviderOf(const std::string& name) const {
  const PooledModel* model = Find(name);
  return model == nullptr ? "" : model->config.provider;
}

void ModelPool::ReloadKeys() {
  for (const auto& model : models_) model->key->Reload();
}

}  // namespace warpsmith::gateway
