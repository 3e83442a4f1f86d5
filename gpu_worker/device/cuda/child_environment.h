// The environment of a child that works on one GPU: it sees that GPU alone, as device 0, and nothing else of ours.
// Threading: pure, apart from reading LD_LIBRARY_PATH, under which some machines keep the driver.
#ifndef WARPSMITH_GPU_WORKER_DEVICE_CUDA_CHILD_ENVIRONMENT_H_
#define WARPSMITH_GPU_WORKER_DEVICE_CUDA_CHILD_ENVIRONMENT_H_

#include <map>
#include <string>

namespace warpsmith::cuda {

// `gpu_uuid` as the driver writes it: "GPU-...".
std::map<std::string, std::string> ChildEnvironment(const std::string& gpu_uuid);

}  // namespace warpsmith::cuda

#endif  // WARPSMITH_GPU_WORKER_DEVICE_CUDA_CHILD_ENVIRONMENT_H_
