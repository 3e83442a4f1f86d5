// Results on disk from the moment they exist until the coordinator has acknowledged them, so that neither a broken
// connection nor a restart of the worker loses one. One file a result, named by task and epoch.
// Threading: safe from any thread. Errors: a spool that cannot be written is an error of Put; the result is still sent.
#ifndef WARPSMITH_GPU_WORKER_SESSION_RESULT_SPOOL_H_
#define WARPSMITH_GPU_WORKER_SESSION_RESULT_SPOOL_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "common/status.h"
#include "warpsmith/v1/worker.pb.h"

namespace warpsmith::session {

class ResultSpool {
 public:
  // Reads what an earlier process left; unreadable files are set aside with the suffix .bad and logged.
  static absl::StatusOr<std::unique_ptr<ResultSpool>> Open(const std::filesystem::path& folder);

  absl::Status Put(const v1::TaskResult& result);
  void Remove(int64_t task_id, int64_t epoch);
  std::vector<v1::TaskResult> Pending() const;
  size_t size() const;

 private:
  explicit ResultSpool(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::filesystem::path PathOf(int64_t task_id, int64_t epoch) const;

  const std::filesystem::path folder_;
  mutable std::mutex mutex_;
  std::map<std::pair<int64_t, int64_t>, v1::TaskResult> results_;
};

}  // namespace warpsmith::session

#endif  // WARPSMITH_GPU_WORKER_SESSION_RESULT_SPOOL_H_
