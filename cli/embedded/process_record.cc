#include "cli/embedded/process_record.h"

#include <fmt/format.h>

#include <csignal>
#include <system_error>

#include "common/file.h"
#include "common/json.h"

namespace warpsmith::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kSuffix[] = ".process.json";

std::string BootId() {
  auto text = ReadFile("/proc/sys/kernel/random/boot_id");
  if (!text.ok()) return "";
  return text->substr(0, text->find('\n'));
}

}  // namespace

std::optional<ProcessRecord> DescribeProcess(const std::string& name, pid_t pid) {
  auto stat = ReadFile(fmt::format("/proc/{}/stat", pid));
  if (!stat.ok()) return std::nullopt;
  // The program's name, in parentheses, may hold anything: fields are counted from behind it.
  size_t at = stat->rfind(')');
  if (at == std::string::npos || at + 2 >= stat->size()) return std::nullopt;
  const char state = (*stat)[at + 2];
  if (state == 'Z' || state == 'X') return std::nullopt;
  constexpr int kStartTimeAfterName = 20;  // field 22 of proc(5)
  for (int i = 0; i < kStartTimeAfterName && at != std::string::npos; ++i) at = stat->find(' ', at + 1);
  if (at == std::string::npos) return std::nullopt;
  ProcessRecord record{name, pid, 0, BootId()};
  record.start_ticks = std::strtoull(stat->c_str() + at + 1, nullptr, 10);
  return record;
}

bool StillRuns(const ProcessRecord& record) {
  const auto now = DescribeProcess(record.name, record.pid);
  return now && now->start_ticks == record.start_ticks && now->boot_id == record.boot_id;
}

absl::Status WriteRecord(const fs::path& folder, const ProcessRecord& record) {
  const Json json = {
      {"name", record.name}, {"pid", record.pid}, {"start_ticks", record.start_ticks}, {"boot_id", record.boot_id}};
  return WriteFileAtomically(folder / (record.name + kSuffix), json.dump() + "\n");
}

void RemoveRecord(const fs::path& folder, const std::string& name) {
  std::error_code ignored;
  fs::remove(folder / (name + kSuffix), ignored);
}

std::vector<ProcessRecord> ReadRecords(const fs::path& folder) {
  std::vector<ProcessRecord> records;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string file = entry.path().filename().string();
    if (file.size() <= sizeof kSuffix - 1 || file.substr(file.size() - (sizeof kSuffix - 1)) != kSuffix) continue;
    auto text = ReadFile(entry.path(), 4096);
    if (!text.ok()) continue;
    auto json = ParseStrictJson(*text);
    if (!json.ok() || !json->is_object()) continue;
    const auto text_field = [&](const char* name) {
      return json->contains(name) && (*json)[name].is_string() ? (*json)[name].get<std::string>() : "";
    };
    const auto number_field = [&](const char* name) {
      return json->contains(name) && (*json)[name].is_number_integer() ? (*json)[name].get<int64_t>() : 0;
    };
    ProcessRecord record{text_field("name"), static_cast<pid_t>(number_field("pid")),
                         static_cast<uint64_t>(number_field("start_ticks")), text_field("boot_id")};
    if (!record.name.empty() && record.pid > 1 && record.start_ticks > 0) records.push_back(std::move(record));
  }
  return records;
}

bool StopProcess(const ProcessRecord& record, int signal, Duration grace) {
  if (!StillRuns(record)) return true;
  kill(record.pid, signal);
  const auto gone_within = [&](Duration limit) {
    const TimePoint deadline = RealClock().Now() + limit;
    while (StillRuns(record)) {
      if (RealClock().Now() >= deadline) return false;
      RealClock().SleepFor(std::chrono::milliseconds(20));
    }
    return true;
  };
  if (gone_within(grace)) return true;
  kill(record.pid, SIGKILL);
  return gone_within(std::chrono::seconds(5));
}

}  // namespace warpsmith::cli
