// What a batch may use, whose turn it is, and what operators are told: through a real coordinator and PostgreSQL.
#include <catch2/catch.hpp>
#include <set>

#include "common/grpc_channel.h"
#include "tests/coordinator/batch_fixture.h"

namespace warpsmith::testing {
namespace {

v1::BatchLimits OneAtATime() {
  v1::BatchLimits limits;
  limits.set_parallel(1);
  return limits;
}

TEST_CASE("a batch never spends more than its money, and ends what can do nothing more", "[pg][batch]") {
  BatchCluster cluster;
  v1::ModelDescription model;
  model.set_name("m");
  model.set_provider("openai");
  model.set_enabled(true);
  model.set_reservation_usd(0.05);
  model.set_max_output_tokens(4000);
  cluster.gateway.models = {model};
  cluster.gateway.usd_a_call = 0.05;
  auto worker = cluster.Worker("w1");
  v1::BatchLimits limits = OneAtATime();
  limits.set_max_usd(0.4);  // a round costs five calls: one problem's first, and a part of the next one's
  const std::string id =
      cluster
          .SubmitBatch({TestProblem("1_half"), TestProblem("2_half"), TestProblem("3_half"), TestProblem("4_half")},
                       limits)
          ->id();
  const v1::Batch batch = cluster.FinishedBatch(id);
  CHECK(batch.state() == "done");
  CHECK(batch.totals().usage().usd() <= 0.4 + 1e-9);
  CHECK(batch.totals().usage().usd() >= 0.3);
  CHECK(batch.problems(0).finish_reason() == "rounds");
  CHECK(batch.problems(1).finish_reason() == "budget");
  CHECK(batch.problems(3).finish_reason() == "budget");
  CHECK(batch.problems(3).usage().model_calls() == 0);
  CHECK(cluster.Query("SELECT count(*) FROM budget WHERE scope = 'batch' AND (used_nano_usd > max_nano_usd OR "
                      "reserved_nano_usd <> 0)") == "0");
  CHECK(cluster.Bookkeeping() == "");
}

TEST_CASE("what a budget stopped goes on where it was, once there is more", "[pg][batch]") {
  BatchCluster cluster;
  v1::ModelDescription model;
  model.set_name("m");
  model.set_provider("openai");
  model.set_enabled(true);
  model.set_reservation_usd(0.05);
  model.set_max_output_tokens(4000);
  cluster.gateway.models = {model};
  cluster.gateway.usd_a_call = 0.05;
  auto worker = cluster.Worker("w1");
  v1::BatchLimits limits = OneAtATime();
  limits.set_max_usd(0.4);
  const std::string id =
      cluster.SubmitBatch({TestProblem("1_half"), TestProblem("2_half"), TestProblem("3_half")}, limits)->id();
  v1::Batch batch = cluster.FinishedBatch(id);
  CHECK(batch.problems(0).finish_reason() == "rounds");
  CHECK(batch.problems(1).finish_reason() == "budget");
  CHECK(batch.problems(2).finish_reason() == "budget");
  const std::string begun = batch.problems(1).search_id();
  v1::GetBatchRequest request;
  request.set_batch_id(id);
  // Nothing is left of the budget.
  CHECK(cluster.Batch(&v1::BatchService::Stub::RetryFailed, request)->retried() == 0);
  v1::SetBatchRequest more;
  more.set_batch_id(id);
  more.set_max_usd(5);
  REQUIRE(cluster.Batch(&v1::BatchService::Stub::SetBatch, more).ok());
  CHECK(cluster.Batch(&v1::BatchService::Stub::RetryFailed, request)->retried() == 2);
  batch = cluster.FinishedBatch(id);
  CHECK(batch.problems_size() == 3);
  CHECK(batch.problems(1).search_id() == begun);
  for (const v1::BatchProblem& problem : batch.problems()) CHECK(problem.finish_reason() == "rounds");
  CHECK(batch.totals().solved() == 3);
  CHECK(cluster.Batch(&v1::BatchService::Stub::RetryFailed, request)->retried() == 0);
  CHECK(cluster.Bookkeeping() == "");
}

TEST_CASE("tasks in quarantine are out of it when their batch is tried again", "[pg][batch]") {
  BatchCluster cluster;
  auto worker = cluster.Worker("w1", "boot1", 8, true);
  const std::string id = cluster.SubmitBatch({TestProblem("1_half")})->id();
  REQUIRE(cluster.Eventually([&] { return worker->assignments().size() >= 2; }));
  // As if it had killed its workers.
  cluster.Query(
      "UPDATE task SET state = 'quarantined', epoch = epoch + 1, lease_until = NULL, deadline = NULL, "
      "finished_at = now() WHERE id = (SELECT min(id) FROM task WHERE kind = 'evaluate' AND state = 'running')");
  v1::GetBatchRequest request;
  request.set_batch_id(id);
  CHECK(cluster.Batch(&v1::BatchService::Stub::RetryFailed, request)->retried() == 1);
  CHECK(cluster.Query("SELECT count(*) FROM task WHERE state = 'quarantined'") == "0");
  worker->hold_evaluations = false;
  const v1::Batch batch = cluster.FinishedBatch(id);
  CHECK(batch.totals().solved() == 1);
  CHECK(cluster.Query("SELECT count(*) FROM candidate WHERE state <> 'done'") == "0");
}

TEST_CASE("a batch's GPU hours hold over all of its searches", "[pg][batch]") {
  BatchCluster cluster;
  auto worker = cluster.Worker("w1", "boot1", 1);
  v1::BatchLimits limits = OneAtATime();
  limits.set_max_gpu_hours(4.6 / 3600);  // an evaluation takes half a second: a problem has four, and a confirmation
  const std::string id =
      cluster
          .SubmitBatch({TestProblem("1_half"), TestProblem("2_half"), TestProblem("3_half"), TestProblem("4_half")},
                       limits)
          ->id();
  const v1::Batch batch = cluster.FinishedBatch(id);
  CHECK(batch.state() == "done");
  CHECK(batch.problems(0).best_ms() > 0);
  CHECK(batch.problems(3).finish_reason() == "budget");
  CHECK(batch.totals().usage().gpu_seconds() <= 4.6);
  CHECK(batch.totals().usage().gpu_seconds() >= 2);
  // What was written but could not be judged any more stays queued; no task does.
  CHECK(cluster.Query("SELECT count(*) FROM task WHERE state IN ('available', 'running')") == "0");
}

TEST_CASE("an owner's quota holds over batches and single searches; others are not held up", "[pg][batch]") {
  BatchCluster cluster;
  cluster.StopCoordinator();
  cluster.options.engine.max_searches_per_owner = 1;
  cluster.StartCoordinator();
  auto worker = cluster.Worker("w1", "boot1", 8, true);
  v1::SubmitSearchRequest single = SmallSearch(1);
  single.set_submitted_by("ada");
  const std::string first = cluster.Submit(single).value();
  REQUIRE(cluster.Eventually([&] { return worker->assignments().size() >= 2; }));
  single.set_source("class Model: second\n");
  const std::string second = cluster.Submit(single).value();
  const std::string batch = cluster.SubmitBatch({TestProblem("1_half"), TestProblem("2_half")})->id();
  single.set_submitted_by("bob");
  single.set_source("class Model: third\n");
  const std::string bobs = cluster.Submit(single).value();
  REQUIRE(cluster.Eventually([&] { return cluster.Get(bobs)->state() == v1::SEARCH_STATE_RUNNING; }));
  CHECK(!cluster.Get(second)->admitted());
  CHECK(cluster.GetBatch(batch)->problems(0).waits_for() == "place");
  const v1::Explanation explanation = cluster.Explain(second).value();
  REQUIRE(explanation.findings_size() > 0);
  CHECK_THAT(explanation.findings(0),
             Catch::Contains("ada has 1 searches under way") && Catch::Contains("--max-searches-per-owner"));
  worker->hold_evaluations = false;
  CHECK(cluster.FinishedBatch(batch).totals().solved() == 2);
  CHECK(cluster.Finished(second).state() == v1::SEARCH_STATE_DONE);
  CHECK(cluster.Finished(first).state() == v1::SEARCH_STATE_DONE);
  // Never two of ada's at once: each began after the one before had its last round. (What it found is confirmed then.)
  CHECK(
      cluster.Query("WITH spans AS (SELECT s.id, min(t.started_at) AS began, max(t.finished_at) AS ended FROM search s "
                    "JOIN task t ON t.search_id = s.id AND t.stage <> 'confirm' WHERE s.owner = 'ada' GROUP BY s.id) "
                    "SELECT count(*) FROM spans a JOIN spans b ON a.id < b.id WHERE a.began < b.ended AND b.began < "
                    "a.ended") == "0");
  CHECK(cluster.Bookkeeping() == "");
}

TEST_CASE("limits, priority and owner can be changed while a batch runs", "[pg][batch]") {
  BatchCluster cluster;
  const std::string id = cluster.SubmitBatch({TestProblem("1_half"), TestProblem("2_half")}, OneAtATime())->id();
  REQUIRE(cluster.Eventually([&] { return cluster.Query("SELECT count(*) FROM task WHERE NOT held") == "1"; }));
  CHECK(cluster.Query("SELECT DISTINCT priority FROM task") == "-10");
  v1::SetBatchRequest request;
  request.set_batch_id(id);
  request.set_priority(7);
  request.set_parallel(2);
  request.set_max_usd(12.5);
  request.set_owner("bob");
  const v1::Batch batch = cluster.Batch(&v1::BatchService::Stub::SetBatch, request).value();
  CHECK(batch.limits().priority() == 7);
  CHECK(batch.limits().parallel() == 2);
  CHECK(batch.limits().max_usd() == Approx(12.5));
  CHECK(batch.limits().max_gpu_hours() == 0);
  CHECK(batch.owner() == "bob");
  CHECK(cluster.Query("SELECT DISTINCT priority FROM task") == "-710");
  CHECK(cluster.Eventually([&] { return cluster.Query("SELECT count(*) FROM task WHERE NOT held") == "2"; }));
  CHECK(cluster.Query("SELECT DISTINCT owner || priority FROM search") == "bob7");
  v1::SetBatchRequest wrong;
  wrong.set_batch_id(id);
  wrong.set_parallel(-1);
  CHECK_THAT(Message(cluster.Batch(&v1::BatchService::Stub::SetBatch, wrong).status()),
             Catch::Contains("SetBatchRequest.parallel is -1"));
  // What comes later has the priority too.
  auto worker = cluster.Worker("w1");
  CHECK(cluster.FinishedBatch(id).totals().solved() == 2);
  CHECK(cluster.Query("SELECT count(*) FROM task WHERE priority > -700") == "0");
}

TEST_CASE("a watch tells each change until the batch has ended", "[pg][batch]") {
  BatchCluster cluster;
  const std::string id = cluster.SubmitBatch({TestProblem("1_half"), TestProblem("2_quarter")}, OneAtATime())->id();
  auto stub = v1::BatchService::NewStub(ConnectTo(cluster.address()));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
  v1::GetBatchRequest request;
  request.set_batch_id(id);
  auto reader = stub->WatchBatch(&context, request);
  v1::Batch batch;
  REQUIRE(reader->Read(&batch));
  CHECK(batch.totals().solved() == 0);
  auto worker = cluster.Worker("w1");
  int last = 0;
  std::set<std::string> seen;
  while (reader->Read(&batch)) {
    CHECK(batch.totals().solved() >= last);
    last = batch.totals().solved();
    CHECK(seen.insert(batch.SerializeAsString()).second);
  }
  CHECK(reader->Finish().ok());
  CHECK(batch.state() == "done");
  CHECK(last == 2);
}

TEST_CASE("explain says why tasks of a batch cannot be placed", "[pg][batch]") {
  BatchCluster cluster;
  v1::ProblemSource elsewhere = TestProblem("1_half");
  elsewhere.mutable_settings()->set_device_class("NVIDIA B300");
  const std::string id = cluster.SubmitBatch({elsewhere, TestProblem("2_half")}, OneAtATime())->id();
  const v1::Batch batch = *cluster.GetBatch(id);
  const auto finding = [&](int problem) {
    const auto explanation = cluster.Explain(batch.problems(problem).search_id());
    return explanation.ok() && explanation->findings_size() > 0 ? explanation->findings(0) : std::string();
  };
  CHECK(cluster.Eventually([&] { return finding(0).find("none is connected") != std::string::npos; }));
  auto worker = cluster.Worker("w1");
  CHECK(cluster.Eventually([&] {
    return finding(0).find("class NVIDIA B300 and no worker with one is connected (there are: emulated)") !=
           std::string::npos;
  }));
  CHECK_THAT(finding(1), Catch::Contains("waits for a place in its batch test, which searches 1 problems at once"));
}

}  // namespace
}  // namespace warpsmith::testing
