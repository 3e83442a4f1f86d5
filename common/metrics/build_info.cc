#include "common/metrics/build_info.h"

#include <prometheus/gauge.h>

#include "common/version.h"
#include "revision.h"

namespace warpsmith::metrics {

void AddBuildInfo(Telemetry& telemetry, const std::string& name) {
  prometheus::BuildGauge()
      .Name(name)
      .Help("Always 1; a deployment changes its labels")
      .Register(telemetry.registry())
      .Add({{"version", kVersion}, {"revision", WARPSMITH_REVISION}, {"harness_revision", kHarnessRevision}})
      .Set(1);
}

}  // namespace warpsmith::metrics
