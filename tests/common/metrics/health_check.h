// Asks a server's gRPC health service, as an orchestrator's probe does. Threading: safe from any thread.
#ifndef WARPSMITH_TESTS_COMMON_METRICS_HEALTH_CHECK_H_
#define WARPSMITH_TESTS_COMMON_METRICS_HEALTH_CHECK_H_

#include <string>

namespace warpsmith::testing {

// SERVING, NOT_SERVING, or the call's error.
std::string AskHealth(const std::string& address);

}  // namespace warpsmith::testing

#endif  // WARPSMITH_TESTS_COMMON_METRICS_HEALTH_CHECK_H_
