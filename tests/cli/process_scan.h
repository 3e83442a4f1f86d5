// Processes that have to do with a folder: named in their arguments, or working in it. For tests that nothing is left.
// Threading: safe from any thread.
#ifndef WARPSMITH_TESTS_CLI_PROCESS_SCAN_H_
#define WARPSMITH_TESTS_CLI_PROCESS_SCAN_H_

#include <sys/types.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace warpsmith::cli {

inline std::vector<std::string> ProcessesOf(const std::filesystem::path& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string pid = entry.path().filename().string();
    if (pid.find_first_not_of("0123456789") != std::string::npos || pid == std::to_string(getpid())) continue;
    std::ifstream in(entry.path() / "cmdline", std::ios::binary);
    std::string command((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    std::error_code unreadable;
    const std::string cwd = std::filesystem::read_symlink(entry.path() / "cwd", unreadable).string();
    if (command.find(folder.string()) == std::string::npos && cwd.rfind(folder.string(), 0) != 0) continue;
    for (char& c : command) c = c == 0 ? ' ' : c;
    found.push_back(pid + " " + command);
  }
  return found;
}

}  // namespace warpsmith::cli

#endif  // WARPSMITH_TESTS_CLI_PROCESS_SCAN_H_
