// AuditService: reads the audit. Threading: gRPC's.
#ifndef WARPSMITH_COORDINATOR_API_AUDIT_SERVICE_H_
#define WARPSMITH_COORDINATOR_API_AUDIT_SERVICE_H_

#include <memory>

#include "coordinator/store/database.h"

namespace grpc {
class Service;
}

namespace warpsmith::api {

std::unique_ptr<grpc::Service> MakeAuditService(store::Database& database);

}  // namespace warpsmith::api

#endif  // WARPSMITH_COORDINATOR_API_AUDIT_SERVICE_H_
