// What the coordinator sends in parts is whole again at the command.
#include "coordinator/api/report_parts.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/cli/report/known_reports.h"

namespace warpsmith::api {
namespace {

std::vector<v1::SearchReport> Parts(const v1::SearchReport& report, size_t bytes) {
  std::vector<v1::SearchReport> parts;
  SendInParts(report, bytes, [&](const v1::SearchReport& part) {
    parts.push_back(part);
    return true;
  });
  return parts;
}

TEST_CASE("parts merge into the report, in its order", "[unit]") {
  for (const v1::SearchReport& report : {testing::KnownSearch(), testing::LargeSearch(3000), testing::EmptySearch()}) {
    for (const size_t bytes : {size_t{1}, size_t{2000}, size_t{100'000}, size_t{1} << 30}) {
      v1::SearchReport merged;
      for (const v1::SearchReport& part : Parts(report, bytes)) merged.MergeFrom(part);
      INFO(report.search().name() << " in parts of " << bytes);
      CHECK(merged.SerializeAsString() == report.SerializeAsString());
    }
  }
}

TEST_CASE("no part is larger than wanted but for a single idea that is", "[unit]") {
  const v1::SearchReport report = testing::LargeSearch(3000);
  const std::vector<v1::SearchReport> parts = Parts(report, 50'000);
  CHECK(parts.size() > 5);
  for (const v1::SearchReport& part : parts) CHECK(part.ByteSizeLong() < 60'000);
  CHECK(Parts(report, size_t{1} << 30).size() == 1);
}

TEST_CASE("nothing more is sent once sending has failed", "[unit]") {
  int sent = 0;
  SendInParts(testing::LargeSearch(3000), 1000, [&](const v1::SearchReport&) { return ++sent < 3; });
  CHECK(sent == 3);
}

}  // namespace
}  // namespace warpsmith::api
