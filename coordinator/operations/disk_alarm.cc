#include "coordinator/operations/disk_alarm.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/statvfs.h>

#include <cerrno>

#include "coordinator/store/records.h"

namespace warpsmith::operations {
namespace {

constexpr double kGibibyte = 1073741824.0;
constexpr double kToSpare = 1.1;  // of room asked for, before held work goes on

std::string Gib(int64_t bytes) { return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / kGibibyte); }

}  // namespace

absl::StatusOr<int64_t> FreeBytesOf(const std::string& path) {
  struct statvfs space {};
  if (statvfs(path.c_str(), &space) != 0) return NotFound(ErrnoMessage(path, errno));
  return static_cast<int64_t>(space.f_bavail) * static_cast<int64_t>(space.f_frsize);
}

DiskAlarm::DiskAlarm(store::Database& database, const DiskSettings& settings, FreeSpace free_space, Clock& clock,
                     std::function<void(bool held)> on_change)
    : database_(database),
      settings_(settings),
      free_space_(std::move(free_space)),
      clock_(clock),
      on_change_(std::move(on_change)) {}

std::string DiskAlarm::TooLittle(const DiskHealth& health, bool held) const {
  const double spare = held ? kToSpare : 1.0;
  if (settings_.min_free_bytes > 0 && health.free_bytes >= 0 &&
      static_cast<double>(health.free_bytes) < static_cast<double>(settings_.min_free_bytes) * spare) {
    return fmt::format(
        "the database's disk has {} free, less than the {} of --min-free-gib; free some of {}, or give "
        "retention fewer days",
        Gib(health.free_bytes), Gib(settings_.min_free_bytes), health.path);
  }
  if (settings_.max_database_bytes > 0 &&
      static_cast<double>(health.database_bytes) * spare > static_cast<double>(settings_.max_database_bytes)) {
    return fmt::format(
        "the database has {}, more than the {} of --max-database-gib; raise it, or give retention fewer "
        "days and run VACUUM FULL",
        Gib(health.database_bytes), Gib(settings_.max_database_bytes));
  }
  return "";
}

absl::Status DiskAlarm::Check() {
  DiskHealth now = health();
  std::string folder;
  absl::Status status = database_.Read([&](store::Transaction& transaction) -> absl::Status {
    WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("database_health", {}));
    now.database_bytes = rows[0].Int("database_bytes");
    folder = rows[0].Bool("local") ? rows[0].Text("data_directory") : "";
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  now.path = settings_.path.empty() ? folder : settings_.path;
  now.free_bytes = -1;
  if (!now.path.empty()) {
    auto free = free_space_(now.path);
    if (free.ok()) {
      now.free_bytes = *free;
    } else {
      spdlog::debug("free space of the database's disk: {}", Message(free.status()));
      now.path.clear();
    }
  }
  const bool was_held = now.held;
  now.reason = TooLittle(now, was_held);
  now.held = !now.reason.empty();
  if (now.held != was_held) now.held_since_us = now.held ? clock_.WallMicros() : 0;
  {
    std::lock_guard lock(mutex_);
    health_ = now;
  }
  if (now.held == was_held) return absl::OkStatus();
  if (now.held) {
    spdlog::error("new searches and calls to models are held: {}", now.reason);
    Tell("held: " + now.reason + "; new searches and calls to models wait");
  } else {
    spdlog::info("there is room again: held work goes on");
    Tell("going on: the database has room again");
  }
  on_change_(now.held);
  return absl::OkStatus();
}

void DiskAlarm::Tell(const std::string& line) {
  absl::Status status = database_.Write([&](store::Transaction& transaction) -> absl::Status {
    WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet searches, transaction.Execute("search_active", {}));
    for (const store::Row search : searches) {
      WARPSMITH_RETURN_IF_ERROR(store::AddEvent(transaction, search.Text("id"), line));
    }
    return absl::OkStatus();
  });
  // A full disk may not take the line; the hold counts all the same.
  if (!status.ok()) spdlog::warn("searches are not told: {}", Message(status));
}

DiskHealth DiskAlarm::health() const {
  std::lock_guard lock(mutex_);
  return health_;
}

}  // namespace warpsmith::operations
