#include "gpu_worker/reference/memory_budget.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string>

namespace warpsmith::reference {
namespace {

constexpr uint64_t kUnknown = 4ull << 30;

// Files of /proc and /sys say that they are empty, so that they are read as streams.
std::string Slurp(const char* path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::optional<uint64_t> Number(std::string_view text) {
  const size_t start = text.find_first_not_of(" \t");
  if (start == std::string_view::npos) return std::nullopt;
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data() + start, text.data() + text.size(), value);
  if (error != std::errc() || end == text.data() + start) return std::nullopt;
  return value;
}

}  // namespace

std::optional<uint64_t> ParseMemAvailable(std::string_view meminfo) {
  constexpr std::string_view kKey = "MemAvailable:";
  const size_t at = meminfo.find(kKey);
  if (at == std::string_view::npos) return std::nullopt;
  const std::optional<uint64_t> kilobytes = Number(meminfo.substr(at + kKey.size()));
  if (!kilobytes) return std::nullopt;
  return *kilobytes << 10;
}

uint64_t AvailableMemoryBytes() {
  uint64_t available = ParseMemAvailable(Slurp("/proc/meminfo")).value_or(kUnknown);
  const std::optional<uint64_t> limit = Number(Slurp("/sys/fs/cgroup/memory.max"));  // "max": no limit, no number
  const std::optional<uint64_t> used = Number(Slurp("/sys/fs/cgroup/memory.current"));
  if (limit && used) available = std::min(available, *limit > *used ? *limit - *used : 0);
  return available;
}

}  // namespace warpsmith::reference
