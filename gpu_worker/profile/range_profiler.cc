#include "gpu_worker/profile/range_profiler.h"

#include <fmt/format.h>

#include <cmath>

namespace warpsmith::profile {
namespace {

// More than any set of metrics takes; a profiler that never ends its passes is broken.
constexpr int kMostPasses = 1000;

absl::StatusOr<std::vector<uint8_t>> Availability(const CuptiApi& api, CUcontext context) {
  auto params = WARPSMITH_CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability_Params);
  params.ctx = context;
  const char* what = "cuptiProfilerGetCounterAvailability";
  WARPSMITH_RETURN_IF_ERROR(CuptiStatus(api, api.cuptiProfilerGetCounterAvailability(&params), what));
  std::vector<uint8_t> image(params.counterAvailabilityImageSize);
  params.pCounterAvailabilityImage = image.data();
  WARPSMITH_RETURN_IF_ERROR(CuptiStatus(api, api.cuptiProfilerGetCounterAvailability(&params), what));
  return image;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RangeProfiler>> RangeProfiler::Create(const CuptiApi& api, CUcontext context,
                                                                     int max_passes) {
  auto initialize = WARPSMITH_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params);
  WARPSMITH_RETURN_IF_ERROR(CuptiStatus(api, api.cuptiProfilerInitialize(&initialize), "cuptiProfilerInitialize"));
  auto chip = WARPSMITH_CUPTI_PARAMS(CUpti_Device_GetChipName_Params);
  chip.deviceIndex = 0;
  WARPSMITH_RETURN_IF_ERROR(CuptiStatus(api, api.cuptiDeviceGetChipName(&chip), "cuptiDeviceGetChipName"));
  std::unique_ptr<RangeProfiler> profiler(new RangeProfiler(api));
  profiler->chip_ = chip.pChipName;
  WARPSMITH_ASSIGN_OR_RETURN(const std::vector<uint8_t> availability, Availability(api, context));
  WARPSMITH_ASSIGN_OR_RETURN(profiler->config_, CounterConfig::Create(api, profiler->chip_, availability, max_passes));
  auto enable = WARPSMITH_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params);
  enable.ctx = context;
  WARPSMITH_RETURN_IF_ERROR(CuptiStatus(api, api.cuptiRangeProfilerEnable(&enable), "cuptiRangeProfilerEnable"));
  profiler->profiler_ = enable.pRangeProfilerObject;
  return profiler;
}

RangeProfiler::~RangeProfiler() {
  if (profiler_ == nullptr) return;
  auto params = WARPSMITH_CUPTI_PARAMS(CUpti_RangeProfiler_Disable_Params);
  params.pRangeProfilerObject = profiler_;
  api_.cuptiRangeProfilerDisable(&params);
}

absl::Status RangeProfiler::Configure(size_t max_ranges) {
  std::vector<const char*> names = config_->MetricNames();
  auto size = WARPSMITH_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params);
  size.pRangeProfilerObject = profiler_;
  size.pMetricNames = names.data();
  size.numMetrics = names.size();
  size.maxNumOfRanges = max_ranges;
  size.maxNumRangeTreeNodes = static_cast<uint32_t>(max_ranges);
  WARPSMITH_RETURN_IF_ERROR(
      CuptiStatus(api_, api_.cuptiRangeProfilerGetCounterDataSize(&size), "cuptiRangeProfilerGetCounterDataSize"));
  counter_data_.assign(size.counterDataSize, 0);
  auto image = WARPSMITH_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
  image.pRangeProfilerObject = profiler_;
  image.counterDataSize = counter_data_.size();
  image.pCounterData = counter_data_.data();
  WARPSMITH_RETURN_IF_ERROR(CuptiStatus(api_, api_.cuptiRangeProfilerCounterDataImageInitialize(&image),
                                        "cuptiRangeProfilerCounterDataImageInitialize"));
  auto config = WARPSMITH_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params);
  config.pRangeProfilerObject = profiler_;
  config.configSize = config_->image().size();
  config.pConfig = config_->image().data();
  config.counterDataImageSize = counter_data_.size();
  config.pCounterDataImage = counter_data_.data();
  config.range = CUPTI_UserRange;
  config.replayMode = CUPTI_UserReplay;
  config.maxRangesPerPass = max_ranges;
  config.numNestingLevels = 1;
  config.minNestingLevel = 1;
  config.passIndex = 0;
  config.targetNestingLevel = 1;
  return CuptiStatus(api_, api_.cuptiRangeProfilerSetConfig(&config), "cuptiRangeProfilerSetConfig");
}

absl::Status RangeProfiler::Push(const std::string& name) {
  auto params = WARPSMITH_CUPTI_PARAMS(CUpti_RangeProfiler_PushRange_Params);
  params.pRangeProfilerObject = profiler_;
  params.pRangeName = name.c_str();
  return CuptiStatus(api_, api_.cuptiRangeProfilerPushRange(&params), "cuptiRangeProfilerPushRange");
}

absl::Status RangeProfiler::Pop() {
  auto params = WARPSMITH_CUPTI_PARAMS(CUpti_RangeProfiler_PopRange_Params);
  params.pRangeProfilerObject = profiler_;
  return CuptiStatus(api_, api_.cuptiRangeProfilerPopRange(&params), "cuptiRangeProfilerPopRange");
}

absl::StatusOr<std::vector<RangeValues>> RangeProfiler::Collect(size_t max_ranges,
                                                                const std::function<absl::Status()>& body) {
  WARPSMITH_RETURN_IF_ERROR(Configure(max_ranges));
  for (int pass = 0;; ++pass) {
    if (pass == kMostPasses) return Internal("CUPTI asks for more passes without end");
    auto start = WARPSMITH_CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params);
    start.pRangeProfilerObject = profiler_;
    WARPSMITH_RETURN_IF_ERROR(CuptiStatus(api_, api_.cuptiRangeProfilerStart(&start), "cuptiRangeProfilerStart"));
    WARPSMITH_RETURN_IF_ERROR(body());
    auto stop = WARPSMITH_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params);
    stop.pRangeProfilerObject = profiler_;
    WARPSMITH_RETURN_IF_ERROR(CuptiStatus(api_, api_.cuptiRangeProfilerStop(&stop), "cuptiRangeProfilerStop"));
    if (stop.isAllPassSubmitted != 0) break;
  }
  return Decode();
}

absl::StatusOr<std::vector<RangeValues>> RangeProfiler::Decode() {
  auto decode = WARPSMITH_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData_Params);
  decode.pRangeProfilerObject = profiler_;
  WARPSMITH_RETURN_IF_ERROR(
      CuptiStatus(api_, api_.cuptiRangeProfilerDecodeData(&decode), "cuptiRangeProfilerDecodeData"));
  if (decode.numOfRangeDropped > 0) {
    return Internal(fmt::format("CUPTI dropped {} ranges", decode.numOfRangeDropped));
  }
  auto info = WARPSMITH_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params);
  info.pCounterDataImage = counter_data_.data();
  info.counterDataImageSize = counter_data_.size();
  WARPSMITH_RETURN_IF_ERROR(
      CuptiStatus(api_, api_.cuptiRangeProfilerGetCounterDataInfo(&info), "cuptiRangeProfilerGetCounterDataInfo"));
  std::vector<RangeValues> ranges;
  for (size_t i = 0; i < info.numTotalRanges; ++i) {
    auto range = WARPSMITH_CUPTI_PARAMS(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params);
    range.pCounterDataImage = counter_data_.data();
    range.counterDataImageSize = counter_data_.size();
    range.rangeIndex = i;
    range.rangeDelimiter = "/";
    WARPSMITH_RETURN_IF_ERROR(CuptiStatus(api_, api_.cuptiRangeProfilerCounterDataGetRangeInfo(&range),
                                          "cuptiRangeProfilerCounterDataGetRangeInfo"));
    RangeValues values;
    values.name = range.rangeName == nullptr ? "" : range.rangeName;
    WARPSMITH_ASSIGN_OR_RETURN(const std::vector<double> numbers, config_->Evaluate(counter_data_, i));
    for (size_t k = 0; k < numbers.size(); ++k) {
      if (std::isfinite(numbers[k])) values.metrics[config_->metrics()[k]] = numbers[k];
    }
    ranges.push_back(std::move(values));
  }
  return ranges;
}

}  // namespace warpsmith::profile
