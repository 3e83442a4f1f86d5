// BankService: thin; the work is in bank/.
// Threading: gRPC's; every collaborator is safe from any thread.
#ifndef WARPSMITH_COORDINATOR_API_BANK_SERVICE_H_
#define WARPSMITH_COORDINATOR_API_BANK_SERVICE_H_

#include <memory>

#include "common/clock.h"
#include "coordinator/engine/settings.h"
#include "coordinator/engine/signals.h"
#include "coordinator/queue/task_queue.h"
#include "coordinator/store/database.h"

namespace grpc {
class Service;
}

namespace warpsmith::api {

struct BankContext {
  store::Database& database;
  queue::TaskQueue& queue;
  engine::Signals& signals;
  Clock& clock;
  engine::EngineSettings settings;
};

std::unique_ptr<grpc::Service> MakeBankService(const BankContext& context);

}  // namespace warpsmith::api

#endif  // WARPSMITH_COORDINATOR_API_BANK_SERVICE_H_
