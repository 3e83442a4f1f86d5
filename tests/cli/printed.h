// What a command printed, and its exit status.
// Threading: one command, one thread.
#ifndef WARPSMITH_TESTS_CLI_PRINTED_H_
#define WARPSMITH_TESTS_CLI_PRINTED_H_

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/command_line.h"

namespace warpsmith::cli {

struct Printed {
  int code = 0;
  std::string out;
  std::string err;
};

inline Printed RunIt(const std::vector<std::string>& arguments, SessionFactory session = nullptr,
                     HostCodeFactory host_code = nullptr) {
  std::ostringstream out;
  std::ostringstream err;
  Context context{out, err};
  context.session = std::move(session);
  context.host_code = std::move(host_code);
  const int code = RunCommandLine(arguments, std::move(context));
  return {code, out.str(), err.str()};
}

}  // namespace warpsmith::cli

#endif  // WARPSMITH_TESTS_CLI_PRINTED_H_
