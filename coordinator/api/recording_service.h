// RecordingService: thin; the reading is replay/recording.h's.
// Threading: gRPC's. Errors: NotFound and InvalidArgument name the search and the remedy.
#ifndef WARPSMITH_COORDINATOR_API_RECORDING_SERVICE_H_
#define WARPSMITH_COORDINATOR_API_RECORDING_SERVICE_H_

#include <memory>

#include "coordinator/store/database.h"

namespace grpc {
class Service;
}

namespace warpsmith::api {

std::unique_ptr<grpc::Service> MakeRecordingService(store::Database& database);

}  // namespace warpsmith::api

#endif  // WARPSMITH_COORDINATOR_API_RECORDING_SERVICE_H_
