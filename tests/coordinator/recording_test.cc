// A search that ran, read back as a recording and replayed.
#include <catch2/catch.hpp>

#include "common/grpc_channel.h"
#include "coordinator/replay/replayed_search.h"
#include "tests/coordinator/cluster_fixture.h"
#include "warpsmith/v1/recording.grpc.pb.h"

namespace warpsmith::testing {
namespace {

TEST_CASE("a finished search is recorded whole and can be replayed", "[pg][replay]") {
  Cluster cluster;
  const auto worker = cluster.Worker("w1");
  const std::string id = cluster.Submit(SmallSearch()).value();
  const v1::Search search = cluster.Finished(id);
  REQUIRE(search.state() == v1::SEARCH_STATE_DONE);

  const auto stub = v1::RecordingService::NewStub(ConnectTo(cluster.address()));
  const auto record = [&](const std::string& name, v1::Recording* recording) {
    grpc::ClientContext call;
    v1::GetRecordingRequest request;
    request.set_search_id(name);
    return stub->GetRecording(&call, request, recording);
  };
  v1::Recording recording;
  REQUIRE(record(id.substr(0, 8), &recording).ok());
  CHECK(recording.search_id() == id);
  CHECK(std::to_string(recording.ideas_size()) == cluster.Query("SELECT count(*) FROM idea"));
  CHECK(std::to_string(recording.candidates_size()) == cluster.Query("SELECT count(*) FROM candidate"));
  CHECK(std::to_string(recording.calls_size()) == cluster.Query("SELECT count(*) FROM llm_call"));
  CHECK(recording.finish_reason() == search.finish_reason());
  CHECK(recording.usage().gpu_seconds() == search.usage().gpu_seconds());
  CHECK(record("zzzzzzzz", &recording).error_code() == grpc::StatusCode::NOT_FOUND);

  const auto tree = replay::RecordedTree::Make(recording);
  REQUIRE(tree.ok());
  const auto run = replay::ReplaySearch(*tree, tree->settings(), {}, 1);
  REQUIRE(run.ok());
  CHECK(run->found);
  CHECK(run->progress.back().best_log_ratio <= tree->best_log_ratio());
}

}  // namespace
}  // namespace warpsmith::testing
