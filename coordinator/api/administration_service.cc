#include "coordinator/api/administration_service.h"

#include <fmt/format.h>

#include "common/grpc_status.h"
#include "coordinator/api/search_view.h"
#include "coordinator/operations/quarantine.h"
#include "coordinator/store/text.h"
#include "warpsmith/v1/administration.grpc.pb.h"

namespace warpsmith::api {
namespace {

constexpr int kQuarantineDefaultLimit = 50;
constexpr int kQuarantineLargestLimit = 1000;

absl::Status FillHealth(store::Transaction& transaction, const operations::Janitor& janitor,
                        v1::DatabaseHealth* reply) {
  reply->Clear();
  const operations::DiskHealth disk = janitor.disk().health();
  reply->set_max_database_bytes(janitor.disk().settings().max_database_bytes);
  reply->set_min_free_bytes(janitor.disk().settings().min_free_bytes);
  reply->set_disk_path(disk.path);
  reply->set_free_bytes(disk.free_bytes);
  reply->set_held(disk.held);
  reply->set_held_reason(disk.reason);
  reply->set_held_since_us(disk.held_since_us);
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet size, transaction.Execute("database_health", {}));
  reply->set_database_bytes(size[0].Int("database_bytes"));
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet tables, transaction.Execute("database_tables", {}));
  for (const store::Row row : tables) {
    v1::TableHealth* table = reply->add_tables();
    table->set_name(row.Text("name"));
    table->set_bytes(row.Int("bytes"));
    table->set_live_rows(row.Int("live"));
    table->set_dead_rows(row.Int("dead"));
  }
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet oldest, transaction.Execute("database_oldest_transaction", {}));
  if (!oldest.empty()) {
    reply->set_oldest_transaction_seconds(oldest[0].Double("seconds"));
    reply->set_oldest_transaction_of(
        fmt::format("{} (user {})", oldest[0].Text("application"), oldest[0].Text("username")));
  }
  for (const operations::Kept kept : operations::kAllKept) {
    v1::RetentionStatus* status = reply->add_retention();
    status->set_what(operations::KeptName(kept));
    status->set_keep_days(janitor.retention().Days(kept));
    status->set_removed(janitor.retention().removed(kept));
  }
  reply->set_retention_error(janitor.last_error());
  return absl::OkStatus();
}

class AdministrationServiceImpl final : public v1::AdministrationService::Service {
 public:
  explicit AdministrationServiceImpl(const AdministrationContext& context) : context_(context) {}

  grpc::Status ListQuarantined(grpc::ServerContext*, const v1::ListQuarantinedRequest* request,
                               v1::ListQuarantinedReply* reply) override {
    if (request->limit() < 0 || request->limit() > kQuarantineLargestLimit) {
      return ToGrpc(InvalidArgument(fmt::format("ListQuarantinedRequest.limit must lie between 0 (default, {}) and {}",
                                                kQuarantineDefaultLimit, kQuarantineLargestLimit)));
    }
    return ToGrpc(context_.database.Read([&](store::Transaction& transaction) -> absl::Status {
      std::string search_id;
      if (!request->search_id().empty()) {
        WARPSMITH_ASSIGN_OR_RETURN(search_id, ResolveSearch(transaction, request->search_id()));
      }
      WARPSMITH_ASSIGN_OR_RETURN(
          *reply, operations::ListQuarantined(transaction, search_id,
                                              request->limit() == 0 ? kQuarantineDefaultLimit : request->limit()));
      return absl::OkStatus();
    }));
  }

  grpc::Status RetryQuarantined(grpc::ServerContext*, const v1::RetryQuarantinedRequest* request,
                                v1::RetryQuarantinedReply* reply) override {
    std::vector<std::string> changed;
    auto retried = operations::RetryQuarantined(context_.database, *request, &changed);
    if (!changed.empty()) context_.signals.TasksAdded();
    for (const std::string& search_id : changed) context_.signals.SearchChanged(search_id);
    if (!retried.ok()) return ToGrpc(retried.status());
    *reply = *std::move(retried);
    return grpc::Status::OK;
  }

  grpc::Status DrainWorker(grpc::ServerContext*, const v1::DrainWorkerRequest* request,
                           v1::DrainWorkerReply* reply) override {
    return WantDraining(request->worker_id(), true, reply);
  }

  grpc::Status UndrainWorker(grpc::ServerContext*, const v1::DrainWorkerRequest* request,
                             v1::DrainWorkerReply* reply) override {
    return WantDraining(request->worker_id(), false, reply);
  }

  grpc::Status GetDatabaseHealth(grpc::ServerContext*, const v1::GetDatabaseHealthRequest*,
                                 v1::DatabaseHealth* reply) override {
    return ToGrpc(context_.database.Read(
        [&](store::Transaction& transaction) { return FillHealth(transaction, context_.janitor, reply); }));
  }

 private:
  grpc::Status WantDraining(const std::string& worker_id, bool wanted, v1::DrainWorkerReply* reply) {
    const std::string id = store::CleanLine(worker_id, 200);
    absl::Status status = context_.database.Write([&](store::Transaction& transaction) -> absl::Status {
      reply->Clear();
      WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows,
                                 transaction.Execute("worker_want_draining", {id, wanted}));
      if (rows.empty()) {
        return NotFound(fmt::format("there is no worker {}; `warpsmith status` lists those that ever connected", id));
      }
      reply->set_worker_id(id);
      reply->set_draining(wanted);
      reply->set_connected(rows[0].Bool("connected"));
      reply->set_running(static_cast<int>(rows[0].Int("running")));
      return absl::OkStatus();
    });
    if (!status.ok()) return ToGrpc(status);
    context_.want_draining(id, wanted);
    return grpc::Status::OK;
  }

  const AdministrationContext context_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeAdministrationService(const AdministrationContext& context) {
  return std::make_unique<AdministrationServiceImpl>(context);
}

}  // namespace warpsmith::api
