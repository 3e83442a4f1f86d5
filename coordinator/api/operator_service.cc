#include "coordinator/api/operator_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "common/grpc_status.h"
#include "common/version.h"
#include "coordinator/api/explanation.h"
#include "coordinator/api/search_view.h"
#include "coordinator/bank/bank.h"
#include "coordinator/store/budgets.h"
#include "coordinator/store/text.h"
#include "warpsmith/v1/operator.grpc.pb.h"

namespace warpsmith::api {
namespace {

constexpr int kDefaultLimit = 50;
constexpr int kLargestLimit = 1000;
constexpr int kMostWatchers = 64;  // each holds a thread
constexpr double kGatewayPatienceSeconds = 2;
constexpr Duration kWatchPoll = std::chrono::milliseconds(500);

absl::StatusOr<int> Limit(const char* field, int limit) {
  if (limit < 0 || limit > kLargestLimit) {
    return InvalidArgument(
        fmt::format("{} must lie between 0 (default, {}) and {}", field, kDefaultLimit, kLargestLimit));
  }
  return limit == 0 ? kDefaultLimit : limit;
}

class OperatorServiceImpl final : public v1::OperatorService::Service {
 public:
  explicit OperatorServiceImpl(const OperatorContext& context)
      : context_(context), submission_(context.database, context.queue, context.settings) {}

  grpc::Status SubmitSearch(grpc::ServerContext*, const v1::SubmitSearchRequest* request,
                            v1::SubmitSearchReply* reply) override {
    auto id = submission_.Submit(*request);
    if (!id.ok()) return ToGrpc(id.status());
    context_.signals.TasksAdded();
    context_.signals.SearchChanged(*id);
    reply->set_search_id(*id);
    return grpc::Status::OK;
  }

  grpc::Status ListSearches(grpc::ServerContext*, const v1::ListSearchesRequest* request,
                            v1::ListSearchesReply* reply) override {
    return Read([&](store::Transaction& transaction) -> absl::Status {
      reply->Clear();
      WARPSMITH_ASSIGN_OR_RETURN(const int limit, Limit("ListSearchesRequest.limit", request->limit()));
      if (!request->state().empty() && store::ParseSearchState(request->state()) == v1::SEARCH_STATE_UNSPECIFIED) {
        return InvalidArgument(
            "ListSearchesRequest.state must be empty or one of intake, running, done, cancelled, failed");
      }
      WARPSMITH_ASSIGN_OR_RETURN(
          const store::ResultSet rows,
          transaction.Execute("search_list", {request->state(), limit, request->include_system()}));
      for (const store::Row row : rows) {
        WARPSMITH_ASSIGN_OR_RETURN(*reply->add_searches(), ViewSearch(transaction, row.Text("id"), false));
      }
      return absl::OkStatus();
    });
  }

  grpc::Status GetSearch(grpc::ServerContext*, const v1::GetSearchRequest* request, v1::Search* reply) override {
    return Read([&](store::Transaction& transaction) -> absl::Status {
      WARPSMITH_ASSIGN_OR_RETURN(const std::string id, ResolveSearch(transaction, request->search_id()));
      WARPSMITH_ASSIGN_OR_RETURN(*reply, ViewSearch(transaction, id, true));
      return absl::OkStatus();
    });
  }

  grpc::Status WatchSearch(grpc::ServerContext* context, const v1::GetSearchRequest* request,
                           grpc::ServerWriter<v1::SearchEvent>* writer) override {
    if (watchers_.fetch_add(1) >= kMostWatchers) {
      watchers_.fetch_sub(1);
      return {grpc::StatusCode::RESOURCE_EXHAUSTED,
              fmt::format("{} watches are open, which is the most there can be; close one", kMostWatchers)};
    }
    grpc::Status status = Watch(context, request->search_id(), writer);
    watchers_.fetch_sub(1);
    return status;
  }

  grpc::Status GetTree(grpc::ServerContext*, const v1::GetSearchRequest* request, v1::Tree* reply) override {
    return Read([&](store::Transaction& transaction) -> absl::Status {
      WARPSMITH_ASSIGN_OR_RETURN(const std::string id, ResolveSearch(transaction, request->search_id()));
      WARPSMITH_ASSIGN_OR_RETURN(*reply, ViewTree(transaction, id));
      return absl::OkStatus();
    });
  }

  grpc::Status GetCandidate(grpc::ServerContext*, const v1::GetCandidateRequest* request,
                            v1::Candidate* reply) override {
    return Read([&](store::Transaction& transaction) -> absl::Status {
      WARPSMITH_ASSIGN_OR_RETURN(const std::string id, ResolveCandidate(transaction, request->candidate_id()));
      WARPSMITH_ASSIGN_OR_RETURN(*reply, ViewCandidate(transaction, id));
      return absl::OkStatus();
    });
  }

  grpc::Status CancelSearch(grpc::ServerContext*, const v1::GetSearchRequest* request, v1::Search* reply) override {
    std::vector<queue::CancelledTask> cancelled;
    std::string id;
    absl::Status status = context_.database.Write([&](store::Transaction& transaction) -> absl::Status {
      cancelled.clear();
      WARPSMITH_ASSIGN_OR_RETURN(id, ResolveSearch(transaction, request->search_id()));
      WARPSMITH_RETURN_IF_ERROR(transaction.Execute("search_lock", {id}).status());
      WARPSMITH_ASSIGN_OR_RETURN(const store::SearchRecord record, store::GetSearch(transaction, id));
      WARPSMITH_RETURN_IF_ERROR(context_.executor
                                    .End(transaction, record, v1::SEARCH_STATE_CANCELLED, "cancelled", "",
                                         context_.clock.WallMicros(), &cancelled)
                                    .status());
      WARPSMITH_ASSIGN_OR_RETURN(*reply, ViewSearch(transaction, id, false));
      return absl::OkStatus();
    });
    if (!status.ok()) return ToGrpc(status);
    context_.signals.TasksCancelled(cancelled);
    context_.signals.SearchChanged(id);
    return grpc::Status::OK;
  }

  grpc::Status InjectIdea(grpc::ServerContext*, const v1::InjectIdeaRequest* request, v1::InjectReply* reply) override {
    std::string search_id;
    auto id = submission_.InjectIdea(*request, &search_id);
    return Injected(id, search_id, reply);
  }

  grpc::Status InjectKernel(grpc::ServerContext*, const v1::InjectKernelRequest* request,
                            v1::InjectReply* reply) override {
    std::string search_id;
    auto id = submission_.InjectKernel(*request, &search_id);
    return Injected(id, search_id, reply);
  }

  grpc::Status ListKernels(grpc::ServerContext*, const v1::ListKernelsRequest* request,
                           v1::ListKernelsReply* reply) override {
    return Read([&](store::Transaction& transaction) -> absl::Status {
      reply->Clear();
      WARPSMITH_ASSIGN_OR_RETURN(const int limit, Limit("ListKernelsRequest.limit", request->limit()));
      WARPSMITH_ASSIGN_OR_RETURN(
          const std::vector<v1::BankKernel> kernels,
          bank::List(transaction, store::CleanLine(request->operator_family()), store::CleanLine(request->problem()),
                     store::CleanLine(request->device_class()), limit));
      for (const v1::BankKernel& kernel : kernels) *reply->add_kernels() = kernel;
      return absl::OkStatus();
    });
  }

  grpc::Status Explain(grpc::ServerContext*, const v1::GetSearchRequest* request, v1::Explanation* reply) override {
    return Read([&](store::Transaction& transaction) -> absl::Status {
      WARPSMITH_ASSIGN_OR_RETURN(const std::string id, ResolveSearch(transaction, request->search_id()));
      WARPSMITH_ASSIGN_OR_RETURN(
          *reply, api::Explain(transaction, id, context_.settings, store::UtcDay(context_.clock.WallMicros())));
      return absl::OkStatus();
    });
  }

  grpc::Status GetStatus(grpc::ServerContext*, const v1::GetStatusRequest*, v1::ClusterStatus* reply) override {
    grpc::Status status = Read([&](store::Transaction& transaction) { return FillStatus(transaction, reply); });
    if (!status.ok()) return status;
    auto models = context_.gateway.ListModels(kGatewayPatienceSeconds);
    reply->set_gateway_reachable(models.ok());
    if (models.ok()) {
      *reply->mutable_models() = models->models();
    } else {
      reply->set_gateway_error(Message(models.status()));
    }
    return grpc::Status::OK;
  }

 private:
  grpc::Status Read(const store::Work& work) { return ToGrpc(context_.database.Read(work)); }

  grpc::Status Injected(const absl::StatusOr<std::string>& id, const std::string& search_id, v1::InjectReply* reply) {
    if (!id.ok()) return ToGrpc(id.status());
    reply->set_id(*id);
    context_.signals.TasksAdded();
    context_.signals.SearchChanged(search_id);
    return grpc::Status::OK;
  }

  absl::Status FillStatus(store::Transaction& transaction, v1::ClusterStatus* reply) {
    reply->Clear();
    reply->set_version(kVersion);
    reply->set_started_at_us(context_.started_at_us);
    reply->set_schema_version(context_.schema_version);
    reply->set_term(context_.term);
    WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet workers, transaction.Execute("worker_list", {}));
    for (const store::Row row : workers) {
      v1::WorkerStatus* worker = reply->add_workers();
      worker->set_worker_id(row.Text("worker_id"));
      worker->set_boot_id(row.Text("boot_id"));
      worker->mutable_device()->ParseFromString(row.Blob("device"));
      worker->set_running(static_cast<int>(row.Int("running")));
      worker->set_last_seen_seconds_ago(row.Double("seen_seconds"));
      worker->set_draining(row.Bool("draining"));
      worker->set_connected(row.Bool("connected"));
    }
    WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet held, transaction.Execute("worker_held", {""}));
    for (const store::Row row : held) {
      const auto holder =
          std::find_if(reply->mutable_workers()->begin(), reply->mutable_workers()->end(),
                       [&, id = row.Text("owner_worker")](const auto& one) { return one.worker_id() == id; });
      if (holder == reply->mutable_workers()->end()) continue;
      v1::HeldTask* task = holder->add_held();
      task->set_task_id(row.Int("id"));
      task->set_kind(row.Text("kind"));
      task->set_stage(row.Text("stage"));
      task->set_search_id(row.Text("search_id"));
      task->set_search_name(row.Text("search_name"));
      task->set_seconds(row.Double("seconds"));
      task->set_attempts(static_cast<int>(row.Int("attempts")));
    }
    WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet queues, transaction.Execute("queue_status", {}));
    for (const store::Row row : queues) {
      v1::QueueStatus* queue = reply->add_queues();
      queue->set_kind(row.Text("kind"));
      queue->set_available(static_cast<int>(row.Int("available")));
      queue->set_running(static_cast<int>(row.Int("running")));
      queue->set_quarantined(static_cast<int>(row.Int("quarantined")));
      queue->set_oldest_seconds(row.Double("oldest"));
    }
    WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet active, transaction.Execute("search_active", {}));
    reply->set_searches_running(static_cast<int>(active.size()));
    reply->set_max_day_usd(context_.settings.max_usd_per_day);
    const std::string day = store::UtcDay(context_.clock.WallMicros());
    WARPSMITH_ASSIGN_OR_RETURN(const std::vector<store::Budget> budgets, store::GetBudgets(transaction, "", day, ""));
    for (const store::Budget& budget : budgets) reply->set_day_usd(budget.used_usd + budget.reserved_usd);
    return absl::OkStatus();
  }

  // Sends one event a new line, or one without a line where only the state changed. Returns whether the search has
  // ended.
  absl::StatusOr<bool> SendNews(const std::string& id, bool first, int64_t* last_event, std::string* last_state,
                                grpc::ServerWriter<v1::SearchEvent>* writer, bool* broken) {
    v1::SearchEvent event;
    std::vector<std::string> lines;
    int64_t newest = *last_event;
    absl::Status status = context_.database.Read([&](store::Transaction& transaction) -> absl::Status {
      lines.clear();
      newest = *last_event;
      // The state before the lines: a search that is seen as ended has its last line by then.
      WARPSMITH_ASSIGN_OR_RETURN(*event.mutable_search(), ViewSearch(transaction, id, false));
      WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("event_after", {id, *last_event}));
      for (const store::Row row : rows) {
        lines.push_back(row.Text("line"));
        newest = row.Int("id");
      }
      WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet counts, transaction.Execute("task_counts", {id}));
      event.set_tasks_running(static_cast<int>(counts[0].Int("running")));
      event.set_tasks_waiting(static_cast<int>(counts[0].Int("waiting")));
      return absl::OkStatus();
    });
    if (!status.ok()) return status;
    *last_event = newest;
    const std::string state = event.SerializeAsString();
    if (lines.empty() && (first || state != *last_state)) lines.emplace_back();
    *last_state = state;
    for (const std::string& line : lines) {
      event.set_line(line);
      if (!writer->Write(event)) {
        *broken = true;
        return true;
      }
    }
    return event.search().state() != v1::SEARCH_STATE_INTAKE && event.search().state() != v1::SEARCH_STATE_RUNNING;
  }

  grpc::Status Watch(grpc::ServerContext* context, const std::string& prefix,
                     grpc::ServerWriter<v1::SearchEvent>* writer) {
    std::string id;
    int64_t last_event = 0;
    grpc::Status found = Read([&](store::Transaction& transaction) -> absl::Status {
      WARPSMITH_ASSIGN_OR_RETURN(id, ResolveSearch(transaction, prefix));
      WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet last, transaction.Execute("event_last", {id}));
      // The newest line tells a new watcher where the search stands.
      last_event = std::max<int64_t>(0, last[0].Int("id") - 1);
      return absl::OkStatus();
    });
    if (!found.ok()) return found;
    bool first = true;
    uint64_t version = 0;
    std::string last_state;
    while (!context->IsCancelled()) {
      version = context_.changes.Wait(id, first ? ~uint64_t{0} : version, first ? Duration::zero() : kWatchPoll);
      if (context_.changes.closed()) {
        return {grpc::StatusCode::UNAVAILABLE, "the coordinator is shutting down; watch again when it is back"};
      }
      bool broken = false;
      auto ended = SendNews(id, first, &last_event, &last_state, writer, &broken);
      if (broken) return grpc::Status::CANCELLED;
      // A database that is away for a while does not end a watch.
      if (!ended.ok() && !absl::IsUnavailable(ended.status())) return ToGrpc(ended.status());
      if (ended.ok() && *ended) return grpc::Status::OK;
      if (ended.ok()) first = false;
    }
    return grpc::Status::CANCELLED;
  }

  const OperatorContext context_;
  Submission submission_;
  std::atomic<int> watchers_{0};
};

}  // namespace

std::unique_ptr<grpc::Service> MakeOperatorService(const OperatorContext& context) {
  return std::make_unique<OperatorServiceImpl>(context);
}

}  // namespace warpsmith::api
