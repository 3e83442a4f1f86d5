#include "cli/queue_commands.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <ostream>
#include <vector>

#include "cli/administration_client.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/message_json.h"
#include "cli/operator_client.h"
#include "cli/print_queue.h"
#include "cli/search_commands.h"
#include "cli/text.h"

namespace warpsmith::cli {
namespace {

struct QueueOptions {
  std::string search_id;
  int limit = 0;
  std::vector<int64_t> task_ids;
  bool all = false;
  std::string worker_id;
  bool wait = false;
};

template <typename Reply>
int Answer(Context& context, const absl::StatusOr<Reply>& reply, const std::function<std::string(const Reply&)>& text) {
  if (!reply.ok()) return Fail(context, reply.status());
  context.out << (context.json ? MessageToJson(*reply) + "\n" : text(*reply)) << std::flush;
  return kExitOk;
}

int RunQueueStatus(Context& context) {
  auto address = CoordinatorAddress(context);
  if (!address.ok()) return Fail(context, address.status());
  auto status = OperatorClient(*address).GetStatus();
  if (!status.ok()) return Fail(context, status.status());
  auto health = AdministrationClient(*address).GetDatabaseHealth();
  if (!health.ok()) return Fail(context, health.status());
  if (context.json) {
    std::string queues;
    for (const v1::QueueStatus& queue : status->queues()) {
      queues += (queues.empty() ? "" : ", ") + MessageToJson(queue, true);
    }
    context.out << "{\"queues\": [" << queues << "],\n\"database\": " << MessageToJson(*health) << "}" << std::endl;
    return kExitOk;
  }
  context.out << QueueStatusText(*status, *health) << std::flush;
  return kExitOk;
}

int RunQuarantineList(Context& context, const QueueOptions& options) {
  auto address = CoordinatorAddress(context);
  if (!address.ok()) return Fail(context, address.status());
  v1::ListQuarantinedRequest request;
  request.set_limit(options.limit);
  request.set_search_id(options.search_id);
  return Answer<v1::ListQuarantinedReply>(context, AdministrationClient(*address).ListQuarantined(request),
                                          QuarantineText);
}

int RunQuarantineRetry(Context& context, const QueueOptions& options) {
  if (options.all == !options.task_ids.empty()) {
    return Fail(context, InvalidArgument("name the tasks by their numbers, or give --all; `warpsmith queue quarantine "
                                         "list` shows them"));
  }
  auto address = CoordinatorAddress(context);
  if (!address.ok()) return Fail(context, address.status());
  v1::RetryQuarantinedRequest request;
  request.mutable_task_ids()->Add(options.task_ids.begin(), options.task_ids.end());
  request.set_all(options.all);
  request.set_submitted_by(UserName());
  auto reply = AdministrationClient(*address).RetryQuarantined(request);
  const int code = Answer<v1::RetryQuarantinedReply>(context, reply, RetryText);
  if (code != kExitOk) return code;
  // A task that was named and cannot be tried again is a failure; with --all what can be is.
  return !options.all && !reply->skipped().empty() ? kExitFailed : kExitOk;
}

int RunDrain(Context& context, const QueueOptions& options, bool drain) {
  auto address = CoordinatorAddress(context);
  if (!address.ok()) return Fail(context, address.status());
  AdministrationClient client(*address);
  auto reply = drain ? client.DrainWorker(options.worker_id) : client.UndrainWorker(options.worker_id);
  if (!reply.ok()) return Fail(context, reply.status());
  while (options.wait && reply->running() > 0) {
    if (Interrupted()) return Fail(context, Cancelled("interrupted; the worker stays drained"));
    RealClock().SleepFor(std::chrono::milliseconds(200));
    auto status = OperatorClient(*address).GetStatus();
    if (!status.ok()) return Fail(context, status.status());
    reply->set_running(0);
    for (const v1::WorkerStatus& worker : status->workers()) {
      if (worker.worker_id() != reply->worker_id()) continue;
      reply->set_running(worker.running());
      reply->set_connected(worker.connected());
    }
  }
  return Answer<v1::DrainWorkerReply>(context, reply, DrainText);
}

}  // namespace

void AddQueueCommands(CLI::App* app, Context& context, const MakeClientCommand& make, const SetCommandAction& does) {
  const auto options = std::make_shared<QueueOptions>();
  CLI::App* queue = app->add_subcommand("queue", "the queue, its quarantine and the database's room");
  queue->require_subcommand(1);
  queue->footer("Example: warpsmith queue status");
  does(make(queue, "status", "tasks by kind, the database, whether new work is held", "warpsmith queue status"),
       [&context] { return RunQueueStatus(context); });

  CLI::App* quarantine = queue->add_subcommand("quarantine", "tasks that were given up");
  quarantine->require_subcommand(1);
  quarantine->footer("Example: warpsmith queue quarantine list");
  CLI::App* list = make(quarantine, "list", "what was given up, when and why, the latest first",
                        "warpsmith queue quarantine list --search 3f2a91c0");
  list->add_option("--search", options->search_id, "id, or its first 6 characters or more; default all");
  list->add_option("--limit", options->limit, "default 50")->check(CLI::Range(1, 1000));
  does(list, [&context, options] { return RunQuarantineList(context, *options); });
  CLI::App* retry = make(quarantine, "retry", "put tasks back into the queue with a clean slate",
                         "warpsmith queue quarantine retry 1287 1290");
  retry->add_option("ID", options->task_ids, "numbers of tasks");
  retry->add_flag("--all", options->all, "every task that its search can still use");
  does(retry, [&context, options] { return RunQuarantineRetry(context, *options); });

  CLI::App* worker = app->add_subcommand("worker", "take a worker out of service, and back");
  worker->require_subcommand(1);
  worker->footer("Example: warpsmith worker drain gpu-node-3 --wait");
  CLI::App* drain = make(worker, "drain", "no new tasks; what it runs ends. Stays so until undrain",
                         "warpsmith worker drain gpu-node-3 --wait");
  drain->add_option("WORKER", options->worker_id, "its name, as `warpsmith status` shows it")->required();
  drain->add_flag("--wait", options->wait, "until it holds no task");
  does(drain, [&context, options] { return RunDrain(context, *options, true); });
  CLI::App* undrain = make(worker, "undrain", "give it tasks again", "warpsmith worker undrain gpu-node-3");
  undrain->add_option("WORKER", options->worker_id, "its name, as `warpsmith status` shows it")->required();
  does(undrain, [&context, options] {
    options->wait = false;
    return RunDrain(context, *options, false);
  });
}

}  // namespace warpsmith::cli
