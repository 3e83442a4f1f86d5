// RateSharingService: thin; the shares are engine/rate_sharing.h's.
// Threading: gRPC's. Errors: InvalidArgument names the field.
#ifndef WARPSMITH_COORDINATOR_API_RATE_SHARING_SERVICE_H_
#define WARPSMITH_COORDINATOR_API_RATE_SHARING_SERVICE_H_

#include <memory>

#include "coordinator/engine/rate_sharing.h"

namespace grpc {
class Service;
}

namespace warpsmith::api {

std::unique_ptr<grpc::Service> MakeRateSharingService(engine::RateSharing& sharing);

}  // namespace warpsmith::api

#endif  // WARPSMITH_COORDINATOR_API_RATE_SHARING_SERVICE_H_
