// A number of pieces of blocking work done by the caller and as many of a pool's threads or fibers as come to help. The
// caller goes on even where no other comes; a helper that comes late finds nothing to do.
// Threading: each call is its own; `one` is called from several threads at once, each index exactly once.
#ifndef WARPSMITH_LLM_GATEWAY_SERVICE_PARALLEL_H_
#define WARPSMITH_LLM_GATEWAY_SERVICE_PARALLEL_H_

#include <cstddef>
#include <functional>

#include "llm_gateway/async/task_runner.h"

namespace warpsmith::gateway {

// Returns when all of 0 to count - 1 are done.
void InParallel(TaskRunner& pool, size_t count, const std::function<void(size_t)>& one);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_SERVICE_PARALLEL_H_
