// BatchService: thin; the work is in batch/batch_operations.h and batch_view.h.
// Threading: gRPC's; every collaborator is safe from any thread.
#ifndef WARPSMITH_COORDINATOR_API_BATCH_SERVICE_H_
#define WARPSMITH_COORDINATOR_API_BATCH_SERVICE_H_

#include <memory>

#include "coordinator/batch/batch_operations.h"
#include "coordinator/engine/change_bus.h"

namespace grpc {
class Service;
}

namespace warpsmith::api {

std::unique_ptr<grpc::Service> MakeBatchService(const batch::BatchContext& context, engine::ChangeBus& changes);

}  // namespace warpsmith::api

#endif  // WARPSMITH_COORDINATOR_API_BATCH_SERVICE_H_
