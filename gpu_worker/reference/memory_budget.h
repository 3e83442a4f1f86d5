// How much memory a child may take: what the machine, or the control group that we run in, has left.
// Threading: safe from any thread. Units: bytes.
#ifndef WARPSMITH_GPU_WORKER_REFERENCE_MEMORY_BUDGET_H_
#define WARPSMITH_GPU_WORKER_REFERENCE_MEMORY_BUDGET_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace warpsmith::reference {

// The least of /proc/meminfo's MemAvailable and the control group's limit less its use; 4 GiB where neither can be
// read.
uint64_t AvailableMemoryBytes();

// "MemAvailable:  123 kB" out of /proc/meminfo's text, in bytes.
std::optional<uint64_t> ParseMemAvailable(std::string_view meminfo);

}  // namespace warpsmith::reference

#endif  // WARPSMITH_GPU_WORKER_REFERENCE_MEMORY_BUDGET_H_
