// The commands that keep a cluster healthy, against a fake coordinator over real gRPC.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "cli/exit_code.h"
#include "cli/print_queue.h"
#include "common/file.h"
#include "common/grpc_channel.h"
#include "common/json.h"
#include "tests/cli/fake_operator_service.h"
#include "tests/cli/printed.h"
#include "warpsmith/v1/administration.grpc.pb.h"

namespace warpsmith::cli {
namespace {

// Threading: one call at a time.
class FakeAdministrationService final : public v1::AdministrationService::Service {
 public:
  grpc::Status ListQuarantined(grpc::ServerContext*, const v1::ListQuarantinedRequest* request,
                               v1::ListQuarantinedReply* reply) override {
    listed = *request;
    v1::QuarantinedTask* task = reply->add_tasks();
    task->set_task_id(1287);
    task->set_kind("evaluate");
    task->set_stage("measure");
    task->set_search_id("3f2a91c0aaaa");
    task->set_search_name("softmax");
    task->set_search_state("running");
    task->set_candidate_id("c0ffee12bbbb");
    task->set_worker_deaths(3);
    task->add_killed_workers("w1");
    task->add_killed_workers("w2\x1b[31m");
    task->set_log("2026-01-01 00:00:00 worker w1 stopped answering\n2026-01-01 00:01:00 worker w2 was restarted\n");
    reply->set_total(7);
    return grpc::Status::OK;
  }
  grpc::Status RetryQuarantined(grpc::ServerContext*, const v1::RetryQuarantinedRequest* request,
                                v1::RetryQuarantinedReply* reply) override {
    retried = *request;
    reply->add_retried(1287);
    v1::RetryQuarantinedReply::Skipped* skipped = reply->add_skipped();
    skipped->set_task_id(1290);
    skipped->set_reason("its search is done: submit the problem again");
    return grpc::Status::OK;
  }
  grpc::Status DrainWorker(grpc::ServerContext*, const v1::DrainWorkerRequest* request,
                           v1::DrainWorkerReply* reply) override {
    drained = request->worker_id();
    reply->set_worker_id(drained);
    reply->set_draining(true);
    reply->set_connected(true);
    reply->set_running(2);
    return grpc::Status::OK;
  }
  grpc::Status UndrainWorker(grpc::ServerContext*, const v1::DrainWorkerRequest* request,
                             v1::DrainWorkerReply* reply) override {
    drained = "";
    reply->set_worker_id(request->worker_id());
    return grpc::Status::OK;
  }
  grpc::Status GetDatabaseHealth(grpc::ServerContext*, const v1::GetDatabaseHealthRequest*,
                                 v1::DatabaseHealth* reply) override {
    reply->set_database_bytes(int64_t{3} << 30);
    reply->set_disk_path("/var/lib/postgresql");
    reply->set_free_bytes(int64_t{1} << 30);
    reply->set_held(true);
    reply->set_held_reason("the database's disk has 1.0 GiB free");
    reply->set_oldest_transaction_seconds(600);
    reply->set_oldest_transaction_of("Grafana (user reader)");
    v1::TableHealth* table = reply->add_tables();
    table->set_name("llm_call");
    table->set_bytes(int64_t{2} << 30);
    v1::RetentionStatus* retention = reply->add_retention();
    retention->set_what("raw_replies");
    return grpc::Status::OK;
  }

  v1::ListQuarantinedRequest listed;
  v1::RetryQuarantinedRequest retried;
  std::string drained;
};

struct QueueFixture {
  QueueFixture() : folder(*TemporaryDirectory::Create("cli-queue-test")) {
    address = "unix:" + (folder.path() / "c.sock").string();
    auto started = StartServer(address, {&operators, &administration});
    REQUIRE(started.ok());
    server = std::move(started->server);
  }
  ~QueueFixture() { StopServer(*server, 0); }

  int Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--coordinator", address});
    Printed printed = RunIt(arguments);
    out = std::move(printed.out);
    err = std::move(printed.err);
    return printed.code;
  }

  FakeOperatorService operators;
  FakeAdministrationService administration;
  TemporaryDirectory folder;
  std::string address;
  std::unique_ptr<grpc::Server> server;
  std::string out, err;
};

TEST_CASE("queue status tells of held work and long transactions", "[unit]") {
  QueueFixture fixture;
  CHECK(fixture.Run({"queue", "status"}) == kExitOk);
  CHECK_THAT(fixture.out, Catch::Contains("HELD") && Catch::Contains("1.0 GiB free") && Catch::Contains("llm_call") &&
                              Catch::Contains("for ever") && Catch::Contains("Grafana (user reader)"));
  CHECK(fixture.Run({"queue", "status", "--json"}) == kExitOk);
  CHECK(Json::parse(fixture.out)["database"]["held"] == true);
}

TEST_CASE("the quarantine is listed with its log and tried again", "[unit]") {
  QueueFixture fixture;
  CHECK(fixture.Run({"queue", "quarantine", "list", "--search", "3f2a91c0", "--limit", "5"}) == kExitOk);
  CHECK(fixture.administration.listed.search_id() == "3f2a91c0");
  CHECK(fixture.administration.listed.limit() == 5);
  CHECK_THAT(fixture.out, Catch::Contains("task 1287: evaluate measure of search 3f2a91c0 (softmax, running)") &&
                              Catch::Contains("worker w2 was restarted") && Catch::Contains("1 of 7") &&
                              !Catch::Contains("\x1b"));
  CHECK(fixture.Run({"queue", "quarantine", "list", "--json"}) == kExitOk);
  CHECK(Json::parse(fixture.out)["tasks"][0]["worker_deaths"] == 3);

  // One of those named could not be: that is a failure.
  CHECK(fixture.Run({"queue", "quarantine", "retry", "1287", "1290"}) == kExitFailed);
  CHECK(fixture.administration.retried.task_ids_size() == 2);
  CHECK(!fixture.administration.retried.submitted_by().empty());
  CHECK_THAT(fixture.out,
             Catch::Contains("task 1287: in the queue again") && Catch::Contains("submit the problem again"));
  CHECK(fixture.Run({"queue", "quarantine", "retry", "--all"}) == kExitOk);
  CHECK(fixture.administration.retried.all());
  CHECK(fixture.Run({"queue", "quarantine", "retry"}) == kExitUsage);
  CHECK(fixture.Run({"queue", "quarantine", "retry", "12", "--all"}) == kExitUsage);
  CHECK(fixture.Run({"queue", "quarantine", "retry", "not-a-number"}) == kExitUsage);
}

TEST_CASE("a worker is drained and given back", "[unit]") {
  QueueFixture fixture;
  CHECK(fixture.Run({"worker", "drain", "gpu-node-3"}) == kExitOk);
  CHECK(fixture.administration.drained == "gpu-node-3");
  CHECK_THAT(fixture.out, Catch::Contains("takes no new tasks; 2 still run"));
  // The fake cluster has no worker of this name, so nothing of it runs.
  CHECK(fixture.Run({"worker", "drain", "gpu-node-3", "--wait"}) == kExitOk);
  CHECK_THAT(fixture.out, Catch::Contains("nothing runs"));
  CHECK(fixture.Run({"worker", "undrain", "gpu-node-3"}) == kExitOk);
  CHECK_THAT(fixture.out, Catch::Contains("takes tasks again"));
  CHECK(fixture.administration.drained.empty());
}

}  // namespace
}  // namespace warpsmith::cli
