// warpsmith-host-code [--read=PATH]... [--write=FOLDER]... [--data=PATH]... [--cpu-seconds=N] [--file-bytes=N]
// [--open-files=N] -- PROGRAM [ARGUMENT]...: locks itself down and becomes PROGRAM, whose children are locked down with
// it. --read: readable, and programs there can be run; --write: may hold new files; --data: files that are there
// already may be read and written, devices too. What keeps it from starting goes to standard output, as the child
// itself would say it.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "common/json.h"
#include "common/sandbox.h"

namespace {

int Refuse(const std::string& why) {
  std::cout << warpsmith::Json{{"id", 0}, {"fault", "sandbox"}, {"message", why}}.dump() << std::endl;
  return 3;
}

// Whether `argument` is --NAME=VALUE; `value` is what stands behind the sign.
bool Takes(std::string_view argument, std::string_view name, std::string& value) {
  if (!argument.starts_with(name) || argument.size() <= name.size() || argument[name.size()] != '=') return false;
  value = argument.substr(name.size() + 1);
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  warpsmith::SandboxOptions options;
  options.syscalls = warpsmith::SyscallPolicy::kHostCode;
  options.allow_execute = true;
  int at = 1;
  for (std::string value; at < count && std::string_view(arguments[at]) != "--"; ++at) {
    const std::string_view argument = arguments[at];
    if (Takes(argument, "--read", value)) {
      options.read_paths.push_back(value);
    } else if (Takes(argument, "--write", value)) {
      options.write_paths.push_back(value);
    } else if (Takes(argument, "--data", value)) {
      options.device_paths.push_back(value);
    } else if (Takes(argument, "--cpu-seconds", value)) {
      options.cpu_seconds = std::strtoull(value.c_str(), nullptr, 10);
    } else if (Takes(argument, "--file-bytes", value)) {
      options.file_bytes = std::strtoull(value.c_str(), nullptr, 10);
    } else if (Takes(argument, "--open-files", value)) {
      options.open_files = std::strtoull(value.c_str(), nullptr, 10);
    } else {
      return Refuse("warpsmith-host-code is started by warpsmith and knows no argument " + std::string(argument));
    }
  }
  if (rlimit files{}; getrlimit(RLIMIT_NOFILE, &files) == 0) {
    options.open_files = std::min<uint64_t>(options.open_files, files.rlim_max);
  }
  if (at + 1 >= count) return Refuse("warpsmith-host-code was given no program to run");
  if (absl::Status status = warpsmith::EnterSandbox(options); !status.ok()) return Refuse(warpsmith::Message(status));
  execv(arguments[at + 1], arguments + at + 1);
  return Refuse(warpsmith::ErrnoMessage(std::string("cannot run ") + arguments[at + 1], errno));
}
