#include "coordinator/api/audit_service.h"

#include <fmt/format.h>

#include "common/grpc_status.h"
#include "coordinator/api/search_view.h"
#include "warpsmith/v1/audit.grpc.pb.h"

namespace warpsmith::api {
namespace {

constexpr int kUsualEntries = 50;
constexpr int kMostEntries = 10'000;

class AuditServiceImpl final : public v1::AuditService::Service {
 public:
  explicit AuditServiceImpl(store::Database& database) : database_(database) {}

  grpc::Status ListAudit(grpc::ServerContext*, const v1::ListAuditRequest* request,
                         v1::ListAuditReply* reply) override {
    return ToGrpc(database_.Read([&](store::Transaction& transaction) { return List(transaction, *request, reply); }));
  }

 private:
  static absl::Status List(store::Transaction& transaction, const v1::ListAuditRequest& request,
                           v1::ListAuditReply* reply) {
    reply->Clear();
    if (request.limit() < 0 || request.limit() > kMostEntries) {
      return InvalidArgument(
          fmt::format("ListAuditRequest.limit must lie between 0 (default, {}) and {}", kUsualEntries, kMostEntries));
    }
    std::string search_id;
    if (!request.search_id().empty()) {
      WARPSMITH_ASSIGN_OR_RETURN(search_id, ResolveSearch(transaction, request.search_id()));
    }
    WARPSMITH_ASSIGN_OR_RETURN(
        const store::ResultSet rows,
        transaction.Execute("audit_list",
                            {store::NullIfEmpty(search_id), request.limit() == 0 ? kUsualEntries : request.limit()}));
    for (const store::Row row : rows) {
      v1::AuditEntry& entry = *reply->add_entries();
      entry.set_id(row.Int("id"));
      entry.set_at_us(row.Int("at_us"));
      entry.set_actor(row.Text("actor"));
      entry.set_role(row.Text("role"));
      entry.set_peer(row.Text("peer"));
      entry.set_action(row.Text("action"));
      entry.set_search_id(row.Text("search_id"));
      entry.set_subject(row.Text("subject"));
      entry.set_detail(row.Text("detail"));
    }
    return absl::OkStatus();
  }

  store::Database& database_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeAuditService(store::Database& database) {
  return std::make_unique<AuditServiceImpl>(database);
}

}  // namespace warpsmith::api
