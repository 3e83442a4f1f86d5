#include "coordinator/engine/batch_share.h"

#include <algorithm>
#include <cmath>

namespace warpsmith::engine {
namespace {

constexpr int kFirstEvaluations = 4;

// 0: there is none. Where there is one, it is this transaction's to share out.
absl::StatusOr<double> LockedLimit(store::Transaction& transaction, const std::string& batch_id) {
  if (batch_id.empty()) return 0.0;
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("batch_gpu_limit", {batch_id}));
  const double most = rows.empty() ? 0 : rows[0].Double("max_gpu_seconds");
  if (most > 0) WARPSMITH_RETURN_IF_ERROR(transaction.Execute("batch_gpu_lock", {batch_id}).status());
  return most;
}

}  // namespace

int GpuUse::Room(double most) const {
  if (mean <= 0) return std::max(0, kFirstEvaluations - open);
  const double room = std::floor((most - used) / mean + 1e-9) - open;
  return static_cast<int>(std::clamp(room, 0.0, 1e6));
}

absl::StatusOr<GpuUse> GetGpuUse(store::Transaction& transaction, const std::string& batch_id) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("batch_gpu_usage", {batch_id}));
  GpuUse use;
  use.used = rows[0].Double("gpu_seconds");
  use.open = static_cast<int>(rows[0].Int("open"));
  const auto evaluations = static_cast<double>(rows[0].Int("evaluations"));
  if (evaluations > 0) use.mean = use.used / evaluations;
  return use;
}

absl::StatusOr<int> GpuRoom(store::Transaction& transaction, const std::string& batch_id) {
  WARPSMITH_ASSIGN_OR_RETURN(const double most, LockedLimit(transaction, batch_id));
  if (most <= 0) return search::Capacity().evaluations;
  WARPSMITH_ASSIGN_OR_RETURN(const GpuUse use, GetGpuUse(transaction, batch_id));
  return use.Room(most);
}

absl::StatusOr<search::Capacity> ShareGpuTime(store::Transaction& transaction, const store::SearchRecord& record,
                                              search::Snapshot* snapshot) {
  search::Capacity capacity;
  WARPSMITH_ASSIGN_OR_RETURN(const double most, LockedLimit(transaction, record.batch_id));
  if (most <= 0) return capacity;
  WARPSMITH_ASSIGN_OR_RETURN(const GpuUse use, GetGpuUse(transaction, record.batch_id));
  capacity.evaluations = use.Room(most);
  if (use.Spent(most)) {
    // As a search is that has used up a limit of its own.
    snapshot->usage.gpu_seconds = std::max(snapshot->usage.gpu_seconds, 1e-6);
    snapshot->values.max_gpu_hours = 1e-12;
  }
  return capacity;
}

}  // namespace warpsmith::engine
