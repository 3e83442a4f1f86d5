#include "cli/export_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <ostream>

#include "cli/evaluate_command.h"
#include "cli/evaluation_session.h"
#include "cli/exit_code.h"
#include "cli/export_client.h"
#include "cli/names.h"
#include "cli/problem_file.h"
#include "cli/search_commands.h"
#include "cli/text.h"
#include "cli/transfer/json_lines_file.h"
#include "cli/transfer/kernel_files.h"
#include "cli/transfer/training_rows.h"
#include "common/hash.h"
#include "common/json.h"

namespace warpsmith::cli {
namespace {

constexpr char kBankArchive[] = "kernels.bank";

struct ExportOptions {
  std::string what, format, output, module, family, problem, device_class;
  std::vector<std::string> ids, accepted;
  std::string device = "auto";
  transfer::RowRules rules;
};

std::optional<transfer::KernelFormat> KernelFormatOf(const std::string& name) {
  static const auto& formats =
      *new std::map<std::string, transfer::KernelFormat>{{"kernelbench", transfer::KernelFormat::kKernelBench},
                                                         {"pytorch", transfer::KernelFormat::kPyTorch},
                                                         {"cu", transfer::KernelFormat::kCuda}};
  const auto found = formats.find(name);
  return found == formats.end() ? std::nullopt : std::optional(found->second);
}

transfer::RowFormat RowFormatOf(const std::string& name) {
  static const auto& formats =
      *new std::map<std::string, transfer::RowFormat>{{"sft", transfer::RowFormat::kSft},
                                                      {"preference", transfer::RowFormat::kPreference},
                                                      {"rl", transfer::RowFormat::kRl},
                                                      {"archive", transfer::RowFormat::kArchive}};
  return formats.at(name);
}

v1::ExportSelection SelectionOf(const ExportOptions& options, bool champions) {
  v1::ExportSelection selection;
  selection.set_what(options.what);
  v1::KernelFilter* filter = selection.mutable_filter();
  filter->set_operator_family(options.family);
  filter->set_problem(options.problem);
  filter->set_device_class(options.device_class);
  filter->set_champions_only(champions && options.ids.empty());
  for (const std::string& id : options.ids) filter->add_kernel_ids(id);
  return selection;
}

// What was written, and what was not, for people or as JSON.
int TellFiles(Context& context, const ExportOptions& options, const transfer::KernelFiles& files) {
  const bool results = KernelFormatOf(options.format) == transfer::KernelFormat::kKernelBench;
  int written = 0, failed = 0;
  Json list = Json::array();
  for (const transfer::KernelFiles::Problem& problem : files.problems()) {
    (problem.file.empty() ? failed : written) += 1;
    list.push_back({{"problem", problem.name}, {"file", problem.file}, {"error", problem.error}});
    if (!problem.error.empty() && !context.json) {
      context.err << "warpsmith: " << problem.name << ": " << problem.error << std::endl;
    }
  }
  if (context.json) {
    Json told = {{"folder", options.output}, {"written", written}, {"not_written", failed}, {"problems", list}};
    if (results) told["fast_p"] = files.fast_p().ToJson();
    context.out << told.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
  } else {
    context.out << fmt::format("{} of {} problems in {}\n", written, written + failed, Line(options.output));
    if (results) context.out << files.fast_p().ToText();
    context.out.flush();
  }
  if (written == 0) return kExitNothing;
  return failed == 0 ? kExitOk : kExitFailed;
}

int ExportKernels(Context& context, const ExportOptions& options, transfer::KernelFormat format) {
  auto address = CoordinatorAddress(context);
  if (!address.ok()) return Fail(context, address.status());
  auto files = transfer::KernelFiles::Create(options.output, format);
  if (!files.ok()) return Fail(context, files.status());
  ExportClient client(*address);
  const v1::ExportSelection selection = SelectionOf(options, /*champions=*/true);
  absl::Status status =
      client.Problems(selection, [&](const v1::ExportedProblem& problem) { return files->Add(problem); });
  if (status.ok() && files->problems().empty()) {
    status = NotFound("there is no such kernel; `warpsmith bank list` and `warpsmith batch show` tell what there is");
  }
  if (!status.ok()) return Fail(context, status);
  // The same kernels in our own format: what an import of this folder takes.
  auto archive = client.Best(selection);
  if (!archive.ok()) return Fail(context, archive.status());
  status = files->AddFile(kBankArchive, *archive);
  if (status.ok()) status = files->Finish();
  if (!status.ok()) return Fail(context, status);
  return TellFiles(context, options, *files);
}

// A kernel that no coordinator knows: it is judged here.
absl::StatusOr<v1::ExportedProblem> EvaluatedHere(Context& context, const ExportOptions& options) {
  WARPSMITH_ASSIGN_OR_RETURN(const ProblemFile module, ReadProblemFile(options.module));
  WARPSMITH_ASSIGN_OR_RETURN(const std::string source, ReadKernelFile(options.what));
  if (!context.session) return BuiltWithoutEvaluator();
  EvaluateOptions evaluate;
  evaluate.device = options.device;
  evaluate.baselines = true;
  for (const std::string& name : options.accepted) {
    WARPSMITH_ASSIGN_OR_RETURN(const v1::PrecisionClass accepted, ParsePrecision(name));
    evaluate.accepted.push_back(accepted);
  }
  WARPSMITH_ASSIGN_OR_RETURN(const auto session, context.session(evaluate));
  v1::ExportedProblem exported;
  WARPSMITH_ASSIGN_OR_RETURN(*exported.mutable_problem(), session->TakeIn(module.name, module.source));
  *exported.mutable_evaluation() = session->Evaluate(exported.problem(), source, evaluate.accepted, {});
  if (exported.evaluation().outcome() != v1::OUTCOME_OK) {
    return InvalidArgument(fmt::format("{} is {} for {}: {}", options.what,
                                       OutcomeName(exported.evaluation().outcome()), options.module,
                                       Line(exported.evaluation().message())));
  }
  *exported.mutable_device() = session->device();
  v1::ArchivedKernel* kernel = exported.mutable_kernel();
  kernel->set_source(source);
  kernel->set_source_sha256(Sha256Hex(source));
  kernel->set_device_class(session->device().device_class());
  kernel->set_emulated(session->device().emulated());
  kernel->set_median_ms(exported.evaluation().timing().median_ms());
  return exported;
}

int ExportFile(Context& context, const ExportOptions& options, transfer::KernelFormat format) {
  auto files = transfer::KernelFiles::Create(options.output, format);
  if (!files.ok()) return Fail(context, files.status());
  auto problem = EvaluatedHere(context, options);
  if (!problem.ok()) return Fail(context, problem.status());
  absl::Status status = files->Add(*problem);
  if (status.ok()) status = files->Finish();
  if (!status.ok()) return Fail(context, status);
  return TellFiles(context, options, *files);
}

int ExportRows(Context& context, const ExportOptions& options) {
  auto address = CoordinatorAddress(context);
  if (!address.ok()) return Fail(context, address.status());
  auto prompts = transfer::TrainingPrompts::LoadShipped();
  if (!prompts.ok()) return Fail(context, prompts.status());
  auto file = transfer::JsonLinesFile::Create(options.output);
  if (!file.ok()) return Fail(context, file.status());
  transfer::RowRules rules = options.rules;
  rules.format = RowFormatOf(options.format);
  transfer::TrainingRows rows(rules, *prompts, [&](const Json& row) { return file->Add(row); });
  ExportClient client(*address);
  absl::Status status = client.Candidates(SelectionOf(options, /*champions=*/false),
                                          [&](const v1::ExportRow& row) { return rows.Take(row); });
  if (status.ok()) status = rows.Finish();
  if (status.ok()) status = file->Finish();
  if (!status.ok()) return Fail(context, status);
  if (context.json) {
    context.out << Json({{"file", options.output}, {"rows", rows.rows()}, {"left_out", rows.left_out()}}).dump()
                << std::endl;
  } else {
    context.out << fmt::format("{} rows in {}\n", rows.rows(), Line(options.output));
    for (const auto& [reason, count] : rows.left_out()) context.out << fmt::format("left out, {}: {}\n", reason, count);
    context.out.flush();
  }
  return rows.rows() == 0 ? kExitNothing : kExitOk;
}

int RunExport(Context& context, const ExportOptions& options) {
  const auto format = KernelFormatOf(options.format);
  if (!options.module.empty()) {
    if (format.has_value()) return ExportFile(context, options, *format);
    return Fail(context, InvalidArgument("--module is for kernels; training data is made of a search or a batch"));
  }
  return format.has_value() ? ExportKernels(context, options, *format) : ExportRows(context, options);
}

}  // namespace

void AddExportCommand(CLI::App* app, Context& context, const MakeClientCommand& make, const SetCommandAction& does) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command = make(app, "export", "kernels for KernelBench, PyTorch and nvcc; searches as training data",
                           "warpsmith export 3f2a91c0 --format kernelbench -o runs/mine");
  command
      ->add_option("WHAT", options->what,
                   "a search's or batch's id, or its first 6 characters or more; bank; with --module a .cu file")
      ->required();
  command->add_option("--format", options->format, "kernelbench, pytorch, cu; sft, preference, rl, archive")
      ->required()
      ->check(CLI::IsMember({"kernelbench", "pytorch", "cu", "sft", "preference", "rl", "archive"}));
  command->add_option("-o,--output", options->output, "a folder for kernels; a file of JSON lines for training data")
      ->required()
      ->type_name("PATH");
  command->add_option("--family", options->family, "of the bank: softmax, layer_norm, matmul, conv2d, ...");
  command->add_option("--problem", options->problem, "of the bank: a problem's name or id");
  command->add_option("--device-class", options->device_class, "of the bank: kernels are kept by device");
  command->add_option("--id", options->ids, "of the bank: only these kernels")->delimiter(',')->allow_extra_args(false);
  command->add_option("--module", options->module, "judge the .cu file WHAT for this PyTorch module, here")
      ->type_name("FILE");
  command->add_option("--accept", options->accepted, "with --module: fp32 (default), tf32, bf16")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--device", options->device, "with --module: auto (default), emulated, 0, 1, ...");
  command->add_option("--hold-out", options->rules.split.held_out, "training data: a problem that is never exported")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--validation-share", options->rules.split.validation_share, "of problems; default 0.1")
      ->check(CLI::Range(0.0, 1.0));
  command
      ->add_option("--pair-ratio", options->rules.pair_ratio, "preference: least ratio of a pair's times; default 1.2")
      ->check(CLI::Range(1.2, 1000.0));
  command->add_option("--min-ratio", options->rules.min_ratio, "sft: least ratio to PyTorch eager; default any")
      ->check(CLI::Range(0.0, 1000.0));
  command->add_option("--discount", options->rules.discount, "rl: of the next turn's return; default 0.4")
      ->check(CLI::Range(0.0, 1.0));
  does(command, [&context, options] { return RunExport(context, *options); });
}

}  // namespace warpsmith::cli
