// Where CUPTI's library may lie: toolkit folders, distributions' folders, NVIDIA's Python wheels.
// Threading: safe from any thread. Errors: none; a machine without CUPTI gives an empty list.
#ifndef WARPSMITH_GPU_WORKER_PROFILE_CUPTI_PATHS_H_
#define WARPSMITH_GPU_WORKER_PROFILE_CUPTI_PATHS_H_

#include <filesystem>
#include <string>
#include <vector>

namespace warpsmith::profile {

// Existing files, newest major version first within a folder. WARPSMITH_CUDA_PATH, where set, is the only toolkit that
// is looked at; "none" means none at all.
std::vector<std::string> FindCupti();

// Those in the folders that one toolkit or one site-packages folder may have.
std::vector<std::string> CuptiIn(const std::filesystem::path& folder);

}  // namespace warpsmith::profile

#endif  // WARPSMITH_GPU_WORKER_PROFILE_CUPTI_PATHS_H_
