// Watches the room that the database has: its own size and, where its folder is on this machine, the file system's free
// space. While there is too little, new work is held; it goes on by itself once there is room again, with some to
// spare, so that it does not flap. Threading: Check by one thread at a time; health() and held() from any. Units:
// bytes.
#ifndef WARPSMITH_COORDINATOR_OPERATIONS_DISK_ALARM_H_
#define WARPSMITH_COORDINATOR_OPERATIONS_DISK_ALARM_H_

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "common/clock.h"
#include "coordinator/store/database.h"

namespace warpsmith::operations {

struct DiskSettings {
  int64_t min_free_bytes = int64_t{1} << 30;  // 0: no alarm
  int64_t max_database_bytes = 0;             // 0: no limit
  std::string path;                           // empty: the database's folder, where it is on this machine
};

struct DiskHealth {
  int64_t database_bytes = 0;
  std::string path;         // empty: not on this machine, or not known
  int64_t free_bytes = -1;  // -1: not known
  bool held = false;
  std::string reason;
  int64_t held_since_us = 0;
};

// Free space for an unprivileged user on the file system of a path.
using FreeSpace = std::function<absl::StatusOr<int64_t>(const std::string& path)>;
absl::StatusOr<int64_t> FreeBytesOf(const std::string& path);

class DiskAlarm {
 public:
  // `on_change` is called from Check, after the events of running searches were written: hold or release new work.
  DiskAlarm(store::Database& database, const DiskSettings& settings, FreeSpace free_space, Clock& clock,
            std::function<void(bool held)> on_change);

  // Looks, and holds or releases. A database that does not answer changes nothing.
  absl::Status Check();

  DiskHealth health() const;
  const DiskSettings& settings() const { return settings_; }

 private:
  std::string TooLittle(const DiskHealth& health, bool held) const;
  void Tell(const std::string& line);

  store::Database& database_;
  const DiskSettings settings_;
  const FreeSpace free_space_;
  Clock& clock_;
  const std::function<void(bool)> on_change_;
  mutable std::mutex mutex_;
  DiskHealth health_;  // guarded by mutex_
};

}  // namespace warpsmith::operations

#endif  // WARPSMITH_COORDINATOR_OPERATIONS_DISK_ALARM_H_
