#include "llm_gateway/prompts/describe_profile.h"

#include <catch2/catch.hpp>

#include "llm_gateway/prompts/describe.h"

namespace {

namespace v1 = warpsmith::v1;
using warpsmith::gateway::DescribeParent;
using warpsmith::gateway::DescribeProfile;

v1::Profile Sample() {
  v1::Profile profile;
  profile.set_summary("latency bounds it: no unit is busy");
  profile.mutable_roofline()->set_share(0.31);
  for (const char* name : {"DRAM throughput", "L2 throughput"}) {
    v1::ProfileFigure* figure = profile.add_figures();
    figure->set_name(name);
    figure->set_value(12.34);
    figure->set_unit("% of peak");
  }
  v1::ProfileStep* step = profile.add_steps();
  step->set_kernel("rows");
  step->set_share(0.8);
  step->set_launches(4);
  step->set_occupancy(0.25);
  step->set_occupancy_limiter("registers");
  return profile;
}

}  // namespace

TEST_CASE("A prompt has the summary, the figures and the occupancy", "[unit]") {
  v1::Profile profile = Sample();
  CHECK(DescribeProfile(profile) ==
        " Profile: latency bounds it: no unit is busy. It reaches 31 % of the roofline. Hardware counters: DRAM "
        "throughput 12.3 % of peak, L2 throughput 12.3 % of peak. Occupancy 25 %, limited by registers.");
  v1::ProfileStep* step = profile.add_steps();
  step->set_kernel("sum");
  step->set_share(0.2);
  step->set_launches(1);
  step->set_summary("too little parallelism bounds it");
  CHECK(DescribeProfile(profile).find(" Steps: `rows` 80 % of the time in 4 launches, occupancy 25 % limited by "
                                      "registers; `sum` 20 % of the time, too little parallelism bounds it.") !=
        std::string::npos);
}

TEST_CASE("Without a profile nothing is said; a long one is cut", "[unit]") {
  CHECK(DescribeProfile(v1::Profile()).empty());
  v1::Profile profile = Sample();
  for (int i = 0; i < 500; ++i) *profile.add_figures() = profile.figures(0);
  for (int i = 0; i < 500; ++i) *profile.add_steps() = profile.steps(0);
  profile.set_summary(std::string(100000, 'x'));
  CHECK(DescribeProfile(profile).size() < 6000);
}

TEST_CASE("A parent's description carries its profile", "[unit]") {
  v1::ProblemContext context;
  v1::ParentKernel parent;
  parent.set_source("__global__ void rows() {}");
  parent.mutable_evaluation()->set_outcome(v1::OUTCOME_OK);
  parent.mutable_evaluation()->mutable_timing()->set_median_ms(1);
  CHECK(DescribeParent(context, parent, true).find("Profile:") == std::string::npos);
  *parent.mutable_evaluation()->mutable_profile() = Sample();
  CHECK(DescribeParent(context, parent, true).find("Profile: latency bounds it") != std::string::npos);
}
