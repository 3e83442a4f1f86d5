// Quarantine, drain, held work and the database's health through a whole coordinator.
#include <atomic>
#include <catch2/catch.hpp>

#include "common/clock.h"
#include "common/grpc_channel.h"
#include "common/grpc_status.h"
#include "tests/coordinator/cluster_fixture.h"
#include "warpsmith/v1/administration.grpc.pb.h"

namespace warpsmith::testing {
namespace {

struct Administration {
  explicit Administration(const std::string& address) : stub(v1::AdministrationService::NewStub(ConnectTo(address))) {}

  template <typename Reply, typename Request>
  absl::StatusOr<Reply> Call(grpc::Status (v1::AdministrationService::Stub::*method)(grpc::ClientContext*,
                                                                                     const Request&, Reply*),
                             const Request& request) {
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    Reply reply;
    const grpc::Status status = (stub.get()->*method)(&context, request, &reply);
    if (!status.ok()) return FromGrpc(status);
    return reply;
  }
  absl::StatusOr<v1::ListQuarantinedReply> List(const std::string& search_id = "") {
    v1::ListQuarantinedRequest request;
    request.set_search_id(search_id);
    return Call(&v1::AdministrationService::Stub::ListQuarantined, request);
  }
  absl::StatusOr<v1::RetryQuarantinedReply> Retry(const std::vector<int64_t>& ids) {
    v1::RetryQuarantinedRequest request;
    request.mutable_task_ids()->Add(ids.begin(), ids.end());
    request.set_all(ids.empty());
    request.set_submitted_by("alice");
    return Call(&v1::AdministrationService::Stub::RetryQuarantined, request);
  }
  absl::StatusOr<v1::DrainWorkerReply> Drain(const std::string& worker_id, bool drain = true) {
    v1::DrainWorkerRequest request;
    request.set_worker_id(worker_id);
    return Call(drain ? &v1::AdministrationService::Stub::DrainWorker : &v1::AdministrationService::Stub::UndrainWorker,
                request);
  }
  absl::StatusOr<v1::DatabaseHealth> Health() {
    return Call(&v1::AdministrationService::Stub::GetDatabaseHealth, v1::GetDatabaseHealthRequest());
  }

  std::unique_ptr<v1::AdministrationService::Stub> stub;
};

v1::SubmitSearchRequest OneKernel() {
  auto request = SmallSearch(1);
  request.mutable_settings()->set_ideas(1);
  request.mutable_settings()->set_implementations(1);
  return request;
}

TEST_CASE("quarantined tasks are listed with their log, and tried again with a clean slate", "[pg]") {
  Cluster cluster;
  Administration administration(cluster.address());
  CHECK(administration.List().value().tasks().empty());
  auto worker = cluster.Worker("w1");
  worker->infra_errors = 3;
  const std::string id = cluster.Submit(OneKernel()).value();
  CHECK(cluster.Finished(id).state() == v1::SEARCH_STATE_FAILED);

  const v1::ListQuarantinedReply list = administration.List(id.substr(0, 8)).value();
  REQUIRE(list.tasks_size() == 1);
  CHECK(list.total() == 1);
  const v1::QuarantinedTask& task = list.tasks(0);
  CHECK(task.kind() == "intake");
  CHECK(task.search_id() == id);
  CHECK(task.search_state() == "failed");
  CHECK(task.failures() == 3);
  CHECK(task.worker_deaths() == 0);
  CHECK(task.quarantined_at_us() > 0);
  CHECK_THAT(task.log(),
             Catch::Contains("failure 1 at w1: the scripted worker failed") && Catch::Contains("failure 3"));

  // The worker is well again: the search is taken in after all, and ends as if nothing had been.
  const v1::RetryQuarantinedReply retried = administration.Retry({task.task_id(), 999999}).value();
  REQUIRE(retried.retried_size() == 1);
  REQUIRE(retried.skipped_size() == 1);
  CHECK_THAT(retried.skipped(0).reason(), Catch::Contains("no task"));
  CHECK(cluster.Eventually([&] { return cluster.Get(id).value().state() == v1::SEARCH_STATE_DONE; }));
  CHECK(administration.List().value().tasks().empty());
  CHECK_THAT(cluster.Query("SELECT log FROM task WHERE kind = 'intake'"), Catch::Contains("by alice"));
  CHECK(cluster.Query("SELECT failures FROM task WHERE kind = 'intake'") == "0");
  CHECK(cluster.Bookkeeping() == "");
}

TEST_CASE("an evaluation that was given up is judged after all; tasks of searches that ended are left alone", "[pg]") {
  Cluster cluster;
  Administration administration(cluster.address());
  auto request = SmallSearch(1);
  request.mutable_settings()->set_implementations(1);
  auto worker = cluster.Worker("w1", "boot0", 4, /*holding=*/true);
  const auto evaluations = [&](const std::string& search_id) {
    return cluster.Query("SELECT count(*) FROM task WHERE kind = 'evaluate' AND state = 'running' AND search_id = '" +
                         search_id + "'");
  };
  // The second kernel, which the worker goes on holding, keeps the search open.
  const std::string id = cluster.Submit(request).value();
  REQUIRE(cluster.Eventually([&] { return evaluations(id) == "2"; }));
  const std::string other = cluster.Submit(OneKernel()).value();
  REQUIRE(cluster.Eventually([&] { return evaluations(other) == "1"; }));
  const auto give_up = [&](const std::string& search_id) {
    return cluster.Query(
        "WITH given AS (UPDATE task SET state = 'quarantined', finished_at = now(), failures = 3, lease_until = NULL, "
        "deadline = NULL, owner_boot = '' WHERE id = (SELECT min(id) FROM task WHERE kind = 'evaluate' AND search_id = "
        "'" +
        search_id +
        "') RETURNING candidate_id), judged AS (UPDATE candidate SET state = 'done', outcome = 20, reason = "
        "'quarantined', finished_at = now() FROM given WHERE id = candidate_id RETURNING id) SELECT id FROM judged");
  };
  const std::string candidate = give_up(id);
  REQUIRE(!candidate.empty());
  give_up(other);
  REQUIRE(cluster.Cancel(other).ok());
  const v1::RetryQuarantinedReply retried = administration.Retry({}).value();
  CHECK(retried.retried_size() == 1);
  REQUIRE(retried.skipped_size() == 1);
  CHECK_THAT(retried.skipped(0).reason(), Catch::Contains("its search is"));
  worker->hold_evaluations = false;
  CHECK(cluster.Finished(id).state() == v1::SEARCH_STATE_DONE);
  CHECK(cluster.Query("SELECT state, outcome, reason FROM candidate WHERE id = '" + candidate + "'") == "done|14|");
}

TEST_CASE("what is asked wrongly of the administration is told", "[pg]") {
  Cluster cluster;
  Administration administration(cluster.address());
  v1::RetryQuarantinedRequest both;
  both.set_all(true);
  both.add_task_ids(1);
  CHECK(
      absl::IsInvalidArgument(administration.Call(&v1::AdministrationService::Stub::RetryQuarantined, both).status()));
  CHECK(absl::IsInvalidArgument(
      administration.Call(&v1::AdministrationService::Stub::RetryQuarantined, v1::RetryQuarantinedRequest()).status()));
  absl::Status unknown = administration.Drain("nobody").status();
  CHECK(absl::IsNotFound(unknown));
  CHECK_THAT(Message(unknown), Catch::Contains("nobody") && Catch::Contains("warpsmith status"));
  v1::ListQuarantinedRequest many;
  many.set_limit(100000);
  CHECK(absl::IsInvalidArgument(administration.Call(&v1::AdministrationService::Stub::ListQuarantined, many).status()));
}

TEST_CASE("a drained worker ends what it runs and gets nothing new, over restarts of both, until it is undrained",
          "[pg]") {
  Cluster cluster;
  auto worker = cluster.Worker("w1", "boot1", 4, /*holding=*/true);
  const std::string first = cluster.Submit(OneKernel()).value();
  REQUIRE(cluster.Eventually(
      [&] { return cluster.Query("SELECT count(*) FROM task WHERE kind = 'evaluate' AND state = 'running'") == "1"; }));
  const v1::DrainWorkerReply reply = Administration(cluster.address()).Drain("w1").value();
  CHECK(reply.draining());
  CHECK(reply.connected());
  CHECK(reply.running() == 1);
  CHECK(cluster.Status().value().workers(0).draining());
  const std::string second = cluster.Submit(OneKernel()).value();
  worker->hold_evaluations = false;
  // What it ran is judged; what comes of that waits for another worker.
  REQUIRE(cluster.Eventually([&] { return cluster.Query("SELECT count(*) FROM evaluation") == "1"; }));
  CHECK(Administration(cluster.address()).Drain("w1").value().running() == 0);

  cluster.StopCoordinator();
  cluster.StartCoordinator();
  worker.reset();
  worker = cluster.Worker("w1", "boot2");
  REQUIRE(cluster.Eventually([&] { return cluster.Query("SELECT boot_id FROM worker WHERE connected") == "boot2"; }));
  // Another worker shows that there is work, and takes it.
  CHECK(cluster.Query("SELECT state FROM search WHERE id = '" + second + "'") == "intake");
  {
    auto other = cluster.Worker("w2");
    CHECK(cluster.Finished(first).state() == v1::SEARCH_STATE_DONE);
    CHECK(cluster.Finished(second).state() == v1::SEARCH_STATE_DONE);
  }
  CHECK(worker->assignments().empty());
  CHECK(cluster.Status().value().workers_size() == 2);

  CHECK(!Administration(cluster.address()).Drain("w1", false).value().draining());
  const std::string third = cluster.Submit(OneKernel()).value();
  CHECK(cluster.Finished(third).state() == v1::SEARCH_STATE_DONE);
  CHECK(!worker->assignments().empty());
  CHECK(cluster.Bookkeeping() == "");
}

TEST_CASE("with a full disk new searches and model calls wait, and go on by themselves", "[pg]") {
  std::atomic<int64_t> free{int64_t{1} << 40};
  Cluster cluster;
  cluster.StopCoordinator();
  cluster.options.operations.check_seconds = 0.05;
  cluster.options.operations.disk.min_free_bytes = int64_t{1} << 30;
  cluster.options.operations.free_space = [&](const std::string&) -> absl::StatusOr<int64_t> { return free.load(); };
  cluster.StartCoordinator();
  Administration administration(cluster.address());
  auto worker = cluster.Worker("w1", "boot1", 4, /*holding=*/true);
  const std::string running = cluster.Submit(OneKernel()).value();
  REQUIRE(cluster.Eventually([&] { return worker->assignments().size() == 2; }));
  free = 1000;
  REQUIRE(cluster.Eventually([&] { return administration.Health().value().held(); }));
  const v1::DatabaseHealth held = administration.Health().value();
  CHECK(held.free_bytes() == 1000);
  CHECK(held.min_free_bytes() > 1000);
  CHECK(held.held_since_us() > 0);
  CHECK_THAT(held.held_reason(), Catch::Contains("disk"));
  CHECK_THAT(cluster.Query("SELECT string_agg(line, ' ') FROM event"), Catch::Contains("held: the database's disk"));
  // What is being evaluated is recorded all the same.
  worker->hold_evaluations = false;
  CHECK(cluster.Finished(running).state() == v1::SEARCH_STATE_DONE);
  const std::string waiting = cluster.Submit(OneKernel()).value();
  RealClock().SleepFor(std::chrono::milliseconds(300));
  CHECK(cluster.Query("SELECT state, attempts FROM task WHERE kind = 'intake' AND search_id = '" + waiting + "'") ==
        "available|0");
  free = int64_t{1} << 40;
  CHECK(cluster.Finished(waiting).state() == v1::SEARCH_STATE_DONE);
  CHECK(!administration.Health().value().held());
  CHECK_THAT(cluster.Query("SELECT string_agg(line, ' ') FROM event WHERE search_id = '" + waiting + "'"),
             Catch::Contains("going on"));
  CHECK(cluster.Bookkeeping() == "");
}

TEST_CASE("the database's health names its tables, retention and the oldest transaction", "[pg]") {
  Cluster cluster;
  const v1::DatabaseHealth health = Administration(cluster.address()).Health().value();
  CHECK(health.database_bytes() > 1 << 20);
  CHECK(health.tables_size() > 8);
  REQUIRE(health.retention_size() == 5);
  for (const v1::RetentionStatus& status : health.retention()) CHECK(status.keep_days() > 0);
  CHECK(health.retention_error().empty());
}

TEST_CASE("a finished search's tasks are purged by the running coordinator", "[pg]") {
  Cluster cluster;
  cluster.StopCoordinator();
  cluster.options.operations.retention_seconds = 0.05;
  cluster.StartCoordinator();
  auto worker = cluster.Worker("w1");
  const std::string id = cluster.Submit(OneKernel()).value();
  REQUIRE(cluster.Finished(id).state() == v1::SEARCH_STATE_DONE);
  CHECK(cluster.Query("SELECT count(*) FROM task") != "0");
  cluster.Query("UPDATE search SET finished_at = now() - interval '8 days'");
  CHECK(cluster.Eventually([&] { return cluster.Query("SELECT count(*) FROM task") == "0"; }));
  CHECK(cluster.Get(id).value().best_ms() > 0);
  CHECK(cluster.Tree(id).ok());
}

}  // namespace
}  // namespace warpsmith::testing
