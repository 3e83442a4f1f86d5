#include "gpu_worker/profile/counter_config.h"

#include <fmt/format.h>

#include <algorithm>

#include "gpu_worker/profile/metric_set.h"

namespace warpsmith::profile {
namespace {

absl::StatusOr<CUpti_Profiler_Host_Object*> NewHost(const CuptiApi& api, const std::string& chip,
                                                    const std::vector<uint8_t>& availability) {
  auto params = WARPSMITH_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize_Params);
  params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  params.pChipName = chip.c_str();
  params.pCounterAvailabilityImage = availability.empty() ? nullptr : availability.data();
  const absl::Status status =
      CuptiStatus(api, api.cuptiProfilerHostInitialize(&params), "cuptiProfilerHostInitialize for the chip " + chip);
  if (!status.ok()) return Annotate(status, "a later CUDA toolkit may know this chip");
  return params.pHostObject;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CounterConfig>> CounterConfig::Create(const CuptiApi& api, const std::string& chip,
                                                                     const std::vector<uint8_t>& availability,
                                                                     int max_passes) {
  std::vector<std::string> chosen;
  {
    WARPSMITH_ASSIGN_OR_RETURN(CUpti_Profiler_Host_Object * host, NewHost(api, chip, availability));
    std::unique_ptr<CounterConfig> probe(new CounterConfig(api, host));
    WARPSMITH_ASSIGN_OR_RETURN(const std::set<std::string> base_metrics, probe->BaseMetrics());
    // A base metric may exist and one of its forms not.
    for (const std::string& name : ChooseMetrics(base_metrics)) {
      auto params = WARPSMITH_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params);
      const char* names[] = {name.c_str()};
      params.pHostObject = host;
      params.ppMetricNames = names;
      params.numMetrics = 1;
      if (api.cuptiProfilerHostConfigAddMetrics(&params) == CUPTI_SUCCESS) chosen.push_back(name);
    }
  }
  if (chosen.empty()) return FailedPrecondition(fmt::format("CUPTI has none of the wanted metrics for {}", chip));
  // What has been added to a host object stays, so each try has a fresh one.
  for (;;) {
    WARPSMITH_ASSIGN_OR_RETURN(CUpti_Profiler_Host_Object * host, NewHost(api, chip, availability));
    std::unique_ptr<CounterConfig> config(new CounterConfig(api, host));
    WARPSMITH_RETURN_IF_ERROR(config->Build(chosen));
    if (max_passes <= 0 || config->passes() <= max_passes || chosen.size() == 1) return config;
    chosen.resize(std::max<size_t>(1, chosen.size() - std::max<size_t>(1, chosen.size() / 8)));
  }
}

CounterConfig::~CounterConfig() {
  auto params = WARPSMITH_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize_Params);
  params.pHostObject = host_;
  api_.cuptiProfilerHostDeinitialize(&params);
}

absl::StatusOr<std::set<std::string>> CounterConfig::BaseMetrics() const {
  std::set<std::string> all;
  for (CUpti_MetricType type : {CUPTI_METRIC_TYPE_COUNTER, CUPTI_METRIC_TYPE_RATIO, CUPTI_METRIC_TYPE_THROUGHPUT}) {
    auto params = WARPSMITH_CUPTI_PARAMS(CUpti_Profiler_Host_GetBaseMetrics_Params);
    params.pHostObject = host_;
    params.metricType = type;
    WARPSMITH_RETURN_IF_ERROR(
        CuptiStatus(api_, api_.cuptiProfilerHostGetBaseMetrics(&params), "cuptiProfilerHostGetBaseMetrics"));
    for (size_t i = 0; i < params.numMetrics; ++i) all.insert(params.ppMetricNames[i]);
  }
  return all;
}

std::vector<const char*> CounterConfig::MetricNames() const {
  std::vector<const char*> names;
  for (const std::string& name : metrics_) names.push_back(name.c_str());
  return names;
}

absl::Status CounterConfig::Build(const std::vector<std::string>& metrics) {
  metrics_ = metrics;
  std::vector<const char*> names = MetricNames();
  auto add = WARPSMITH_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params);
  add.pHostObject = host_;
  add.ppMetricNames = names.data();
  add.numMetrics = names.size();
  WARPSMITH_RETURN_IF_ERROR(
      CuptiStatus(api_, api_.cuptiProfilerHostConfigAddMetrics(&add), "cuptiProfilerHostConfigAddMetrics"));
  auto size = WARPSMITH_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params);
  size.pHostObject = host_;
  WARPSMITH_RETURN_IF_ERROR(
      CuptiStatus(api_, api_.cuptiProfilerHostGetConfigImageSize(&size), "cuptiProfilerHostGetConfigImageSize"));
  image_.resize(size.configImageSize);
  auto get = WARPSMITH_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params);
  get.pHostObject = host_;
  get.configImageSize = image_.size();
  get.pConfigImage = image_.data();
  WARPSMITH_RETURN_IF_ERROR(
      CuptiStatus(api_, api_.cuptiProfilerHostGetConfigImage(&get), "cuptiProfilerHostGetConfigImage"));
  auto count = WARPSMITH_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params);
  count.configImageSize = image_.size();
  count.pConfigImage = image_.data();
  WARPSMITH_RETURN_IF_ERROR(
      CuptiStatus(api_, api_.cuptiProfilerHostGetNumOfPasses(&count), "cuptiProfilerHostGetNumOfPasses"));
  passes_ = static_cast<int>(count.numOfPasses);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> CounterConfig::Evaluate(const std::vector<uint8_t>& counter_data,
                                                            size_t range) const {
  std::vector<const char*> names = MetricNames();
  std::vector<double> values(names.size());
  auto params = WARPSMITH_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params);
  params.pHostObject = host_;
  params.pCounterDataImage = counter_data.data();
  params.counterDataImageSize = counter_data.size();
  params.rangeIndex = range;
  params.ppMetricNames = names.data();
  params.numMetrics = names.size();
  params.pMetricValues = values.data();
  WARPSMITH_RETURN_IF_ERROR(
      CuptiStatus(api_, api_.cuptiProfilerHostEvaluateToGpuValues(&params), "cuptiProfilerHostEvaluateToGpuValues"));
  return values;
}

}  // namespace warpsmith::profile
