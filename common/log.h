// Logging: one line an event to standard error, with UTC time, level and the program's name. Use spdlog's functions
// (spdlog::info("…", …)) everywhere. Never log a key, a prompt or a model's reply.
// Threading: InitLogging once, in main, before threads.
#ifndef WARPSMITH_COMMON_LOG_H_
#define WARPSMITH_COMMON_LOG_H_

#include <spdlog/spdlog.h>

#include <string_view>

namespace warpsmith {

// Level from WARPSMITH_LOG (trace, debug, info, warn, error); info by default.
void InitLogging(std::string_view program);

}  // namespace warpsmith

#endif  // WARPSMITH_COMMON_LOG_H_
