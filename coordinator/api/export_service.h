// ExportService and ImportService: what `warpsmith export` reads, and kernels that `warpsmith import` hands in. Thin;
// the reading is in export_view.h, the admission in bank/.
// Threading: gRPC's; every collaborator is safe from any thread.
#ifndef WARPSMITH_COORDINATOR_API_EXPORT_SERVICE_H_
#define WARPSMITH_COORDINATOR_API_EXPORT_SERVICE_H_

#include <memory>

#include "coordinator/api/bank_service.h"

namespace warpsmith::api {

std::unique_ptr<grpc::Service> MakeExportService(store::Database& database, Clock& clock);
std::unique_ptr<grpc::Service> MakeImportService(const BankContext& context);

}  // namespace warpsmith::api

#endif  // WARPSMITH_COORDINATOR_API_EXPORT_SERVICE_H_
