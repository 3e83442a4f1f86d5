#include "gpu_worker/session/result_spool.h"

#include <fmt/format.h>

#include "common/file.h"
#include "common/log.h"

namespace warpsmith::session {
namespace fs = std::filesystem;

absl::StatusOr<std::unique_ptr<ResultSpool>> ResultSpool::Open(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return FailedPrecondition(fmt::format("cannot create the spool {}: {}", folder.string(), error.message()));
  std::unique_ptr<ResultSpool> spool(new ResultSpool(folder));
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".result") continue;
    auto data = ReadFile(entry.path());
    v1::TaskResult result;
    if (!data.ok() || !result.ParseFromString(*data) || result.task_id() == 0) {
      spdlog::error("the spooled result {} cannot be read; set aside as .bad", entry.path().string());
      fs::rename(entry.path(), entry.path().string() + ".bad", error);
      continue;
    }
    std::pair key(result.task_id(), result.epoch());
    spool->results_[key] = std::move(result);
  }
  return spool;
}

fs::path ResultSpool::PathOf(int64_t task_id, int64_t epoch) const {
  return folder_ / fmt::format("{}-{}.result", task_id, epoch);
}

absl::Status ResultSpool::Put(const v1::TaskResult& result) {
  std::lock_guard lock(mutex_);
  results_[{result.task_id(), result.epoch()}] = result;
  return WriteFileAtomically(PathOf(result.task_id(), result.epoch()), result.SerializeAsString());
}

void ResultSpool::Remove(int64_t task_id, int64_t epoch) {
  std::lock_guard lock(mutex_);
  results_.erase({task_id, epoch});
  std::error_code ignored;
  fs::remove(PathOf(task_id, epoch), ignored);
}

size_t ResultSpool::size() const {
  std::lock_guard lock(mutex_);
  return results_.size();
}

std::vector<v1::TaskResult> ResultSpool::Pending() const {
  std::lock_guard lock(mutex_);
  std::vector<v1::TaskResult> pending;
  for (auto& [key, result] : results_) pending.push_back(result);
  return pending;
}

}  // namespace warpsmith::session
