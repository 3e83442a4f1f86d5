#include "coordinator/api/recording_service.h"

#include "common/grpc_status.h"
#include "coordinator/api/search_view.h"
#include "coordinator/replay/recording.h"
#include "warpsmith/v1/recording.grpc.pb.h"

namespace warpsmith::api {
namespace {

class RecordingServiceImpl final : public v1::RecordingService::Service {
 public:
  explicit RecordingServiceImpl(store::Database& database) : database_(database) {}

  grpc::Status GetRecording(grpc::ServerContext*, const v1::GetRecordingRequest* request,
                            v1::Recording* reply) override {
    return ToGrpc(database_.Read([&](store::Transaction& transaction) -> absl::Status {
      WARPSMITH_ASSIGN_OR_RETURN(const std::string id, ResolveSearch(transaction, request->search_id()));
      WARPSMITH_ASSIGN_OR_RETURN(*reply, replay::ReadRecording(transaction, id));
      return absl::OkStatus();
    }));
  }

 private:
  store::Database& database_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeRecordingService(store::Database& database) {
  return std::make_unique<RecordingServiceImpl>(database);
}

}  // namespace warpsmith::api
