#include "cli/batch_commands.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <ostream>

#include "cli/batch_client.h"
#include "cli/batch_submission.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/message_json.h"
#include "cli/print_batch.h"
#include "cli/search_options.h"
#include "cli/text.h"
#include "common/hash.h"

namespace warpsmith::cli {
namespace {

struct BatchCommandOptions {
  BatchOptions batch;
  std::string batch_id;
  std::string owner;
  int limit = 0;
  bool follow = false;
};

absl::StatusOr<std::unique_ptr<BatchClient>> ConnectBatches(const Context& context) {
  WARPSMITH_ASSIGN_OR_RETURN(const std::string address, CoordinatorAddress(context));
  return std::make_unique<BatchClient>(address);
}

// The batch that is meant: the latest where none is named.
absl::StatusOr<std::string> BatchId(BatchClient& client, const std::string& given) {
  if (!given.empty()) return given;
  v1::ListBatchesRequest request;
  request.set_limit(1);
  WARPSMITH_ASSIGN_OR_RETURN(const v1::ListBatchesReply reply, client.List(request));
  if (reply.batches().empty())
    return NotFound("there are no batches yet; start one with `warpsmith batch submit PATH`");
  return reply.batches(0).id();
}

template <typename Reply>
int PrintBatchReply(Context& context, const absl::StatusOr<Reply>& reply,
                    const std::function<std::string(const Reply&)>& text) {
  if (!reply.ok()) return Fail(context, reply.status());
  context.out << (context.json ? MessageToJson(*reply) + "\n" : text(*reply)) << std::flush;
  return kExitOk;
}

int WatchToEnd(Context& context, BatchClient& client, const std::string& id) {
  std::string last;
  auto batch = client.Watch(
      id,
      [&](const v1::Batch& now) {
        if (context.json) {
          context.out << MessageToJson(now, true) << std::endl;
        } else if (context.err_is_terminal) {
          context.err << "\033[H\033[2J" << BatchText(now) << std::flush;
        } else if (std::string line = BatchLine(now); line != last) {
          context.err << line << std::endl;
          last = std::move(line);
        }
      },
      [] { return Interrupted() ? Cancelled("interrupted; the batch goes on") : absl::OkStatus(); });
  if (!batch.ok()) return Fail(context, batch.status());
  if (!context.json) context.out << BatchText(*batch) << std::flush;
  if (batch->state() != "done") return kExitFailed;
  return batch->totals().solved() > 0 ? kExitOk : kExitNothing;
}

int RunBatchSubmit(Context& context, const BatchCommandOptions& options) {
  auto submission = ReadSubmission(options.batch);
  if (!submission.ok()) return Fail(context, submission.status());
  for (const std::string& bad : submission->skipped) context.err << "left out: " << Line(bad) << std::endl;
  auto client = ConnectBatches(context);
  if (!client.ok()) return Fail(context, client.status());
  const auto parts = SplitProblems(submission->problems);
  v1::SubmitBatchRequest request;
  request.set_name(submission->name);
  const std::string& request_id = options.batch.search.request_id;
  request.set_request_id(request_id.empty() ? RandomHex(16) : request_id);
  request.set_submitted_by(UserName());
  request.set_owner(submission->owner);
  *request.mutable_limits() = submission->limits;
  request.set_more(parts.size() > 1);
  for (const NamedProblem* problem : parts[0]) *request.add_problems() = problem->source;
  auto batch = (*client)->Submit(request);
  for (size_t i = 1; batch.ok() && i < parts.size(); ++i) {
    v1::AddProblemsRequest more;
    more.set_batch_id(batch->id());
    more.set_more(i + 1 < parts.size());
    for (const NamedProblem* problem : parts[i]) *more.add_problems() = problem->source;
    batch = (*client)->Add(more);
  }
  if (!batch.ok()) {
    return Fail(context, Annotate(batch.status(),
                                  fmt::format("the same command with --request-id {} goes on", request.request_id())));
  }
  if (options.follow) return WatchToEnd(context, **client, batch->id());
  return PrintBatchReply<v1::Batch>(context, batch, [&](const v1::Batch& reply) {
    return fmt::format("{}: batch {}, {} problems; follow it with `warpsmith batch watch {}`\n", Line(reply.name()),
                       Line(reply.id()), reply.problems_size(), ShortId(reply.id()));
  });
}

int RunBatchAdd(Context& context, const BatchCommandOptions& options) {
  auto submission = ReadSubmission(options.batch);
  if (!submission.ok()) return Fail(context, submission.status());
  for (const std::string& bad : submission->skipped) context.err << "left out: " << Line(bad) << std::endl;
  auto client = ConnectBatches(context);
  if (!client.ok()) return Fail(context, client.status());
  absl::StatusOr<v1::Batch> batch = NotFound("");
  for (const auto& part : SplitProblems(submission->problems)) {
    v1::AddProblemsRequest request;
    request.set_batch_id(options.batch_id);
    for (const NamedProblem* problem : part) *request.add_problems() = problem->source;
    batch = (*client)->Add(request);
    if (!batch.ok()) break;
  }
  return PrintBatchReply<v1::Batch>(context, batch, [](const v1::Batch& reply) { return BatchLine(reply) + "\n"; });
}

int RunBatchList(Context& context, const BatchCommandOptions& options) {
  auto client = ConnectBatches(context);
  if (!client.ok()) return Fail(context, client.status());
  v1::ListBatchesRequest request;
  request.set_limit(options.limit);
  request.set_owner(options.owner);
  return PrintBatchReply<v1::ListBatchesReply>(context, (*client)->List(request), BatchesText);
}

int RunOnBatch(Context& context, const std::string& given,
               absl::StatusOr<v1::Batch> (BatchClient::*call)(const std::string&), bool table) {
  auto client = ConnectBatches(context);
  if (!client.ok()) return Fail(context, client.status());
  auto id = BatchId(**client, given);
  if (!id.ok()) return Fail(context, id.status());
  return PrintBatchReply<v1::Batch>(context, ((**client).*call)(*id), [table](const v1::Batch& batch) {
    return table ? BatchText(batch) : fmt::format("{}: {}\n", Line(batch.name()), BatchLine(batch));
  });
}

int RunBatchWatch(Context& context, const BatchCommandOptions& options) {
  auto client = ConnectBatches(context);
  if (!client.ok()) return Fail(context, client.status());
  auto id = BatchId(**client, options.batch_id);
  if (!id.ok()) return Fail(context, id.status());
  return WatchToEnd(context, **client, *id);
}

int RunBatchRetry(Context& context, const BatchCommandOptions& options) {
  auto client = ConnectBatches(context);
  if (!client.ok()) return Fail(context, client.status());
  return PrintBatchReply<v1::RetryFailedReply>(
      context, (*client)->RetryFailed(options.batch_id), [](const v1::RetryFailedReply& reply) {
        if (reply.retried() == 0) {
          return std::string(
              "nothing to try again: no problem failed, was stopped by a budget that has room now, or has tasks in "
              "quarantine\n");
        }
        return fmt::format("{} problems are tried again\n", reply.retried());
      });
}

int RunBatchSet(Context& context, const BatchCommandOptions& options) {
  const BatchOptions& given = options.batch;
  v1::SetBatchRequest request;
  request.set_batch_id(options.batch_id);
  if (given.priority) request.set_priority(*given.priority);
  if (given.parallel) request.set_parallel(*given.parallel);
  if (given.max_usd) request.set_max_usd(*given.max_usd);
  if (given.max_tokens) request.set_max_tokens(*given.max_tokens);
  if (given.max_gpu_hours) request.set_max_gpu_hours(*given.max_gpu_hours);
  if (!given.owner.empty()) request.set_owner(given.owner);
  auto client = ConnectBatches(context);
  if (!client.ok()) return Fail(context, client.status());
  return PrintBatchReply<v1::Batch>(context, (*client)->Set(request), BatchText);
}

void AddLimitOptions(CLI::App* command, BatchOptions* batch) {
  command->add_option("--owner", batch->owner, "whose quota it counts against; default you");
  command->add_option("--priority", batch->priority, "from -100 to 100, larger first; default 0")
      ->check(Quiet(CLI::Range(-100, 100)));
  command->add_option("--parallel", batch->parallel, "problems searched at once; default 8, 0: as many as there are")
      ->check(Quiet(CLI::Range(0, 100'000)));
  command->add_option("--max-usd", batch->max_usd, "spend on models for the whole batch; 0: no limit")
      ->check(Quiet(CLI::Range(0.0, 1e9)));
  command->add_option("--max-tokens", batch->max_tokens, "in and out, for the whole batch; 0: no limit")
      ->check(Quiet(CLI::Range(int64_t{0}, INT64_MAX)));
  command->add_option("--max-gpu-hours", batch->max_gpu_hours, "for the whole batch; 0: no limit")
      ->check(Quiet(CLI::Range(0.0, 1e9)));
}

void AddProblemOptions(CLI::App* command, BatchOptions* batch) {
  command
      ->add_option("PATH", batch->paths,
                   "a level of KernelBench, the folder above, .py files, a list of paths (.txt), or a manifest "
                   "(.yaml, .json)")
      ->required();
  command->add_flag("--skip-bad", batch->skip_bad, "go on without files that cannot be searched");
  AddSearchOptions(command, &batch->search);
  // Limits of single searches are a manifest's; here they are the batch's.
  for (const char* name : {"--max-usd", "--max-tokens", "--max-gpu-hours"}) {
    command->remove_option(command->get_option(name));
  }
}

}  // namespace

void AddBatchCommands(CLI::App* app, Context& context, const MakeClientCommand& make, const SetCommandAction& does) {
  const auto options = std::make_shared<BatchCommandOptions>();
  CLI::App* batch = app->add_subcommand("batch", "many problems that share GPUs and budget");
  batch->require_subcommand(1);
  batch->footer("Example: warpsmith batch submit KernelBench/level1 --max-usd 200");
  const auto add = [&](const char* name, const char* what, const char* example, std::function<int()> action) {
    CLI::App* command = make(batch, name, what, example);
    does(command, std::move(action));
    return command;
  };
  const auto add_on_batch = [&](const char* name, const char* what, const char* example, bool required,
                                std::function<int()> action) {
    CLI::App* command = add(name, what, example, std::move(action));
    command
        ->add_option(
            "BATCH", options->batch_id,
            required ? "id, or its first 6 characters or more" : "id, or its first characters; default the latest")
        ->required(required);
    return command;
  };

  CLI::App* submit = add("submit", "search many problems, and return at once",
                         "warpsmith batch submit KernelBench/level1 --max-usd 200 --parallel 16",
                         [options, &context] { return RunBatchSubmit(context, *options); });
  AddProblemOptions(submit, &options->batch);
  AddLimitOptions(submit, &options->batch);
  submit->add_option("--name", options->batch.name, "default the manifest's, or the first path's");
  submit->add_flag("--watch", options->follow, "follow it until it ends");

  CLI::App* list = add("list", "batches, the latest first", "warpsmith batch list --owner ada",
                       [options, &context] { return RunBatchList(context, *options); });
  list->add_option("--owner", options->owner, "only theirs");
  list->add_option("--limit", options->limit, "default 50")->check(Quiet(CLI::Range(1, 500)));

  add_on_batch("show", "its problems, what they cost, fast_p", "warpsmith batch show 3f2a91c0", false,
               [options, &context] { return RunOnBatch(context, options->batch_id, &BatchClient::Get, true); });
  add_on_batch("watch", "the same, live, until it ends", "warpsmith batch watch 3f2a91c0", false,
               [options, &context] { return RunBatchWatch(context, *options); });
  add_on_batch("pause", "begin nothing new; what runs is brought to its end", "warpsmith batch pause 3f2a91c0", true,
               [options, &context] { return RunOnBatch(context, options->batch_id, &BatchClient::Pause, false); });
  add_on_batch("resume", "go on after a pause", "warpsmith batch resume 3f2a91c0", true,
               [options, &context] { return RunOnBatch(context, options->batch_id, &BatchClient::Resume, false); });
  add_on_batch("cancel", "end all its searches; what they found stays", "warpsmith batch cancel 3f2a91c0", true,
               [options, &context] { return RunOnBatch(context, options->batch_id, &BatchClient::Cancel, false); });
  add_on_batch("retry", "try its failed and stopped problems again", "warpsmith batch retry 3f2a91c0", true,
               [options, &context] { return RunBatchRetry(context, *options); });
  CLI::App* more = add_on_batch("add", "add problems to it", "warpsmith batch add 3f2a91c0 KernelBench/level2", true,
                                [options, &context] { return RunBatchAdd(context, *options); });
  AddProblemOptions(more, &options->batch);
  more->remove_option(more->get_option("--request-id"));
  CLI::App* set = add_on_batch("set", "change its limits, priority or owner",
                               "warpsmith batch set 3f2a91c0 --priority 10 --max-usd 300", true,
                               [options, &context] { return RunBatchSet(context, *options); });
  AddLimitOptions(set, &options->batch);
}

}  // namespace warpsmith::cli
