#include "gpu_worker/reference/oracle_json.h"

#include <catch2/catch.hpp>
#include <string>

namespace warpsmith::reference {
namespace {

Json Place(const std::string& handle, int64_t allocation) {
  return {{"slots",
           {{{{"ipc_handle", handle},
              {"allocation_bytes", allocation},
              {"payload_offset", 65536},
              {"payload_bytes", 4096}}}}}};
}

TEST_CASE("a place on a GPU is a handle of 64 bytes", "[unit]") {
  std::string hex;
  for (int i = 0; i < 64; ++i) hex += i % 2 == 0 ? "0a" : "ff";
  const auto places = PlacesFromJson(Place(hex, 2 << 20));
  REQUIRE(places.ok());
  const SharedBuffer& buffer = (*places)[0][0];
  REQUIRE(buffer.ipc_handle.size() == 64);
  CHECK(buffer.ipc_handle[0] == '\x0a');
  CHECK(buffer.ipc_handle[63] == '\xff');
  CHECK(buffer.path.empty());
  CHECK(buffer.allocation_bytes == 2 << 20);
  CHECK(buffer.payload_offset == 65536);
  CHECK(buffer.payload_bytes == 4096);
}

TEST_CASE("places that cannot be are refused", "[unit]") {
  const std::string good(128, 'a');
  CHECK_FALSE(PlacesFromJson(Place("abcd", 2 << 20)).ok());
  CHECK_FALSE(PlacesFromJson(Place(std::string(128, 'z'), 2 << 20)).ok());
  CHECK_FALSE(PlacesFromJson(Place(good, 66000)).ok());  // the payload would reach behind it
  Json both = Place(good, 2 << 20);
  both["slots"][0][0]["path"] = "/dev/shm/x";
  CHECK_FALSE(PlacesFromJson(both).ok());
  CHECK_FALSE(PlacesFromJson({{"slots", {{Json::object()}}}}).ok());
  CHECK_FALSE(PlacesFromJson(Json::object()).ok());
}

TEST_CASE("times and baselines are read with all their fields", "[unit]") {
  const auto time = TimeFromJson({{"median_ms", 2.5}, {"spread", 0.01}, {"samples", 3}, {"samples_ms", {2, 2.5, 3}}});
  REQUIRE(time.ok());
  CHECK(time->samples_ms == std::vector<double>{2, 2.5, 3});
  CHECK_FALSE(TimeFromJson({{"samples", 3}}).ok());
  const auto baseline = BaselineFromJson({{"baseline",
                                           {{"name", "library"},
                                            {"median_ms", 2.5},
                                            {"precision_class", "PRECISION_CLASS_TF32"},
                                            {"driver", "580.1"},
                                            {"power_limit_w", 700.0}}}});
  REQUIRE(baseline.ok());
  CHECK(baseline->precision_class() == v1::PRECISION_CLASS_TF32);
  CHECK(baseline->driver() == "580.1");
  CHECK(baseline->power_limit_w() == 700);
  const auto skipped = BaselineFromJson({{"baseline", {{"name", "library"}, {"skipped_reason", "none"}}}});
  REQUIRE(skipped.ok());
  CHECK(skipped->skipped_reason() == "none");
  CHECK_FALSE(BaselineFromJson(Json::object()).ok());
}

TEST_CASE("scratch that lasts is said to", "[unit]") {
  v1::ExecutionPlan plan;
  plan.add_buffers()->set_name("a");
  plan.add_buffers()->set_persistent(true);
  const Json buffers = BuffersToJson(plan);
  CHECK(buffers[0]["persistent"] == false);
  CHECK(buffers[1]["persistent"] == true);
}

}  // namespace
}  // namespace warpsmith::reference
