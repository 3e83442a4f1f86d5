#include "gpu_worker/device/cuda/xid_watch.h"

#include "gpu_worker/device/cuda/nvml_api.h"

namespace warpsmith::cuda {
namespace {

constexpr int kMostEventsAPoll = 256;

class NvmlXidWatch final : public XidWatch {
 public:
  NvmlXidWatch(const NvmlApi& api, nvml::EventSet events) : api_(api), events_(events) {}
  ~NvmlXidWatch() override { api_.event_set_free(events_); }

  std::vector<int> Poll() override {
    std::vector<int> xids;
    for (int i = 0; i < kMostEventsAPoll; ++i) {
      nvml::EventData event{};
      if (api_.event_wait(events_, &event, 0) != nvml::kSuccess) break;
      if (event.type == nvml::kXidCriticalError) xids.push_back(static_cast<int>(event.data));
    }
    return xids;
  }

 private:
  const NvmlApi& api_;
  nvml::EventSet const events_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<XidWatch>> MakeNvmlXidWatch(const std::string& gpu_uuid) {
  WARPSMITH_ASSIGN_OR_RETURN(const NvmlApi* api, NvmlApi::Load());
  if (api->event_set_create == nullptr || api->register_events == nullptr || api->event_wait == nullptr ||
      api->event_set_free == nullptr) {
    return Unavailable("this NVML has no events");
  }
  WARPSMITH_ASSIGN_OR_RETURN(nvml::Device device, NvmlDevice(*api, gpu_uuid));
  nvml::EventSet events = nullptr;
  WARPSMITH_RETURN_IF_ERROR(api->Error(api->event_set_create(&events), "making a set of events"));
  if (int result = api->register_events(device, nvml::kXidCriticalError, events); result != nvml::kSuccess) {
    api->event_set_free(events);
    return api->Error(result, "watching for Xid errors");
  }
  return std::make_unique<NvmlXidWatch>(*api, events);
}

}  // namespace warpsmith::cuda
