#include "cli/import_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <ostream>
#include <set>

#include "cli/bank_client.h"
#include "cli/bank_commands.h"
#include "cli/exit_code.h"
#include "cli/export_client.h"
#include "cli/import_python.h"
#include "cli/message_json.h"
#include "cli/names.h"
#include "cli/operator_client.h"
#include "cli/problem_file.h"
#include "cli/search_commands.h"
#include "cli/text.h"
#include "common/file.h"

namespace warpsmith::cli {
namespace {

struct ImportOptions {
  std::string path, module, device_class, title, output;
  std::string device = "auto";
  std::vector<std::string> accepted;
  bool frozen_weights = false, wait = false;
  v1::IntakeSettings intake;
};

bool EndsIn(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// The class of the one kind of worker that is connected.
absl::StatusOr<std::string> OnlyDeviceClass(const std::string& address) {
  WARPSMITH_ASSIGN_OR_RETURN(const v1::ClusterStatus status, OperatorClient(address).GetStatus());
  std::set<std::string> classes;
  for (const v1::WorkerStatus& worker : status.workers()) {
    if (worker.connected()) classes.insert(worker.device().device_class());
  }
  if (classes.size() == 1) return *classes.begin();
  if (classes.empty()) return FailedPrecondition("no worker is connected that could verify it; name a --device-class");
  return InvalidArgument(fmt::format("workers of several classes are connected: choose one with --device-class ({})",
                                     fmt::join(classes, "; ")));
}

int TellImport(Context& context, BankClient& client, const ImportOptions& options,
               const v1::ImportKernelsReply& reply) {
  std::string text =
      fmt::format("{} kernels read: {} are verified before they are admitted, {} were under way, {} were in the bank\n",
                  reply.read(), reply.queued(), reply.already_queued(), reply.already_banked());
  for (const std::string& note : reply.notes()) text += Line(note) + "\n";
  if (!options.wait || reply.search_ids().empty()) {
    context.out << (context.json ? MessageToJson(reply) + "\n" : text) << std::flush;
    return kExitOk;
  }
  if (!context.json) context.err << text << std::flush;
  return AwaitVerifications(context, client, {reply.search_ids().begin(), reply.search_ids().end()});
}

int ImportArchive(Context& context, const std::string& address, const ImportOptions& options, const std::string& path) {
  auto archive = ReadFile(path, kMaxArchiveFile);
  if (!archive.ok()) return Fail(context, InvalidArgument(Message(archive.status())));
  BankClient client(address);
  auto reply = client.Import(*archive, options.device_class, UserName());
  if (!reply.ok()) return Fail(context, Annotate(reply.status(), path));
  return TellImport(context, client, options, *reply);
}

int ImportKernelFile(Context& context, const std::string& address, const ImportOptions& options) {
  if (options.module.empty()) {
    return Fail(context, InvalidArgument(fmt::format("{}: a .cu file needs the PyTorch module that it is for: --module "
                                                     "PROBLEM.py",
                                                     options.path)));
  }
  auto module = ReadProblemFile(options.module);
  if (!module.ok()) return Fail(context, module.status());
  auto source = ReadKernelFile(options.path);
  if (!source.ok()) return Fail(context, source.status());
  auto device_class =
      options.device_class.empty() ? OnlyDeviceClass(address) : absl::StatusOr<std::string>(options.device_class);
  if (!device_class.ok()) return Fail(context, device_class.status());
  v1::ImportKernelRequest request;
  request.mutable_problem()->set_name(module->name);
  request.mutable_problem()->set_source(module->source);
  *request.mutable_intake() = options.intake;
  request.set_source(*source);
  request.set_title(options.title.empty() ? std::filesystem::path(options.path).filename().string() : options.title);
  request.set_device_class(*device_class);
  for (const std::string& name : options.accepted) {
    auto accepted = ParsePrecision(name);
    if (!accepted.ok()) return Fail(context, accepted.status());
    request.add_accepted(*accepted);
  }
  request.set_frozen_weights(options.frozen_weights);
  request.set_submitted_by(UserName());
  auto reply = ExportClient(address).ImportKernel(request);
  if (!reply.ok()) return Fail(context, Annotate(reply.status(), options.path));
  BankClient client(address);
  return TellImport(context, client, options, *reply);
}

int ImportHostCode(Context& context, const ImportOptions& options) {
  PythonImportOptions python;
  python.path = options.path;
  python.module = options.module;
  python.output = options.output;
  python.settings.device = options.device;
  python.settings.intake = options.intake;
  python.settings.frozen_weights = options.frozen_weights;
  for (const std::string& name : options.accepted) {
    auto accepted = ParsePrecision(name);
    if (!accepted.ok()) return Fail(context, accepted.status());
    python.settings.accepted.push_back(*accepted);
  }
  return ImportPython(context, python);
}

int RunImport(Context& context, const ImportOptions& options) {
  std::error_code error;
  std::filesystem::path path = options.path;
  if (std::filesystem::is_directory(path, error)) {
    path /= "kernels.bank";
    // With a module it is a folder of Python candidates, whatever else lies there.
    if (!options.module.empty()) return ImportHostCode(context, options);
    if (!std::filesystem::is_regular_file(path, error)) {
      return Fail(context, InvalidArgument(fmt::format(
                               "{}: there is no kernels.bank in it, so no export wrote it; for a folder of files with "
                               "ModelNew name the problems too: --module KERNELBENCH_FOLDER",
                               options.path)));
    }
  }
  if (EndsIn(options.path, ".py")) return ImportHostCode(context, options);
  auto address = CoordinatorAddress(context);
  if (!address.ok()) return Fail(context, address.status());
  if (EndsIn(options.path, ".cu")) return ImportKernelFile(context, *address, options);
  return ImportArchive(context, *address, options, path.string());
}

}  // namespace

void AddImportCommand(CLI::App* app, Context& context, const MakeClientCommand& make, const SetCommandAction& does) {
  auto options = std::make_shared<ImportOptions>();
  CLI::App* command = make(app, "import",
                           "kernels into the bank: each is verified here before it is admitted; Python "
                           "candidates are judged and timed, and not admitted",
                           "warpsmith import mine.cu --module softmax.py --wait");
  command
      ->add_option("PATH", options->path,
                   "an archive, a folder that an export wrote, a .cu file, or a .py file with "
                   "ModelNew (or a folder of such)")
      ->required();
  command
      ->add_option("--module", options->module,
                   "of a .cu or .py file: the PyTorch module that it is for; of a folder of .py "
                   "files: KernelBench's folder")
      ->type_name("FILE");
  command->add_option("--device-class", options->device_class,
                      "verify for this class; default the archive's, or the one that is connected");
  command->add_option("--title", options->title, "of a .cu file; default its name");
  command->add_option("--accept", options->accepted, "of a .cu or .py file: fp32 (default), tf32, bf16")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_flag("--frozen-weights", options->frozen_weights, "of a .cu or .py file: it may pack weights once");
  command->add_flag_callback(
      "--eval-mode", [options] { options->intake.set_eval_mode(true); }, "as submit has it");
  command->add_flag_callback(
      "--require-mutations", [options] { options->intake.set_require_mutations(true); }, "as submit has it");
  command->add_option_function<double>(
      "--tolerance", [options](double value) { options->intake.set_tolerance(value); }, "as submit has it");
  command->add_option("--device", options->device, "of .py files: auto (default), cpu, 0, 1, ...");
  command->add_option("-o,--output", options->output, "of .py files: rows as JSON lines, to this file")
      ->type_name("FILE");
  command->add_flag("--wait", options->wait, "until all are verified; exit status 1 where any was not confirmed");
  does(command, [&context, options] { return RunImport(context, *options); });
}

}  // namespace warpsmith::cli
