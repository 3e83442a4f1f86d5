#include <prometheus/counter.h>
#include <prometheus/histogram.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "common/metrics/bounded_labels.h"
#include "common/metrics/buckets.h"
#include "common/metrics/children.h"
#include "common/metrics/families.h"
#include "common/metrics/telemetry.h"
#include "tests/support/metrics_page.h"

namespace warpsmith::metrics {
namespace {

TEST_CASE("of ten thousand names the first few are kept and the rest is one", "[unit]") {
  BoundedLabels names(10);
  std::set<std::string> seen;
  for (int i = 0; i < 10'000; ++i) seen.insert(names.Fold("name" + std::to_string(i)));
  CHECK(seen.size() == 11);
  CHECK(seen.contains(kOther));
  CHECK(names.Fold("name3") == "name3");
  CHECK(names.Fold("name9999") == kOther);
}

TEST_CASE("labels become short printable ASCII", "[unit]") {
  CHECK(CleanLabel("gpu-node_1.lab") == "gpu-node_1.lab");
  CHECK(CleanLabel("a\"b\\c\nd\x01\xc3\xa4") == "a_b_c_d___");
  CHECK(CleanLabel(std::string(5000, 'x')).size() == 64);
}

TEST_CASE("children are made once, histograms with their buckets", "[unit]") {
  Telemetry telemetry;
  Children<prometheus::Counter> counters(
      prometheus::BuildCounter().Name("warpsmith_x_total").Help("x").Register(telemetry.registry()), {"a", "b"});
  Children<prometheus::Histogram> times(
      prometheus::BuildHistogram().Name("warpsmith_t_seconds").Help("t").Register(telemetry.registry()), {"a"},
      TimeBuckets());
  CHECK(&counters.With({"1", "2"}) == &counters.With({"1", "2"}));
  CHECK(&counters.With({"1", "2"}) != &counters.With({"12", ""}));
  counters.With({"1", "2"}).Increment(3);
  times.With({"z"}).Observe(0.3);
  const testing::MetricsPage page(telemetry.Page());
  CHECK(page.Value("warpsmith_x_total", {{"a", "1"}, {"b", "2"}}) == 3);
  CHECK(page.Value("warpsmith_t_seconds_count", {{"a", "z"}}) == 1);
  CHECK(page.Value("warpsmith_t_seconds_bucket", {{"a", "z"}, {"le", "0.2"}}) == 0);
  CHECK(page.Value("warpsmith_t_seconds_bucket", {{"a", "z"}, {"le", "0.5"}}) == 1);
  CHECK(page.Samples("warpsmith_t_seconds_bucket") == TimeBuckets().size() + 1);
}

TEST_CASE("a family without children or values is not on the page", "[unit]") {
  class Collected final : public prometheus::Collectable {
   public:
    std::vector<prometheus::MetricFamily> Collect() const override {
      return Families()
          .Gauge("warpsmith_nothing", "n")
          .Value({}, std::nullopt)
          .Value({{"a", "b"}}, std::numeric_limits<double>::quiet_NaN())
          .Gauge("warpsmith_some", "s")
          .Value({{"a", "b"}}, 0)
          .Counter("warpsmith_more_total", "m")
          .Value({}, 7)
          .Take();
    }
  };
  Telemetry telemetry;
  prometheus::BuildCounter().Name("warpsmith_empty_total").Help("e").Register(telemetry.registry());
  auto collected = std::make_shared<Collected>();
  telemetry.Add(collected);
  testing::MetricsPage page(telemetry.Page());
  CHECK(page.types() ==
        std::map<std::string, std::string>{{"warpsmith_some", "gauge"}, {"warpsmith_more_total", "counter"}});
  CHECK(page.Value("warpsmith_some", {{"a", "b"}}) == 0);
  CHECK(page.Value("warpsmith_more_total") == 7);
  collected.reset();
  CHECK(telemetry.Page().empty());
}

TEST_CASE("buckets grow", "[unit]") {
  for (const std::vector<double>& buckets : {TimeBuckets(), ModelBuckets(), SpeedupBuckets()}) {
    CHECK(std::is_sorted(buckets.begin(), buckets.end()));
    CHECK(std::adjacent_find(buckets.begin(), buckets.end()) == buckets.end());
  }
}

}  // namespace
}  // namespace warpsmith::metrics
