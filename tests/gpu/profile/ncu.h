// Nsight Compute's command line as a second opinion on the same kernels.
// Threading: one thread.
#ifndef WARPSMITH_TESTS_GPU_PROFILE_NCU_H_
#define WARPSMITH_TESTS_GPU_PROFILE_NCU_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace warpsmith::profile_test {

// Empty where there is none.
std::string FindNcu();

// Runs `command` under ncu and gives the metrics of its second launch, in base units.
absl::StatusOr<std::map<std::string, double>> RunNcu(const std::string& ncu, const std::vector<std::string>& metrics,
                                                     const std::vector<std::string>& command);

// Takes the page "raw" in CSV apart: the values of the last row.
absl::StatusOr<std::map<std::string, double>> ParseNcu(std::string_view output);

}  // namespace warpsmith::profile_test

#endif  // WARPSMITH_TESTS_GPU_PROFILE_NCU_H_
