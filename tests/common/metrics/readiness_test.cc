#include "common/metrics/readiness.h"

#include <catch2/catch.hpp>

namespace warpsmith::metrics {
namespace {

TEST_CASE("a line a check, ready when all are; a later check of a name replaces the earlier one", "[unit]") {
  Readiness readiness;
  CHECK(readiness.Look().ready);
  readiness.Set("database", [] { return Unavailable("refused\nby the server"); });
  readiness.Set("leadership", [] { return absl::OkStatus(); });
  Readiness::Report report = readiness.Look();
  CHECK_FALSE(report.ready);
  CHECK(report.text == "database: not ready: refused by the server\nleadership: ok\n");
  readiness.Set("database", [] { return absl::OkStatus(); });
  report = readiness.Look();
  CHECK(report.ready);
  CHECK(report.text == "database: ok\nleadership: ok\n");
}

}  // namespace
}  // namespace warpsmith::metrics
