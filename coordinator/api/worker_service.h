// WorkerService over gRPC: the session stream (a reactor that only enqueues) and blobs.
// Threading: as gRPC calls it; the hub and the database are safe from any thread.
#ifndef WARPSMITH_COORDINATOR_API_WORKER_SERVICE_H_
#define WARPSMITH_COORDINATOR_API_WORKER_SERVICE_H_

#include <memory>

#include "common/access.h"
#include "coordinator/engine/worker_hub.h"
#include "coordinator/store/database.h"

namespace grpc {
class Service;
}

namespace warpsmith::api {

// `access` null: no tokens are in use; else a worker speaks only as the one that its token names.
std::unique_ptr<grpc::Service> MakeWorkerService(engine::WorkerHub& hub, store::Database& database,
                                                 std::shared_ptr<const AccessControl> access = nullptr);

}  // namespace warpsmith::api

#endif  // WARPSMITH_COORDINATOR_API_WORKER_SERVICE_H_
