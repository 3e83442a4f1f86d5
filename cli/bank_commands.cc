#include "cli/bank_commands.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <ostream>

#include "cli/bank_client.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/message_json.h"
#include "cli/operator_client.h"
#include "cli/print_bank.h"
#include "cli/search_commands.h"
#include "cli/text.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/json.h"

namespace warpsmith::cli {
namespace {

constexpr Duration kVerificationPoll = std::chrono::seconds(1);
constexpr Duration kVerificationTick = std::chrono::milliseconds(100);

// What the commands were given.
struct BankOptions {
  std::string family, problem, device_class, older_than, file, kernel_id;
  std::vector<std::string> ids;
  int limit = 50;
  bool pending = false, source = false, champions = false, wait = false;
};

v1::KernelFilter FilterOf(const BankOptions& options) {
  v1::KernelFilter filter;
  filter.set_operator_family(options.family);
  filter.set_problem(options.problem);
  filter.set_device_class(options.device_class);
  filter.set_older_than_harness(options.older_than);
  filter.set_champions_only(options.champions);
  filter.set_pending(options.pending);
  for (const std::string& id : options.ids) filter.add_kernel_ids(id);
  return filter;
}

template <typename Reply>
int PrintReply(Context& context, const Reply& reply, const std::string& text) {
  context.out << (context.json ? MessageToJson(reply) + "\n" : text);
  context.out.flush();
  return kExitOk;
}

int BankList(Context& context, const BankOptions& options) {
  auto address = CoordinatorAddress(context);
  if (!address.ok()) return Fail(context, address.status());
  if (options.pending) {
    auto reply = BankClient(*address).ListPending(options.limit);
    if (!reply.ok()) return Fail(context, reply.status());
    return PrintReply(context, *reply, PendingText(*reply));
  }
  v1::ListKernelsRequest request;
  request.set_operator_family(options.family);
  request.set_problem(options.problem);
  request.set_device_class(options.device_class);
  request.set_limit(options.limit);
  auto reply = OperatorClient(*address).ListKernels(request);
  if (!reply.ok()) return Fail(context, reply.status());
  return PrintReply(context, *reply, BankText(*reply));
}

int BankShow(Context& context, const BankOptions& options) {
  auto address = CoordinatorAddress(context);
  if (!address.ok()) return Fail(context, address.status());
  auto detail = BankClient(*address).GetKernel(options.kernel_id);
  if (!detail.ok()) return Fail(context, detail.status());
  if (options.source && !context.json) {
    // Byte for byte into a file; made safe for a terminal.
    context.out << (context.out_is_terminal ? Block(detail->source()) : detail->source());
    context.out.flush();
    return kExitOk;
  }
  return PrintReply(context, *detail, KernelText(*detail));
}

int BankExport(Context& context, const BankOptions& options) {
  auto address = CoordinatorAddress(context);
  if (!address.ok()) return Fail(context, address.status());
  auto archive = BankClient(*address).Export(FilterOf(options));
  if (!archive.ok()) return Fail(context, archive.status());
  // A header and an end beside the kernels.
  const auto kernels = std::max<int64_t>(0, std::count(archive->begin(), archive->end(), '\n') - 2);
  if (options.file == "-") {
    context.out << *archive;
    context.out.flush();
    return kExitOk;
  }
  if (absl::Status written = WriteFileAtomically(options.file, *archive); !written.ok()) return Fail(context, written);
  if (context.json) {
    context.out << Json({{"file", options.file}, {"kernels", kernels}, {"bytes", archive->size()}}).dump() << std::endl;
  } else {
    context.out << fmt::format("{} kernels in {}\n", kernels, Line(options.file)) << std::flush;
  }
  return kExitOk;
}

bool AllFinished(const v1::ListVerificationsReply& reply) {
  return std::all_of(reply.verifications().begin(), reply.verifications().end(),
                     [](const v1::Verification& one) { return !one.verdict().empty(); });
}

bool AllGood(const v1::ListVerificationsReply& reply) {
  return std::all_of(reply.verifications().begin(), reply.verifications().end(), [](const v1::Verification& one) {
    return one.verdict() == "confirmed" || one.verdict() == "remeasured" || one.verdict() == "admitted";
  });
}

}  // namespace

int AwaitVerifications(Context& context, BankClient& client, const std::vector<std::string>& search_ids) {
  for (;;) {
    auto reply = client.ListVerifications(search_ids);
    // A coordinator that restarts comes back.
    if (!reply.ok() && reply.status().code() != absl::StatusCode::kUnavailable) return Fail(context, reply.status());
    if (reply.ok() && AllFinished(*reply)) {
      PrintReply(context, *reply, VerificationsText(*reply));
      return AllGood(*reply) ? kExitOk : kExitFailed;
    }
    const TimePoint again = RealClock().Now() + kVerificationPoll;
    while (RealClock().Now() < again) {
      if (Interrupted()) return Fail(context, Cancelled("interrupted; the verifications go on"));
      RealClock().SleepFor(kVerificationTick);
    }
  }
}

namespace {

// What import and verify say of what they queued.
template <typename Reply>
int AfterQueueing(Context& context, BankClient& client, const BankOptions& options, const Reply& reply,
                  const std::string& text) {
  const std::vector<std::string> search_ids(reply.search_ids().begin(), reply.search_ids().end());
  if (!options.wait || search_ids.empty()) return PrintReply(context, reply, text);
  if (!context.json) context.err << text << std::flush;
  return AwaitVerifications(context, client, search_ids);
}

std::string NotesText(const google::protobuf::RepeatedPtrField<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) text += Line(note) + "\n";
  return text;
}

int BankImport(Context& context, const BankOptions& options) {
  auto archive = ReadFile(options.file, kMaxArchiveFile);
  if (!archive.ok()) return Fail(context, InvalidArgument(Message(archive.status())));
  auto address = CoordinatorAddress(context);
  if (!address.ok()) return Fail(context, address.status());
  BankClient client(*address);
  auto reply = client.Import(*archive, options.device_class, UserName());
  if (!reply.ok()) return Fail(context, Annotate(reply.status(), options.file));
  const std::string text =
      fmt::format("{} kernels read: {} are verified before they are admitted, {} were under way, {} were in the bank\n",
                  reply->read(), reply->queued(), reply->already_queued(), reply->already_banked()) +
      NotesText(reply->notes());
  return AfterQueueing(context, client, options, *reply, text);
}

int BankVerify(Context& context, const BankOptions& options) {
  auto address = CoordinatorAddress(context);
  if (!address.ok()) return Fail(context, address.status());
  BankClient client(*address);
  v1::VerifyKernelsRequest request;
  *request.mutable_filter() = FilterOf(options);
  request.set_submitted_by(UserName());
  auto reply = client.VerifyKernels(request);
  if (!reply.ok()) return Fail(context, reply.status());
  if (reply->queued() + reply->already_queued() == 0) {
    return Fail(context, NotFound("the bank has no such kernels; `warpsmith bank list` shows those it has"));
  }
  const std::string text =
      fmt::format("{} kernels will be confirmed again, {} were under way\n", reply->queued(), reply->already_queued()) +
      NotesText(reply->notes());
  return AfterQueueing(context, client, options, *reply, text);
}

void AddFilter(CLI::App* command, BankOptions* options) {
  command->add_option("--family", options->family, "softmax, layer_norm, matmul, conv2d, ...");
  command->add_option("--problem", options->problem, "a problem's name or id");
  command->add_option("--device-class", options->device_class, "kernels are kept by device");
}

}  // namespace

void AddBankCommands(CLI::App* app, Context& context, const MakeClientCommand& make, const SetCommandAction& does) {
  auto options = std::make_shared<BankOptions>();
  CLI::App* bank = app->add_subcommand("bank", "the kernel bank");
  bank->require_subcommand(1);
  bank->footer("Example: warpsmith bank list --family softmax");

  CLI::App* list = make(bank, "list", "kernels, fastest first", "warpsmith bank list --family softmax");
  AddFilter(list, options.get());
  list->add_option("--limit", options->limit, "default 50")->check(CLI::Range(1, 10000));
  list->add_flag("--pending", options->pending, "what is not in the bank or not trusted, and why");
  does(list, [&context, options] { return BankList(context, *options); });

  CLI::App* show = make(bank, "show", "a kernel: its time, where it comes from, its source",
                        "warpsmith bank show c0ffee12 --source > best.cu");
  show->add_option("ID", options->kernel_id, "the kernel's or its candidate's, or the first 6 characters or more")
      ->required();
  show->add_flag("--source", options->source, "only the source");
  does(show, [&context, options] { return BankShow(context, *options); });

  CLI::App* save = make(bank, "export", "kernels with sources and problems, as one archive",
                        "warpsmith bank export softmax.bank --family softmax");
  save->add_option("FILE", options->file, "to write; - for standard output")->required();
  AddFilter(save, options.get());
  save->add_option("--id", options->ids, "only these kernels")->delimiter(',')->allow_extra_args(false);
  save->add_flag("--champions", options->champions, "only the fastest of each problem, device and precision class");
  does(save, [&context, options] { return BankExport(context, *options); });

  CLI::App* load = make(bank, "import", "take an archive in: each kernel is verified here before it is admitted",
                        "warpsmith bank import softmax.bank --wait");
  load->add_option("FILE", options->file, "an archive")->required();
  load->add_option("--device-class", options->device_class,
                   "verify for this class; default the one that each kernel was confirmed on");
  load->add_flag("--wait", options->wait, "until all are verified");
  does(load, [&context, options] { return BankImport(context, *options); });

  CLI::App* verify = make(bank, "verify", "confirm kernels again and report what drifted",
                          "warpsmith bank verify --older-than-harness h3 --wait");
  verify->add_option("ID", options->ids, "kernels, by their own or their candidates' ids; default all");
  AddFilter(verify, options.get());
  verify->add_option("--older-than-harness", options->older_than, "only those that an older revision confirmed last")
      ->type_name("REV");
  verify->add_flag("--champions", options->champions, "only the fastest of each problem, device and precision class");
  verify->add_flag("--pending", options->pending, "also what waits to be admitted");
  verify->add_flag("--wait", options->wait, "until all are verified; exit status 1 where any was not confirmed");
  does(verify, [&context, options] { return BankVerify(context, *options); });
}

}  // namespace warpsmith::cli
