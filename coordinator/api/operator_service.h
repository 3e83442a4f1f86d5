// OperatorService: thin; checks and work are in submission.h, search_view.h, explanation.h.
// Threading: gRPC's; every collaborator is safe from any thread.
#ifndef WARPSMITH_COORDINATOR_API_OPERATOR_SERVICE_H_
#define WARPSMITH_COORDINATOR_API_OPERATOR_SERVICE_H_

#include <memory>

#include "coordinator/api/submission.h"
#include "coordinator/engine/change_bus.h"
#include "coordinator/engine/decision_executor.h"
#include "coordinator/engine/gateway_client.h"
#include "coordinator/engine/signals.h"

namespace grpc {
class Service;
}

namespace warpsmith::api {

struct OperatorContext {
  store::Database& database;
  queue::TaskQueue& queue;
  const engine::DecisionExecutor& executor;
  engine::GatewayClient& gateway;
  engine::Signals& signals;
  engine::ChangeBus& changes;
  Clock& clock;
  engine::EngineSettings settings;
  int schema_version = 0;
  int64_t term = 0;
  int64_t started_at_us = 0;
};

std::unique_ptr<grpc::Service> MakeOperatorService(const OperatorContext& context);

}  // namespace warpsmith::api

#endif  // WARPSMITH_COORDINATOR_API_OPERATOR_SERVICE_H_
