#include "gpu_worker/session/result_spool.h"

#include <catch2/catch.hpp>

#include "common/file.h"

namespace warpsmith::session {
namespace {

v1::TaskResult Result(int64_t task, int64_t epoch) {
  v1::TaskResult result;
  result.set_task_id(task);
  result.set_epoch(epoch);
  result.mutable_evaluation()->set_outcome(v1::OUTCOME_OK);
  return result;
}

TEST_CASE("a spooled result outlives the process until it is removed", "[unit]") {
  auto folder = TemporaryDirectory::Create("spool-test");
  {
    auto spool = ResultSpool::Open(folder->path() / "spool");
    REQUIRE(spool.ok());
    REQUIRE((*spool)->Put(Result(1, 1)).ok());
    REQUIRE((*spool)->Put(Result(2, 5)).ok());
    (*spool)->Remove(1, 1);
    (*spool)->Remove(2, 4);  // another epoch: not this result
  }
  auto spool = ResultSpool::Open(folder->path() / "spool");
  auto pending = (*spool)->Pending();
  REQUIRE(pending.size() == 1);
  CHECK(pending[0].task_id() == 2);
  CHECK(pending[0].evaluation().outcome() == v1::OUTCOME_OK);
}

TEST_CASE("a torn file is set aside and the rest is kept", "[unit]") {
  auto folder = TemporaryDirectory::Create("spool-test");
  REQUIRE(WriteFileAtomically(folder->path() / "7-1.result", "\xff\xff\xff torn").ok());
  REQUIRE(WriteFileAtomically(folder->path() / "8-1.result", Result(8, 1).SerializeAsString()).ok());
  auto spool = ResultSpool::Open(folder->path());
  REQUIRE((*spool)->Pending().size() == 1);
  CHECK(std::filesystem::exists(folder->path() / "7-1.result.bad"));
}

TEST_CASE("a spool that cannot be made says where", "[unit]") {
  auto folder = TemporaryDirectory::Create("spool-test");
  REQUIRE(WriteFileAtomically(folder->path() / "file", "").ok());
  auto spool = ResultSpool::Open(folder->path() / "file" / "spool");
  REQUIRE_FALSE(spool.ok());
  CHECK_THAT(Message(spool.status()), Catch::Contains("file/spool"));
}

}  // namespace
}  // namespace warpsmith::session
