// AdministrationService: thin; the work is in operations/.
// Threading: gRPC's; every collaborator is safe from any thread.
#ifndef WARPSMITH_COORDINATOR_API_ADMINISTRATION_SERVICE_H_
#define WARPSMITH_COORDINATOR_API_ADMINISTRATION_SERVICE_H_

#include <functional>
#include <memory>
#include <string>

#include "coordinator/engine/signals.h"
#include "coordinator/operations/janitor.h"

namespace grpc {
class Service;
}

namespace warpsmith::api {

struct AdministrationContext {
  store::Database& database;
  const operations::Janitor& janitor;
  engine::Signals& signals;
  // Called once it is stored.
  std::function<void(const std::string& worker_id, bool wanted)> want_draining;
};

std::unique_ptr<grpc::Service> MakeAdministrationService(const AdministrationContext& context);

}  // namespace warpsmith::api

#endif  // WARPSMITH_COORDINATOR_API_ADMINISTRATION_SERVICE_H_
