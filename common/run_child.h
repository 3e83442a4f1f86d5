// Runs a child to its end: fed and drained without deadlock, killed from outside at its deadline together with
// everything that it started (own process group).
// Threading: safe from any thread; hooks run on the caller's. Errors: absl::Status for the world's failures; a child's
// exit is a value, not an error.
#ifndef WARPSMITH_COMMON_RUN_CHILD_H_
#define WARPSMITH_COMMON_RUN_CHILD_H_

#include <functional>
#include <string_view>

#include "common/child_options.h"
#include "common/clock.h"
#include "common/status.h"

namespace warpsmith {

// Asked while the child runs; either may be empty.
struct RunHooks {
  std::function<bool(std::string_view)> on_output;  // a piece of standard output; false: stop the child
  std::function<bool()> keep_running;               // at least every 50 ms; false: stop the child
};

// `input` goes to its standard input.
absl::StatusOr<ChildExit> RunChild(const ChildOptions& options, std::string_view input, Duration deadline,
                                   const RunHooks& hooks = {});

}  // namespace warpsmith

#endif  // WARPSMITH_COMMON_RUN_CHILD_H_
