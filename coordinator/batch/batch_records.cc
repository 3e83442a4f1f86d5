#include "coordinator/batch/batch_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace warpsmith::batch {
namespace {

constexpr int kMostPriority = 100;
constexpr int kMostParallel = 100'000;

absl::Status CheckAmount(const std::string& field, double value) {
  if (std::isfinite(value) && value >= 0 && value <= 1e15) return absl::OkStatus();
  return InvalidArgument(fmt::format("{} is {}; give 0 (no limit) or a positive number", field, value));
}

absl::Status CheckCount(const std::string& field, int value, int low, int high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return InvalidArgument(fmt::format("{} is {}; give a number from {} to {}", field, value, low, high));
}

}  // namespace

absl::StatusOr<BatchRecord> GetBatch(store::Transaction& transaction, const std::string& id) {
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("batch_get", {id}));
  if (rows.empty()) {
    return NotFound(fmt::format("there is no batch {}; `warpsmith batch list` shows those there are", id));
  }
  const store::Row row = rows[0];
  BatchRecord record;
  record.id = row.Text("id");
  record.name = row.Text("name");
  record.owner = row.Text("owner");
  record.submitted_by = row.Text("submitted_by");
  record.state = row.Text("state");
  record.paused = row.Bool("paused");
  record.limits.set_priority(static_cast<int>(row.Int("priority")));
  record.limits.set_parallel(static_cast<int>(row.Int("parallel")));
  record.limits.set_max_usd(static_cast<double>(row.Int("max_nano_usd")) * 1e-9);
  record.limits.set_max_tokens(row.Int("max_tokens"));
  record.limits.set_max_gpu_hours(row.Double("max_gpu_seconds") / 3600);
  record.used_usd = static_cast<double>(row.Int("used_nano_usd")) * 1e-9;
  record.used_tokens = row.Int("used_tokens");
  record.reserved_usd = static_cast<double>(row.Int("reserved_nano_usd")) * 1e-9;
  record.submitted_us = row.Int("submitted_us");
  record.finished_us = row.Int("finished_us");
  return record;
}

absl::StatusOr<std::string> ResolveBatch(store::Transaction& transaction, const std::string& prefix) {
  const bool clean = std::all_of(prefix.begin(), prefix.end(),
                                 [](unsigned char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'); });
  if (prefix.size() < 6 || prefix.size() > 64 || !clean) {
    return InvalidArgument(
        "batch_id: give at least 6 of the id's letters and digits; `warpsmith batch list` shows the ids");
  }
  WARPSMITH_ASSIGN_OR_RETURN(const store::ResultSet rows, transaction.Execute("batch_by_prefix", {prefix}));
  if (rows.empty()) {
    return NotFound(fmt::format("batch_id: no batch has the id {}; `warpsmith batch list` shows the ids", prefix));
  }
  if (rows.size() > 1 && rows[0].Text("id") != prefix) {
    return InvalidArgument(fmt::format("batch_id: more than one id begins with {}; give more of it", prefix));
  }
  return rows[0].Text("id");
}

absl::Status CheckLimits(const v1::BatchLimits& limits, const std::string& message) {
  WARPSMITH_RETURN_IF_ERROR(CheckCount(message + ".priority", limits.priority(), -kMostPriority, kMostPriority));
  WARPSMITH_RETURN_IF_ERROR(CheckCount(message + ".parallel", limits.parallel(), 0, kMostParallel));
  WARPSMITH_RETURN_IF_ERROR(CheckAmount(message + ".max_usd", limits.max_usd()));
  WARPSMITH_RETURN_IF_ERROR(CheckAmount(message + ".max_tokens", static_cast<double>(limits.max_tokens())));
  return CheckAmount(message + ".max_gpu_hours", limits.max_gpu_hours());
}

}  // namespace warpsmith::batch
