// Which processes are ours, across runs: a file for each with its id and what tells it from a later process of the same
// id (start time and boot).
// Threading: one program at a time (the data directory's lock). Errors: name the file.
#ifndef WARPSMITH_CLI_EMBEDDED_PROCESS_RECORD_H_
#define WARPSMITH_CLI_EMBEDDED_PROCESS_RECORD_H_

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/status.h"

namespace warpsmith::cli {

struct ProcessRecord {
  std::string name;  // postgres, gateway, coordinator, worker-0
  pid_t pid = 0;
  uint64_t start_ticks = 0;  // since boot, of /proc/PID/stat
  std::string boot_id;
};

// The record of a process that runs now; nullopt: it does not (or is a zombie).
std::optional<ProcessRecord> DescribeProcess(const std::string& name, pid_t pid);

// The very process recorded still runs.
bool StillRuns(const ProcessRecord& record);

absl::Status WriteRecord(const std::filesystem::path& folder, const ProcessRecord& record);
void RemoveRecord(const std::filesystem::path& folder, const std::string& name);
// Damaged files are left out: nothing is stopped on a guess.
std::vector<ProcessRecord> ReadRecords(const std::filesystem::path& folder);

// `signal`, then SIGKILL after `grace`, to that process only. False: it is still there.
bool StopProcess(const ProcessRecord& record, int signal, Duration grace);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_EMBEDDED_PROCESS_RECORD_H_
