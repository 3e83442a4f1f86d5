#include "cli/print_queue.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/text.h"

namespace warpsmith::cli {
namespace {

constexpr double kLongTransactionSeconds = 60;
constexpr size_t kLongestLog = 1200;  // of a task, in a list

std::string FormatBytes(int64_t bytes) {
  const double value = static_cast<double>(std::max<int64_t>(0, bytes));
  if (value >= 1073741824.0) return fmt::format("{:.1f} GiB", value / 1073741824.0);
  if (value >= 1048576.0) return fmt::format("{:.1f} MiB", value / 1048576.0);
  return fmt::format("{:.0f} KiB", value / 1024.0);
}

std::string DatabaseText(const v1::DatabaseHealth& health) {
  std::string out = "database: " + FormatBytes(health.database_bytes());
  if (health.max_database_bytes() > 0) out += fmt::format(" of {} at most", FormatBytes(health.max_database_bytes()));
  if (health.free_bytes() >= 0) {
    out += fmt::format("; {} free on the disk of {}", FormatBytes(health.free_bytes()), Line(health.disk_path()));
  } else {
    out += "; free space not known (its disk is not on the coordinator's machine, or --database-disk is not given)";
  }
  out += '\n';
  if (health.held()) {
    out += Wrap(fmt::format("HELD since {} UTC: new searches and calls to models wait: {}",
                            FormatInstant(health.held_since_us()), Line(health.held_reason())),
                kPageWidth, "  ") +
           '\n';
  }
  if (health.oldest_transaction_seconds() > kLongTransactionSeconds) {
    out += Wrap(fmt::format("a transaction of {} has been open for {}: dead rows pile up until it ends",
                            Line(health.oldest_transaction_of()), FormatSeconds(health.oldest_transaction_seconds())),
                kPageWidth, "  ") +
           '\n';
  }
  Table tables;
  tables.AddColumn("table");
  for (const char* title : {"size", "rows", "dead"}) tables.AddColumn(title, Table::kRight);
  for (const v1::TableHealth& table : health.tables()) {
    tables.AddRow(
        {table.name(), FormatBytes(table.bytes()), FormatCount(table.live_rows()), FormatCount(table.dead_rows())});
  }
  if (!tables.empty()) out += '\n' + tables.ToString();
  Table retention;
  retention.AddColumn("retention");
  retention.AddColumn("days", Table::kRight);
  retention.AddColumn("removed", Table::kRight);
  for (const v1::RetentionStatus& status : health.retention()) {
    retention.AddRow({status.what(), status.keep_days() > 0 ? fmt::format("{:g}", status.keep_days()) : "for ever",
                      FormatCount(status.removed())});
  }
  if (!retention.empty()) out += '\n' + retention.ToString();
  if (!health.retention_error().empty()) out += "retention failed: " + Line(health.retention_error()) + '\n';
  return out;
}

}  // namespace

std::string QueueStatusText(const v1::ClusterStatus& status, const v1::DatabaseHealth& health) {
  Table queues;
  queues.AddColumn("tasks");
  for (const char* title : {"waiting", "running", "quarantined", "oldest"}) queues.AddColumn(title, Table::kRight);
  int quarantined = 0;
  for (const v1::QueueStatus& queue : status.queues()) {
    quarantined += queue.quarantined();
    queues.AddRow({queue.kind(), std::to_string(queue.available()), std::to_string(queue.running()),
                   std::to_string(queue.quarantined()),
                   queue.available() > 0 ? FormatSeconds(queue.oldest_seconds()) : "-"});
  }
  std::string out = queues.empty() ? "no tasks wait\n" : queues.ToString();
  if (quarantined > 0) out += "why: warpsmith queue quarantine list\n";
  return out + '\n' + DatabaseText(health);
}

std::string QuarantineText(const v1::ListQuarantinedReply& reply) {
  if (reply.tasks().empty()) return "nothing is quarantined\n";
  std::string out;
  for (const v1::QuarantinedTask& task : reply.tasks()) {
    out += fmt::format("task {}: {}{} of search {} ({}, {})", task.task_id(), Line(task.kind()),
                       task.stage().empty() ? "" : " " + Line(task.stage()), ShortId(task.search_id()),
                       Line(task.search_name()), Line(task.search_state()));
    if (!task.candidate_id().empty()) out += ", kernel " + ShortId(task.candidate_id());
    out += fmt::format("\n  given up {} UTC after {} tries, {} failures, {} worker deaths",
                       FormatInstant(task.quarantined_at_us()), task.attempts(), task.failures(), task.worker_deaths());
    std::string killed;
    for (const std::string& worker : task.killed_workers()) killed += (killed.empty() ? "" : ", ") + Line(worker);
    if (!killed.empty()) out += " (" + killed + ")";
    out += '\n';
    const std::string log = task.log().empty() ? task.last_error() : task.log();
    const size_t skip = log.size() > kLongestLog ? log.size() - kLongestLog : 0;
    out += Indent((skip > 0 ? "…" : "") + log.substr(skip), "    ") + '\n';
  }
  if (reply.total() > reply.tasks_size()) {
    out += fmt::format("{} of {}; --limit shows more\n", reply.tasks_size(), reply.total());
  }
  return out + "try again: warpsmith queue quarantine retry ID..., or --all\n";
}

std::string RetryText(const v1::RetryQuarantinedReply& reply) {
  std::string out;
  for (const int64_t id : reply.retried()) out += fmt::format("task {}: in the queue again\n", id);
  for (const v1::RetryQuarantinedReply::Skipped& skipped : reply.skipped()) {
    out += fmt::format("task {}: not tried again: {}\n", skipped.task_id(), Line(skipped.reason()));
  }
  return out.empty() ? "nothing is quarantined\n" : out;
}

std::string DrainText(const v1::DrainWorkerReply& reply) {
  const std::string where = reply.connected() ? "" : " (not connected)";
  if (!reply.draining()) return fmt::format("{}{}: takes tasks again\n", Line(reply.worker_id()), where);
  return fmt::format("{}{}: takes no new tasks; {}\n", Line(reply.worker_id()), where,
                     reply.running() > 0 ? fmt::format("{} still run", reply.running()) : "nothing runs");
}

}  // namespace warpsmith::cli
