// What operators and workers may send wrongly, and what they are told.
#include <catch2/catch.hpp>

#include "common/hash.h"
#include "tests/coordinator/cluster_fixture.h"

namespace warpsmith::testing {
namespace {

void CheckRefused(const absl::Status& status, const std::string& field) {
  CHECK(absl::IsInvalidArgument(status));
  CHECK_THAT(Message(status), Catch::Contains(field));
}

TEST_CASE("submissions with bad fields are refused by name", "[pg][api]") {
  Cluster cluster;
  const auto with = [&](const std::function<void(v1::SubmitSearchRequest&)>& change) {
    v1::SubmitSearchRequest request = SmallSearch();
    change(request);
    return cluster.Submit(request).status();
  };
  CheckRefused(with([](auto& request) { request.clear_source(); }), "source");
  CheckRefused(with([](auto& request) { request.set_source(std::string((1u << 20) + 1, 'x')); }), "source");
  CheckRefused(with([](auto& request) { request.set_source(std::string("a\0b", 3)); }), "source");
  CheckRefused(with([](auto& request) { request.clear_name(); }), "name");
  CheckRefused(with([](auto& request) { request.set_name("a\nb"); }), "name");
  CheckRefused(with([](auto& request) { request.set_request_id(std::string(500, 'x')); }), "request_id");
  CheckRefused(with([](auto& request) { request.mutable_settings()->set_strategy("magic"); }), "strategy");
  CheckRefused(with([](auto& request) { request.mutable_settings()->set_rounds(-1); }), "rounds");
  CheckRefused(with([](auto& request) { request.mutable_settings()->mutable_intake()->set_tolerance(7); }),
               "tolerance");
  CHECK(cluster.Query("SELECT count(*) FROM search") == "0");
}

TEST_CASE("a repeated request_id is one search; ids are found by prefix", "[pg][api]") {
  Cluster cluster;
  auto request = SmallSearch();
  request.set_request_id("r1");
  const std::string id = cluster.Submit(request).value();
  CHECK(id.size() == 26);
  CHECK(cluster.Submit(request).value() == id);
  request.set_request_id("r2");
  const std::string other = cluster.Submit(request).value();
  CHECK(other != id);
  CHECK(cluster.Query("SELECT count(*) FROM task WHERE kind = 'intake'") == "2");
  CHECK(cluster.Get(id.substr(0, 6)).value().id() == id);
  CheckRefused(cluster.Get(id.substr(0, 5)).status(), "search_id");
  CheckRefused(cluster.Get("%%%%%%%%").status(), "search_id");
  CHECK(absl::IsNotFound(cluster.Get("zzzzzzzzzzzzzzzzzzzzzzzzzz").status()));
  CHECK(absl::IsNotFound(cluster.Candidate("zzzzzzzz").status()));

  v1::ListSearchesRequest list;
  CHECK(cluster.List(list).value().searches_size() == 2);
  list.set_limit(1);
  CHECK(cluster.List(list).value().searches(0).id() == other);
  list.set_limit(0);
  list.set_state("done");
  CHECK(cluster.List(list).value().searches_size() == 0);
  list.set_state("sleeping");
  CheckRefused(cluster.List(list).status(), "state");
  list.clear_state();
  list.set_limit(-1);
  CheckRefused(cluster.List(list).status(), "limit");
}

TEST_CASE("injections are checked", "[pg][api]") {
  Cluster cluster;
  const std::string id = cluster.Submit(SmallSearch()).value();
  v1::InjectIdeaRequest idea;
  idea.set_search_id(id);
  CheckRefused(cluster.InjectIdea(idea).status(), "title");
  idea.mutable_idea()->set_title("x");
  idea.mutable_idea()->set_category("magic");
  CheckRefused(cluster.InjectIdea(idea).status(), "category");
  idea.mutable_idea()->set_category("compute");
  CHECK(absl::IsFailedPrecondition(cluster.InjectIdea(idea).status()));
  v1::InjectKernelRequest kernel;
  kernel.set_search_id(id);
  CheckRefused(cluster.InjectKernel(kernel).status(), "source");
}

TEST_CASE("blobs are checked on the wire", "[pg][api]") {
  Cluster cluster;
  const std::string data(3u << 20, 'b');
  CHECK(cluster.PutBlob(data, "").value() == Sha256Hex(data));
  CHECK(cluster.GetBlob(Sha256Hex(data)).value() == data);
  CHECK(absl::IsInvalidArgument(cluster.PutBlob(data, Sha256Hex("other")).status()));
  CHECK(absl::IsInvalidArgument(cluster.PutBlob(std::string((16u << 20) + 1, 'x'), "").status()));
  CHECK(absl::IsNotFound(cluster.GetBlob(Sha256Hex("other")).status()));
  CHECK(absl::IsInvalidArgument(cluster.GetBlob("short").status()));
}

TEST_CASE("explain and watch work before anything has happened, and status tells what is there", "[pg][api]") {
  Cluster cluster;
  const std::string id = cluster.Submit(SmallSearch()).value();
  const v1::Explanation explanation = cluster.Explain(id).value();
  CHECK(explanation.tasks_waiting() == 1);
  REQUIRE(explanation.findings_size() >= 1);
  CHECK_THAT(explanation.findings(0), Catch::Contains("intake"));
  int events = 0;
  absl::Status watched = cluster.Watch(id, [&](const v1::SearchEvent& event) {
    ++events;
    CHECK(event.search().id() == id);
    CHECK(event.tasks_waiting() == 1);
    CHECK_THAT(event.line(), Catch::Contains("submitted"));
    return false;
  });
  CHECK(absl::IsCancelled(watched));
  CHECK(events == 1);
  const v1::ClusterStatus status = cluster.Status().value();
  CHECK(status.gateway_reachable());
  CHECK(status.models_size() == 1);
  CHECK(status.term() == 1);
  CHECK(status.schema_version() >= 2);
  REQUIRE(status.queues_size() == 1);
  CHECK(status.queues(0).kind() == "intake");
  CHECK(status.queues(0).available() == 1);
}

TEST_CASE("status and explain name what each worker holds", "[pg][api]") {
  Cluster cluster;
  auto worker = cluster.Worker("w1", "boot1", 8, true);
  const std::string id = cluster.Submit(SmallSearch()).value();
  const auto held = [&] {
    const v1::ClusterStatus status = cluster.Status().value();
    return status.workers().empty()
               ? std::vector<v1::HeldTask>()
               : std::vector<v1::HeldTask>(status.workers(0).held().begin(), status.workers(0).held().end());
  };
  REQUIRE(cluster.Eventually([&] { return held().size() >= 2; }));
  const v1::HeldTask task = held().front();
  CHECK(task.kind() == "evaluate");
  CHECK(task.stage() == "measure");
  CHECK(task.search_id() == id);
  CHECK(task.attempts() == 1);
  CHECK(task.seconds() >= 0);
  const v1::Explanation explanation = cluster.Explain(id).value();
  REQUIRE(explanation.findings_size() > 0);
  CHECK_THAT(explanation.findings(explanation.findings_size() - 1),
             Catch::Contains("Tasks under way: ") && Catch::Contains(" at w1 (for "));
}

}  // namespace
}  // namespace warpsmith::testing
