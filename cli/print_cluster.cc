#include "cli/print_cluster.h"

#include <fmt/format.h>

#include "cli/names.h"
#include "cli/text.h"

namespace warpsmith::cli {

std::string StatusText(const v1::ClusterStatus& status, const std::string& address) {
  std::string out = fmt::format("coordinator: {} at {}\nup since {} UTC, schema {}, term {}, {} searches running\n",
                                Line(status.version()), Line(address), FormatInstant(status.started_at_us()),
                                status.schema_version(), status.term(), status.searches_running());
  out += status.gateway_reachable() ? "gateway: reachable\n"
                                    : "gateway: not reachable: " + Line(status.gateway_error()) + "\n";
  Table workers;
  workers.AddColumn("worker");
  workers.AddColumn("state");
  workers.AddColumn("running", Table::kRight);
  workers.AddColumn("seen", Table::kRight);
  workers.AddColumn("device");
  for (const v1::WorkerStatus& worker : status.workers()) {
    workers.AddRow({worker.worker_id(),
                    !worker.connected() ? "gone"
                    : worker.draining() ? "draining"
                                        : "connected",
                    std::to_string(worker.running()), FormatSeconds(worker.last_seen_seconds_ago()) + " ago",
                    worker.device().name() + (worker.device().emulated() ? " (no GPU: for trying things out)" : "")});
  }
  out += '\n' + (workers.empty() ? "no workers: start warpsmith-worker --coordinator " + Line(address) + "\n"
                                 : workers.ToString());
  Table held;
  for (const char* title : {"held by", "task", "search"}) held.AddColumn(title);
  held.AddColumn("for", Table::kRight);
  held.AddColumn("try", Table::kRight);
  for (const v1::WorkerStatus& worker : status.workers()) {
    for (const v1::HeldTask& task : worker.held()) {
      held.AddRow({worker.worker_id(),
                   fmt::format("{} {}", task.kind() == "intake" ? task.kind() : task.stage(), task.task_id()),
                   fmt::format("{} {}", task.search_name(), task.search_id().substr(0, 8)),
                   FormatSeconds(task.seconds()), std::to_string(task.attempts())});
    }
  }
  if (!held.empty()) out += '\n' + held.ToString();
  Table queues;
  queues.AddColumn("tasks");
  for (const char* title : {"waiting", "running", "quarantined", "oldest"}) queues.AddColumn(title, Table::kRight);
  for (const v1::QueueStatus& queue : status.queues()) {
    queues.AddRow({queue.kind(), std::to_string(queue.available()), std::to_string(queue.running()),
                   std::to_string(queue.quarantined()), FormatSeconds(queue.oldest_seconds())});
  }
  if (!queues.empty()) out += '\n' + queues.ToString();
  Table models;
  models.AddColumn("model");
  models.AddColumn("provider");
  models.AddColumn("state");
  for (const v1::ModelDescription& model : status.models()) {
    models.AddRow({model.name(), model.provider(), model.enabled() ? "enabled" : "off: " + Line(model.problem())});
  }
  if (!models.empty()) out += '\n' + models.ToString();
  return out;
}

}  // namespace warpsmith::cli
