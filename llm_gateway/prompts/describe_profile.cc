#include "llm_gateway/prompts/describe_profile.h"

#include <fmt/format.h>

#include <algorithm>

#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

constexpr int kMostFigures = 20;
constexpr int kMostSteps = 5;

std::string DescribeStep(const v1::ProfileStep& step) {
  std::string text = fmt::format("`{}` {:.0f} % of the time", OneLine(step.kernel(), 120), 100 * step.share());
  if (step.launches() > 1) text += fmt::format(" in {} launches", step.launches());
  if (step.occupancy() > 0) {
    text += fmt::format(", occupancy {:.0f} % limited by {}", 100 * step.occupancy(),
                        OneLine(step.occupancy_limiter(), 40));
  }
  if (!step.summary().empty()) text += ", " + OneLine(step.summary(), 300);
  return text;
}

}  // namespace

std::string DescribeProfile(const v1::Profile& profile) {
  std::string text;
  if (!profile.summary().empty()) text += fmt::format(" Profile: {}.", OneLine(profile.summary(), 500));
  const v1::ProfileRoofline& roof = profile.roofline();
  if (roof.share() > 0) text += fmt::format(" It reaches {:.0f} % of the roofline.", 100 * roof.share());
  for (int i = 0; i < std::min(profile.figures_size(), kMostFigures); ++i) {
    const v1::ProfileFigure& figure = profile.figures(i);
    text += fmt::format("{} {} {:.3g} {}", i == 0 ? " Hardware counters:" : ",", OneLine(figure.name(), 120),
                        figure.value(), OneLine(figure.unit(), 60));
  }
  if (profile.figures_size() > 0) text += ".";
  // With one step the summary has said it all but for the occupancy.
  if (profile.steps_size() > 1) {
    for (int i = 0; i < std::min(profile.steps_size(), kMostSteps); ++i) {
      text += (i == 0 ? " Steps: " : "; ") + DescribeStep(profile.steps(i));
    }
    text += ".";
  } else if (profile.steps_size() == 1 && profile.steps(0).occupancy() > 0) {
    text += fmt::format(" Occupancy {:.0f} %, limited by {}.", 100 * profile.steps(0).occupancy(),
                        OneLine(profile.steps(0).occupancy_limiter(), 40));
  }
  return text;
}

}  // namespace warpsmith::gateway
