// What a model is told about the device searched for.
// Threading: pure. Source of the figures: NVIDIA's data sheets and the CUDA programming guide's table of compute
// capabilities; dense rates.
#ifndef WARPSMITH_LLM_GATEWAY_PROMPTS_DEVICE_FACTS_H_
#define WARPSMITH_LLM_GATEWAY_PROMPTS_DEVICE_FACTS_H_

#include <string>

#include "warpsmith/v1/worker.pb.h"

namespace warpsmith::gateway {

std::string DescribeDevice(const v1::DeviceDescription& device);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_PROMPTS_DEVICE_FACTS_H_
