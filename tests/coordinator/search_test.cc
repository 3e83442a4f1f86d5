// Whole searches through a real coordinator: real PostgreSQL, real gRPC, a fake gateway and scripted workers.
#include <catch2/catch.hpp>
#include <set>

#include "tests/coordinator/cluster_fixture.h"

namespace warpsmith::testing {
namespace {

TEST_CASE("a search runs to its end, and everything is recorded once", "[pg][search]") {
  Cluster cluster;
  auto worker = cluster.Worker("w1");
  const std::string id = cluster.Submit(SmallSearch()).value();
  std::vector<std::string> lines;
  v1::SearchEvent last;
  REQUIRE(cluster
              .Watch(id,
                     [&](const v1::SearchEvent& event) {
                       lines.push_back(event.line());
                       last = event;
                       return true;
                     })
              .ok());
  CHECK(last.search().state() == v1::SEARCH_STATE_DONE);
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  CHECK_THAT(all, Catch::Contains("intake done on emulated") &&
                      Catch::Contains("round 1 closed: 4 kernels from 2 ideas") && Catch::Contains("compiled") &&
                      Catch::Contains("% of PyTorch") && Catch::Contains("admitted to the bank"));

  const v1::Search search = cluster.Finished(id);
  CHECK(search.finish_reason() == "rounds");
  CHECK(search.emulated());
  REQUIRE(search.rounds_size() == 2);
  CHECK(search.rounds(0).generated() == 4);
  CHECK(search.rounds(0).compiled() == 4);
  CHECK(search.rounds(0).correct() == 4);
  CHECK(search.rounds(0).closed_at_us() > 0);
  CHECK(search.rounds(1).idea_titles_size() == 2);
  // The fake kernels of round r and index i take 2/(r + i/10) ms; PyTorch takes 1 ms.
  CHECK(search.best_ms() == Approx(2.0 / 2.1));
  CHECK(search.best_ratio_to_eager() == Approx(2.1 / 2.0));
  CHECK(search.rounds(1).best_ms() == Approx(2.0 / 2.1));
  CHECK(search.rounds(1).faster() == 4);
  CHECK(search.usage().model_calls() == 2 + 8);
  CHECK(search.usage().usd() == Approx(0.10));
  CHECK(search.usage().gpu_seconds() > 0);
  CHECK(search.problem().source() == "class Model: pass\n");
  CHECK(cluster.Bookkeeping() == "");

  const v1::Tree tree = cluster.Tree(id).value();
  CHECK(tree.ideas_size() == 4);
  CHECK(tree.best_lineage_size() == 2);
  CHECK(tree.best_lineage(1) == search.best_candidate_id());
  const v1::Candidate best = cluster.Candidate(search.best_candidate_id().substr(0, 12)).value();
  CHECK_THAT(best.source(), Catch::Contains("ms="));
  CHECK(best.evaluation().outcome() == v1::OUTCOME_OK);
  CHECK(!best.idea().title().empty());

  // The bank keeps what was confirmed, flagged as emulated.
  const auto kernels = cluster.Kernels({}).value();
  REQUIRE(kernels.kernels_size() == 3);
  CHECK(kernels.kernels(0).emulated());
  // Two ideas had kernels that take the same time; either may stand first.
  CHECK(kernels.kernels(0).median_ms() == search.best_ms());
  CHECK(kernels.kernels(0).operator_family() == "softmax");

  // What the models were told: the second round knows the first one's ideas, outcomes and best kernel.
  const auto proposals = cluster.gateway.proposals();
  REQUIRE(proposals.size() == 2);
  CHECK(proposals[0].tried_size() == 0);
  CHECK(!proposals[0].has_parent());
  CHECK(proposals[0].context().problem().baselines_size() == 1);
  CHECK(proposals[0].context().accepted_size() == 1);
  REQUIRE(proposals[1].tried_size() == 2);
  CHECK(proposals[1].tried(0).outcome() == "ok");
  CHECK(proposals[1].tried(0).best_ms() > 0);
  CHECK_THAT(proposals[1].parent().source(), Catch::Contains("ms="));
  CHECK(proposals[1].call().idempotency_key() != proposals[0].call().idempotency_key());
  // A measurement against the incumbent's time.
  CHECK(worker->assignments().back().evaluate().incumbent_ms() > 0);
}

TEST_CASE("failed kernels are repaired, replies without code are rejected", "[pg][search]") {
  Cluster cluster;
  cluster.gateway.write_kernel = [](const v1::ImplementIdeaRequest& request, int index) {
    if (index == 0) return std::string();
    return KernelText(request.idea().id(), 0, "compile_error");
  };
  auto worker = cluster.Worker("w1");
  auto request = SmallSearch(1);
  request.mutable_settings()->set_repairs(1);
  const std::string id = cluster.Submit(request).value();
  const v1::Search search = cluster.Finished(id);
  CHECK(search.state() == v1::SEARCH_STATE_DONE);
  CHECK(search.best_ms() == Approx(1.25));
  const auto repairs = cluster.gateway.repairs();
  REQUIRE(repairs.size() >= 1);
  CHECK_THAT(repairs[0].failed().evaluation().message(), Catch::Contains("expected a ;"));
  CHECK(repairs[0].attempt() == 1);
  const v1::Tree tree = cluster.Tree(id).value();
  int rejected = 0, repaired = 0;
  for (const v1::IdeaNode& node : tree.ideas()) {
    for (const v1::Candidate& candidate : node.candidates()) {
      rejected += candidate.state() == "rejected" && candidate.reject_reason() == "no_code";
      repaired += !candidate.repair_of().empty() && candidate.evaluation().outcome() == v1::OUTCOME_OK;
    }
  }
  CHECK(rejected == 2);
  CHECK(repaired == 2);
  const v1::Explanation explanation = cluster.Explain(id).value();
  CHECK(explanation.generated() == 4);
  CHECK(explanation.rejected() == 2);
  CHECK(explanation.compiled() == 2);
  REQUIRE(explanation.failures_size() >= 2);
  CHECK(explanation.findings_size() > 0);
  CHECK(cluster.Bookkeeping() == "");
}

TEST_CASE("a kernel that differs in layout only is not measured again", "[pg][search]") {
  Cluster cluster;
  cluster.gateway.same_source = true;
  auto worker = cluster.Worker("w1");
  const std::string id = cluster.Submit(SmallSearch(1)).value();
  CHECK(cluster.Finished(id).best_ms() == Approx(1.5));
  CHECK(cluster.Query("SELECT count(*) FROM candidate WHERE outcome = 14") == "4");
  CHECK(cluster.Query("SELECT count(DISTINCT candidate_id) FROM evaluation WHERE stage = 'measure'") == "1");
  CHECK(cluster.Query("SELECT count(DISTINCT evaluation_id) FROM candidate WHERE duplicate_of IS NOT NULL") == "1");
}

TEST_CASE("a gateway that breaks off in mid-reply loses nothing, and only the missing is asked for again",
          "[pg][search]") {
  Cluster cluster;
  cluster.gateway.break_after = 1;
  auto worker = cluster.Worker("w1");
  auto request = SmallSearch(1);
  request.mutable_settings()->set_ideas(1);
  request.mutable_settings()->set_implementations(3);
  const std::string id = cluster.Submit(request).value();
  const v1::Search search = cluster.Finished(id);
  CHECK(search.state() == v1::SEARCH_STATE_DONE);
  const auto asked = cluster.gateway.asked_indexes();
  REQUIRE(asked.size() == 2);
  CHECK(asked[0] == std::vector<int>{0, 1, 2});
  CHECK(asked[1] == std::vector<int>{1, 2});
  CHECK(search.usage().model_calls() == 1 + 3);
  CHECK(cluster.Query("SELECT failures FROM task WHERE kind = 'implement'") == "0");
  CHECK(cluster.Bookkeeping() == "");
}

TEST_CASE("a gateway that is gone is waited for, one that fails is tried again", "[pg][search]") {
  Cluster cluster;
  cluster.StopCoordinator();
  cluster.options.gateway = "127.0.0.1:1";
  cluster.StartCoordinator();
  auto worker = cluster.Worker("w1");
  const std::string id = cluster.Submit(SmallSearch(1)).value();
  REQUIRE(cluster.Eventually([&] {
    return cluster.Query("SELECT count(*) FROM event WHERE line LIKE 'waiting: the gateway at 127.0.0.1:1%'") != "0";
  }));
  const v1::ClusterStatus status = cluster.Status().value();
  CHECK(!status.gateway_reachable());
  CHECK_THAT(status.gateway_error(), Catch::Contains("Start warpsmith-gateway"));
  CHECK(status.workers_size() == 1);
  CHECK(status.searches_running() == 1);
  bool told = false;
  const v1::Explanation explanation = cluster.Explain(id).value();
  for (const std::string& finding : explanation.findings()) told |= finding.find("gateway") != std::string::npos;
  CHECK(told);
  cluster.StopCoordinator();
  cluster.options.gateway = cluster.gateway.address();
  cluster.gateway.fail_calls = 1;
  cluster.StartCoordinator();
  CHECK(cluster.Finished(id).state() == v1::SEARCH_STATE_DONE);
  CHECK(cluster.Status().value().gateway_reachable());
  CHECK(cluster.Query("SELECT max(failures) FROM task") == "1");
  CHECK(cluster.Bookkeeping() == "");
}

TEST_CASE("ideas that run out end a search", "[pg][search]") {
  Cluster cluster;
  cluster.gateway.exhausted = true;
  auto worker = cluster.Worker("w1");
  const std::string id = cluster.Submit(SmallSearch()).value();
  const v1::Search search = cluster.Finished(id);
  CHECK(search.state() == v1::SEARCH_STATE_DONE);
  CHECK(search.finish_reason() == "ideas_exhausted");
  CHECK(search.best_candidate_id().empty());
}

TEST_CASE("a problem that intake refuses fails its search with the worker's words", "[pg][search]") {
  Cluster cluster;
  auto worker = cluster.Worker("w1");
  worker->intake_error = "softmax.py has no class Model; add one";
  const std::string id = cluster.Submit(SmallSearch()).value();
  const v1::Search search = cluster.Finished(id);
  CHECK(search.state() == v1::SEARCH_STATE_FAILED);
  CHECK_THAT(search.error(), Catch::Contains("softmax") && Catch::Contains("no class Model; add one"));
  CHECK(cluster.gateway.proposals().empty());
}

TEST_CASE("the sequential strategy hands earlier turns on", "[pg][search]") {
  Cluster cluster;
  auto worker = cluster.Worker("w1");
  auto request = SmallSearch(3);
  request.mutable_settings()->set_strategy("sequential");
  const v1::Search search = cluster.Finished(cluster.Submit(request).value());
  CHECK(search.state() == v1::SEARCH_STATE_DONE);
  CHECK(search.best_ms() > 0);
  CHECK(cluster.Bookkeeping() == "");
}

TEST_CASE("a cancelled search calls its tasks back and takes no late results", "[pg][search]") {
  Cluster cluster;
  auto worker = cluster.Worker("w1");
  const std::string id = cluster.Submit(SmallSearch()).value();
  REQUIRE(cluster.Eventually([&] { return cluster.Get(id)->state() == v1::SEARCH_STATE_RUNNING; }));
  worker->hold = true;
  REQUIRE(cluster.Eventually(
      [&] { return cluster.Query("SELECT count(*) FROM task WHERE state = 'running' AND kind = 'evaluate'") == "4"; }));
  const v1::Search cancelled = cluster.Cancel(id).value();
  CHECK(cancelled.state() == v1::SEARCH_STATE_CANCELLED);
  CHECK(cluster.Eventually([&] { return worker->cancelled().size() >= 4; }));
  CHECK(cluster.Cancel(id).value().state() == v1::SEARCH_STATE_CANCELLED);
  const v1::Assignment evaluate = worker->assignments().back();
  v1::TaskResult late;
  late.set_task_id(evaluate.task_id());
  late.set_epoch(evaluate.epoch());
  late.mutable_evaluation()->set_outcome(v1::OUTCOME_OK);
  late.mutable_evaluation()->mutable_timing()->set_median_ms(0.001);
  worker->SendRaw(late);
  REQUIRE(cluster.Eventually([&] {
    for (const v1::ResultAck& ack : worker->acks()) {
      if (ack.task_id() == late.task_id()) return !ack.recorded();
    }
    return false;
  }));
  CHECK(cluster.Query("SELECT count(*) FROM evaluation") == "0");
}

TEST_CASE("operators inject ideas and kernels into a running search", "[pg][search]") {
  Cluster cluster;
  auto worker = cluster.Worker("w1");
  const std::string id = cluster.Submit(SmallSearch(1)).value();
  REQUIRE(cluster.Eventually([&] { return cluster.Get(id)->state() == v1::SEARCH_STATE_RUNNING; }));
  worker->hold = true;
  REQUIRE(cluster.Eventually([&] { return cluster.Query("SELECT count(*) FROM idea") == "2"; }));
  v1::InjectIdeaRequest idea;
  idea.set_search_id(id.substr(0, 8));
  idea.mutable_idea()->set_title("use warp shuffles");
  idea.set_request_id("i1");
  const std::string idea_id = cluster.InjectIdea(idea).value();
  CHECK(cluster.InjectIdea(idea).value() == idea_id);
  v1::InjectKernelRequest kernel;
  kernel.set_search_id(id);
  kernel.set_source(KernelText("mine", 0.25));
  kernel.set_title("by hand");
  kernel.set_request_id("k1");
  const std::string kernel_id = cluster.InjectKernel(kernel).value();
  CHECK(cluster.InjectKernel(kernel).value() == kernel_id);
  worker->hold = false;
  const v1::Search search = cluster.Finished(id);
  CHECK(search.best_candidate_id() == kernel_id);
  CHECK(search.best_ms() == Approx(0.25));
  CHECK(cluster.Candidate(kernel_id).value().idea().title() == "by hand");
  CHECK(cluster.Query("SELECT count(*) FROM candidate WHERE idea_id = '" + idea_id + "'") != "0");
  CHECK(absl::IsFailedPrecondition(cluster
                                       .InjectIdea([&] {
                                         auto late = idea;
                                         late.set_request_id("i2");
                                         return late;
                                       }())
                                       .status()));
  CHECK(cluster.Bookkeeping() == "");
}

}  // namespace
}  // namespace warpsmith::testing
