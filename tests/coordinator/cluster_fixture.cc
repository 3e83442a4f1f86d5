#include "tests/coordinator/cluster_fixture.h"

#include <fmt/format.h>

#include "common/clock.h"
#include "common/grpc_channel.h"
#include "common/grpc_status.h"
#include "warpsmith/v1/operator.grpc.pb.h"
#include "warpsmith/v1/worker.grpc.pb.h"

namespace warpsmith::testing {

struct Cluster::Client {
  explicit Client(const std::string& address)
      : channel(ConnectTo(address)),
        operators(v1::OperatorService::NewStub(channel)),
        workers(v1::WorkerService::NewStub(channel)) {}

  template <typename Request, typename Reply>
  absl::StatusOr<Reply> Call(grpc::Status (v1::OperatorService::Stub::*method)(grpc::ClientContext*, const Request&,
                                                                               Reply*),
                             const Request& request) {
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    Reply reply;
    const grpc::Status status = (operators.get()->*method)(&context, request, &reply);
    if (!status.ok()) return FromGrpc(status);
    return reply;
  }

  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::OperatorService::Stub> operators;
  std::unique_ptr<v1::WorkerService::Stub> workers;
};

namespace {

v1::GetSearchRequest SearchRequest(const std::string& id) {
  v1::GetSearchRequest request;
  request.set_search_id(id);
  return request;
}

}  // namespace

Cluster::Cluster() {
  options.database = PostgresServer::Shared().CreateDatabase();
  options.gateway = gateway.address();
  options.queue.lease_seconds = 1.5;
  options.queue.retry_seconds = 0.05;
  options.engine.tick_seconds = 0.2;
  options.stop_seconds = 1;
  options.operations.disk.min_free_bytes = 0;  // whatever the machine that runs the tests has
  StartCoordinator();
}

Cluster::~Cluster() = default;

void Cluster::StartCoordinator() {
  options.listen = address();
  auto started = Coordinator::Start(options);
  if (!started.ok()) throw std::runtime_error(Message(started.status()));
  coordinator_ = std::move(started).value();
  port_ = coordinator_->port();
  client_ = std::make_unique<Client>(address());
}

absl::StatusOr<std::string> Cluster::Submit(v1::SubmitSearchRequest request) {
  auto reply = client_->Call(&v1::OperatorService::Stub::SubmitSearch, request);
  if (!reply.ok()) return reply.status();
  return reply->search_id();
}
absl::StatusOr<v1::Search> Cluster::Get(const std::string& id) {
  return client_->Call(&v1::OperatorService::Stub::GetSearch, SearchRequest(id));
}
absl::StatusOr<v1::Tree> Cluster::Tree(const std::string& id) {
  return client_->Call(&v1::OperatorService::Stub::GetTree, SearchRequest(id));
}
absl::StatusOr<v1::Candidate> Cluster::Candidate(const std::string& id) {
  v1::GetCandidateRequest request;
  request.set_candidate_id(id);
  return client_->Call(&v1::OperatorService::Stub::GetCandidate, request);
}
absl::StatusOr<v1::Search> Cluster::Cancel(const std::string& id) {
  return client_->Call(&v1::OperatorService::Stub::CancelSearch, SearchRequest(id));
}
absl::StatusOr<std::string> Cluster::InjectIdea(const v1::InjectIdeaRequest& request) {
  auto reply = client_->Call(&v1::OperatorService::Stub::InjectIdea, request);
  if (!reply.ok()) return reply.status();
  return reply->id();
}
absl::StatusOr<std::string> Cluster::InjectKernel(const v1::InjectKernelRequest& request) {
  auto reply = client_->Call(&v1::OperatorService::Stub::InjectKernel, request);
  if (!reply.ok()) return reply.status();
  return reply->id();
}
absl::StatusOr<v1::ListSearchesReply> Cluster::List(const v1::ListSearchesRequest& request) {
  return client_->Call(&v1::OperatorService::Stub::ListSearches, request);
}
absl::StatusOr<v1::ListKernelsReply> Cluster::Kernels(const v1::ListKernelsRequest& request) {
  return client_->Call(&v1::OperatorService::Stub::ListKernels, request);
}
absl::StatusOr<v1::Explanation> Cluster::Explain(const std::string& id) {
  return client_->Call(&v1::OperatorService::Stub::Explain, SearchRequest(id));
}
absl::StatusOr<v1::ClusterStatus> Cluster::Status() {
  return client_->Call(&v1::OperatorService::Stub::GetStatus, v1::GetStatusRequest());
}

absl::Status Cluster::Watch(const std::string& id, const std::function<bool(const v1::SearchEvent&)>& each) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
  auto reader = client_->operators->WatchSearch(&context, SearchRequest(id));
  v1::SearchEvent event;
  while (reader->Read(&event)) {
    if (!each(event)) context.TryCancel();
  }
  return FromGrpc(reader->Finish());
}

absl::StatusOr<std::string> Cluster::PutBlob(const std::string& data, const std::string& sha256) {
  grpc::ClientContext context;
  v1::BlobReply reply;
  auto writer = client_->workers->PutBlob(&context, &reply);
  v1::BlobChunk chunk;
  chunk.set_sha256(sha256);
  for (size_t at = 0; at < data.size(); at += 1u << 20) {
    chunk.set_data(data.substr(at, 1u << 20));
    if (!writer->Write(chunk)) break;
  }
  writer->WritesDone();
  const grpc::Status status = writer->Finish();
  if (!status.ok()) return FromGrpc(status);
  return reply.sha256();
}

absl::StatusOr<std::string> Cluster::GetBlob(const std::string& sha256) {
  grpc::ClientContext context;
  v1::BlobRequest request;
  request.set_sha256(sha256);
  auto reader = client_->workers->GetBlob(&context, request);
  std::string data;
  v1::BlobChunk chunk;
  while (reader->Read(&chunk)) data += chunk.data();
  const grpc::Status status = reader->Finish();
  if (!status.ok()) return FromGrpc(status);
  return data;
}

bool Cluster::Eventually(const std::function<bool()>& holds, double seconds) {
  const TimePoint until = RealClock().Now() + FromSeconds(seconds);
  while (RealClock().Now() < until) {
    if (holds()) return true;
    RealClock().SleepFor(std::chrono::milliseconds(20));
  }
  return holds();
}

v1::Search Cluster::Finished(const std::string& id, double seconds) {
  v1::Search search;
  Eventually(
      [&] {
        auto now = Get(id);
        if (now.ok()) search = *now;
        return search.state() == v1::SEARCH_STATE_DONE || search.state() == v1::SEARCH_STATE_FAILED ||
               search.state() == v1::SEARCH_STATE_CANCELLED;
      },
      seconds);
  return search;
}

std::string Cluster::Bookkeeping() {
  std::string problems;
  const auto none = [&](const std::string& what, const std::string& sql) {
    const std::string rows = Query(sql);
    if (!rows.empty()) problems += what + ": " + rows + "\n";
  };
  none("tasks that did not end", "SELECT id, kind, state FROM task WHERE state IN ('available', 'running')");
  none("candidates twice",
       "SELECT idea_id, idx, repair_attempt FROM candidate WHERE idea_id IS NOT NULL GROUP BY 1, 2, 3 HAVING count(*) "
       "> 1");
  none("done evaluations without a record or with several",
       "SELECT t.id FROM task t LEFT JOIN evaluation e ON e.task_id = t.id WHERE t.kind = 'evaluate' AND t.state = "
       "'done' "
       "GROUP BY t.id HAVING count(e.id) <> 1");
  none("evaluations of tasks that are not done",
       "SELECT e.id FROM evaluation e JOIN task t ON t.id = e.task_id WHERE t.state <> 'done'");
  none(
      "candidates without an end in a finished search",
      "SELECT c.id, c.state FROM candidate c JOIN search s ON s.id = c.search_id WHERE s.state = 'done' AND c.state IN "
      "('queued', 'evaluating') AND NOT EXISTS (SELECT 1 FROM task t WHERE t.candidate_id = c.id AND t.state = "
      "'cancelled')");
  none("gaps in the decision log",
       "SELECT d.search_id FROM decision d JOIN search s ON s.id = d.search_id GROUP BY d.search_id, s.decision_seq "
       "HAVING "
       "count(*) <> s.decision_seq OR max(d.seq) <> s.decision_seq - 1");
  return problems;
}

v1::SubmitSearchRequest SmallSearch(int rounds) {
  v1::SubmitSearchRequest request;
  request.set_name("softmax");
  request.set_source("class Model: pass\n");
  request.mutable_settings()->set_rounds(rounds);
  request.mutable_settings()->set_parents(1);
  request.mutable_settings()->set_ideas(2);
  request.mutable_settings()->set_implementations(2);
  request.mutable_settings()->set_repairs(-1);
  return request;
}

}  // namespace warpsmith::testing
