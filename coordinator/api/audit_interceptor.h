// Makes an act of every call that changes something: all but those that only look, and but the cluster's own (workers,
// gateways). What a call's handler did not record by writing is recorded when it ends well. Where tokens are in use,
// the request's `submitted_by` is set to the token's name before the handler sees it. Threading: gRPC's.
#ifndef WARPSMITH_COORDINATOR_API_AUDIT_INTERCEPTOR_H_
#define WARPSMITH_COORDINATOR_API_AUDIT_INTERCEPTOR_H_

#include <grpcpp/support/server_interceptor.h>

#include <memory>

#include "common/access.h"
#include "coordinator/api/audit_database.h"

namespace warpsmith::api {

// `access` null: no tokens are in use. Both outlive the server.
std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> MakeAuditInterceptors(
    AuditDatabase& database, std::shared_ptr<const AccessControl> access);

}  // namespace warpsmith::api

#endif  // WARPSMITH_COORDINATOR_API_AUDIT_INTERCEPTOR_H_
