// ReportService: a search as a page shows it, in pieces that fit into messages.
// Threading: gRPC's. Errors: NotFound and InvalidArgument name the search and the remedy.
#ifndef WARPSMITH_COORDINATOR_API_REPORT_SERVICE_H_
#define WARPSMITH_COORDINATOR_API_REPORT_SERVICE_H_

#include <memory>

#include "coordinator/store/database.h"
#include "warpsmith/v1/report.pb.h"

namespace grpc {
class Service;
}

namespace warpsmith::api {

// The whole search. Unset: written_at_us, version.
absl::StatusOr<v1::SearchReport> ReadSearchReport(store::Transaction& transaction, const std::string& search_id,
                                                  bool brief);

std::unique_ptr<grpc::Service> MakeReportService(store::Database& database);

}  // namespace warpsmith::api

#endif  // WARPSMITH_COORDINATOR_API_REPORT_SERVICE_H_
