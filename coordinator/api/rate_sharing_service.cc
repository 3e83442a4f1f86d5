#include "coordinator/api/rate_sharing_service.h"

#include "warpsmith/v1/gateway.grpc.pb.h"

namespace warpsmith::api {
namespace {

constexpr size_t kLongestId = 200;

class RateSharingServiceImpl final : public v1::RateSharingService::Service {
 public:
  explicit RateSharingServiceImpl(engine::RateSharing& sharing) : sharing_(sharing) {}

  grpc::Status ShareRates(grpc::ServerContext*, const v1::ShareRatesRequest* request,
                          v1::ShareRatesReply* reply) override {
    if (request->gateway_id().empty() || request->gateway_id().size() > kLongestId) {
      return {grpc::StatusCode::INVALID_ARGUMENT,
              "ShareRatesRequest.gateway_id must have 1 to 200 characters; send an id of this gateway's boot"};
    }
    *reply = sharing_.Share(*request);
    return grpc::Status::OK;
  }

 private:
  engine::RateSharing& sharing_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeRateSharingService(engine::RateSharing& sharing) {
  return std::make_unique<RateSharingServiceImpl>(sharing);
}

}  // namespace warpsmith::api
