#include "coordinator/engine/batch_share.h"

#include <algorithm>
#include <cmath>

namespace warpsmith::engine {
namespace {

constexpr int kFirstEvaluations = 4;

// 0: there is none. Where there is one, it is this transaction's to share out, but where it only looks.
absl::StatusOr<double> Limit(store::Transaction& transaction, const std::string& batch_id, bool to_look) {
  if (batch_id.empty()) return 0.0;
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("batch_gpu_limit", {batch_id}));
  const double most = rows.empty() ? 0 : rows[0].Double("max_gpu_seconds");
  if (most > 0 && !to_look) WARPSMITH_RETURN_IF_ERROR(transaction.Execute("batch_gpu_lock", {batch_id}).status());
  return most;
}

}  // namespace

int GpuUse::Room(double most) const {
  if (each <= 0) return std::max(0, kFirstEvaluations - open);
  return static_cast<int>(std::clamp(std::floor((most - used - set_aside) / each + 1e-9), 0.0, 1e6));
}

absl::StatusOr<GpuUse> GetGpuUse(store::Transaction& transaction, const std::string& batch_id,
                                 const std::string& search_id) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("batch_gpu_usage", {batch_id}));
  GpuUse use;
  double longest = 0;
  for (const store::Row row : rows) longest = std::max(longest, row.Double("longest"));
  use.each = use.shortest = longest;
  for (const store::Row row : rows) {
    const double own = row.Double("longest") > 0 ? row.Double("longest") : longest;
    const auto open = static_cast<int>(row.Int("open"));
    use.used += row.Double("gpu_seconds");
    use.set_aside += own * open;
    use.open += open;
    use.shortest = std::min(use.shortest, own);
    if (row.Text("id") == search_id) use.each = own;
  }
  return use;
}

absl::StatusOr<int> GpuRoom(store::Transaction& transaction, const std::string& batch_id,
                            const std::string& search_id) {
  WARPSMITH_ASSIGN_OR_RETURN(const double most, Limit(transaction, batch_id, false));
  if (most <= 0) return search::Capacity().evaluations;
  WARPSMITH_ASSIGN_OR_RETURN(const GpuUse use, GetGpuUse(transaction, batch_id, search_id));
  return use.Room(most);
}

absl::StatusOr<search::Capacity> ShareGpuTime(store::Transaction& transaction, const store::SearchRecord& record,
                                              bool to_look, search::Snapshot* snapshot) {
  search::Capacity capacity;
  WARPSMITH_ASSIGN_OR_RETURN(const double most, Limit(transaction, record.batch_id, to_look));
  if (most <= 0) return capacity;
  WARPSMITH_ASSIGN_OR_RETURN(const GpuUse use, GetGpuUse(transaction, record.batch_id, record.id));
  capacity.evaluations = use.Room(most);
  if (use.Spent(most)) {
    // As a search is that has used up a limit of its own.
    snapshot->usage.gpu_seconds = std::max(snapshot->usage.gpu_seconds, 1e-6);
    snapshot->values.max_gpu_hours = 1e-12;
  }
  return capacity;
}

}  // namespace warpsmith::engine
