#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <memory>
#include <ostream>

#include "cli/bank_commands.h"
#include "cli/batch_commands.h"
#include "cli/batch_evaluation.h"
#include "cli/cluster_commands.h"
#include "cli/doctor.h"
#include "cli/evaluate_command.h"
#include "cli/exit_code.h"
#include "cli/export_command.h"
#include "cli/gateway_commands.h"
#include "cli/import_command.h"
#include "cli/names.h"
#include "cli/queue_commands.h"
#include "cli/report/report_command.h"
#include "cli/search_commands.h"
#include "cli/search_options.h"
#include "cli/security_commands.h"
#include "cli/simulate_command.h"
#include "cli/text.h"
#include "common/json.h"
#include "common/version.h"

namespace warpsmith::cli {
namespace {

constexpr char kFooter[] =
    "Exit status: 0 done; 1 failed; 2 wrong arguments; 3 nothing found, or no valid kernel;\n"
    "4 no coordinator answers; 130 interrupted.\n"
    "The coordinator is found by --coordinator, else WARPSMITH_COORDINATOR, else in the data directory.\n"
    "--json prints the answer as JSON: messages of proto/warpsmith/v1 with their field names; `watch` prints\n"
    "one event a line. Errors then are one JSON line on standard error.\n"
    "Example: warpsmith run tests/problems/layer_norm.py --rounds 3";

// The commands, each with its options and what it does. One object a program run.
class CommandLine {
 public:
  explicit CommandLine(Context& context) : context_(context), app_("warpsmith: searches for fast CUDA kernels") {
    context_.security = SecurityFromEnvironment();
    app_.name("warpsmith");
    app_.footer(kFooter);
    app_.require_subcommand(1);
    app_.set_version_flag("--version", std::string("warpsmith ") + kVersion);
    app_.get_formatter()->column_width(34);
    AddRun();
    AddSubmit();
    AddSearchCommands();
    AddShow();
    AddBank();
    AddInject();
    AddClusterCommands();
    AddBatchCommands(&app_, context_, Maker(), Doer());
    AddQueueCommands(&app_, context_, Maker(), Doer());
    AddReportCommand(&app_, context_, Maker(), Doer());
    AddTransferCommands();
    AddGatewayCommands();
    AddSimulate();
    AddEvaluate();
    AddMachineCommands();
    AddSecurityCommands(&app_, context_, Maker(), Doer());
    AddConnectionSecurity(&app_, context_);
  }

  int Run(std::vector<std::string> arguments) {
    const std::vector<const CLI::App*> commands = Commands();
    if (!arguments.empty() && arguments[0].rfind('-', 0) != 0 &&
        std::none_of(commands.begin(), commands.end(),
                     [&](const CLI::App* command) { return command->get_name() == arguments[0]; })) {
      context_.err << "warpsmith: there is no command " << Line(arguments[0]) << "; see warpsmith --help" << std::endl;
      return kExitUsage;
    }
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
    try {
      app_.parse(arguments);
    } catch (const CLI::Success& done) {  // --help, --version
      return app_.exit(done, context_.out, context_.err);
    } catch (const CLI::ParseError& error) {
      context_.err << "warpsmith: " << error.what() << "\nSee warpsmith --help, or warpsmith COMMAND --help"
                   << std::endl;
      return kExitUsage;
    }
    SetProcessSecurity(context_.security);
    return action_();
  }

 private:
  std::vector<const CLI::App*> Commands() const {
    return app_.get_subcommands([](const CLI::App*) { return true; });
  }

  CLI::App* Command(CLI::App* parent, const std::string& name, const std::string& description,
                    const std::string& example) {
    CLI::App* command = parent->add_subcommand(name, description);
    command->footer("Example: " + example);
    command->add_flag("--json", context_.json, "print JSON");
    return command;
  }

  CLI::App* ClientCommand(CLI::App* parent, const std::string& name, const std::string& description,
                          const std::string& example) {
    CLI::App* command = Command(parent, name, description, example);
    command->add_option("--coordinator", context_.coordinator, "host:port or unix:PATH")->type_name("ADDRESS");
    AddDataDirectory(command);
    return command;
  }

  void AddDataDirectory(CLI::App* command) {
    command
        ->add_option("--data-dir", context_.data_directory,
                     "of a cluster on this machine; default ~/.local/share/warpsmith (root: /var/lib/warpsmith)")
        ->type_name("DIR");
  }

  void Does(CLI::App* command, std::function<int()> action) {
    command->callback([this, action = std::move(action)] { action_ = action; });
  }

  void AddLocal(CLI::App* command) {
    command->add_option("--device", run_.local.device, "emulated or cuda; default what is there")
        ->check(Quiet(CLI::IsMember({"emulated", "cuda"})));
    command->add_option("--workers", run_.local.workers, "default one a GPU")->check(Quiet(CLI::Range(1, 64)));
    command->add_option("--gateway-config", run_.local.gateway_config, "default gateway.yaml in the data directory")
        ->type_name("FILE");
  }

  // The same for commands that other files add.
  MakeClientCommand Maker() {
    return [this](CLI::App* parent, const std::string& name, const std::string& description,
                  const std::string& example) { return ClientCommand(parent, name, description, example); };
  }
  SetCommandAction Doer() {
    return [this](CLI::App* command, std::function<int()> action) { Does(command, std::move(action)); };
  }

  void AddRun() {
    CLI::App* command = ClientCommand(&app_, "run", "search for a faster kernel, start to end, and print the result",
                                      "warpsmith run layer_norm.py --rounds 3 --preset quick --output best.cu");
    command->add_option("FILE", run_.file, "a PyTorch module in KernelBench's format")->required();
    AddSearchOptions(command, &search_);
    AddLocal(command);
    command->add_flag("--keep-running", run_.keep_running, "leave the cluster running at the end");
    command->add_option("--output", run_.output, "where the winning .cu goes; default the data directory's kernels/")
        ->type_name("FILE");
    Does(command, [this] {
      run_.search = search_;
      return RunRun(context_, run_);
    });
  }

  void AddSubmit() {
    CLI::App* command = ClientCommand(&app_, "submit", "start searches and return at once",
                                      "warpsmith submit matmul.py softmax.py --max-usd 5");
    command->add_option("FILE", files_, "PyTorch modules in KernelBench's format, a search each")->required();
    AddSearchOptions(command, &search_);
    Does(command, [this] { return RunSubmit(context_, files_, search_); });
  }

  void AddSearchCommands() {
    CLI::App* list = ClientCommand(&app_, "list", "searches, the latest first", "warpsmith list --state running");
    list->add_option("--state", state_, "intake, running, done, cancelled or failed")
        ->check(Quiet(CLI::IsMember({"intake", "running", "done", "cancelled", "failed"})));
    list->add_option("--limit", limit_, "default 50")->check(Quiet(CLI::Range(1, 10000)));
    Does(list, [this] { return RunList(context_, state_, limit_); });

    CLI::App* watch =
        ClientCommand(&app_, "watch", "follow a search until it ends", "warpsmith watch 3f2a91c0 --summary");
    AddSearch(watch);
    watch->add_flag("--summary", summary_, "print the whole report at the end");
    Does(watch, [this] { return RunWatch(context_, search_id_, summary_); });

    CLI::App* tree = ClientCommand(&app_, "tree", "a search's ideas and kernels", "warpsmith tree 3f2a91c0");
    AddSearch(tree);
    Does(tree, [this] { return RunTree(context_, search_id_); });

    CLI::App* explain =
        ClientCommand(&app_, "explain", "why a search is not getting better", "warpsmith explain 3f2a91c0");
    AddSearch(explain);
    Does(explain, [this] { return RunExplain(context_, search_id_); });

    CLI::App* cancel = ClientCommand(&app_, "cancel", "end a search; what it found stays", "warpsmith cancel 3f2a91c0");
    AddSearch(cancel)->required();
    Does(cancel, [this] { return RunCancel(context_, search_id_); });
  }

  CLI::Option* AddSearch(CLI::App* command) {
    return command->add_option("SEARCH", search_id_, "id, or its first 6 characters or more; default the latest");
  }

  void AddShow() {
    CLI::App* command = ClientCommand(&app_, "show", "a kernel's idea, verdict and source",
                                      "warpsmith show c0ffee12 --source > best.cu");
    command->add_option("CANDIDATE", show_.candidate_id, "id, or its first characters")->required();
    command->add_flag("--idea", show_.idea, "only the idea");
    command->add_flag("--verdict", show_.verdict, "only the verdict");
    command->add_flag("--source", show_.source, "only the source");
    Does(command, [this] { return RunShow(context_, show_); });
  }

  void AddBank() { AddBankCommands(&app_, context_, Maker(), Doer()); }

  void AddTransferCommands() {
    AddExportCommand(&app_, context_, Maker(), Doer());
    AddImportCommand(&app_, context_, Maker(), Doer());
  }

  void AddInject() {
    CLI::App* inject = app_.add_subcommand("inject", "hand a search an idea or a kernel of your own");
    inject->require_subcommand(1);
    inject->footer("Example: warpsmith inject idea 3f2a91c0 --title \"keep the row in registers\"");
    CLI::App* idea =
        ClientCommand(inject, "idea", "an idea: it is implemented at once",
                      "warpsmith inject idea 3f2a91c0 --title \"keep the row in registers\" --category memory_access");
    idea->add_option("SEARCH", idea_.search_id, "id, or its first 6 characters or more")->required();
    idea->add_option("--title", idea_.title, "in plain language")->required();
    idea->add_option("--category", idea_.category)
        ->required()
        ->check(CLI::IsMember(
            {"memory_access", "async_latency", "precision", "compute", "parallelism_occupancy", "control_flow"}));
    idea->add_option("--hypothesis", idea_.hypothesis, "why it should be faster");
    idea->add_option("--step", idea_.plan, "of the plan; may be given again")->allow_extra_args(false);
    idea->add_option("--parent", idea_.parent_id, "candidate to start from; default the best so far");
    Does(idea, [this] { return RunInjectIdea(context_, idea_); });

    CLI::App* kernel = ClientCommand(inject, "kernel", "a kernel: it is evaluated and may lead the next round",
                                     "warpsmith inject kernel 3f2a91c0 mine.cu --title \"by hand\"");
    kernel->add_option("SEARCH", search_id_, "id, or its first 6 characters or more")->required();
    kernel->add_option("FILE", kernel_file_, "a .cu file with a warpsmith-plan comment")->required();
    kernel->add_option("--title", title_, "default the file's name");
    Does(kernel, [this] { return RunInjectKernel(context_, search_id_, kernel_file_, title_); });
  }

  void AddClusterCommands() {
    CLI::App* up = Command(&app_, "up", "start a cluster on this machine and leave it running",
                           "warpsmith up --data-dir /srv/warpsmith");
    AddDataDirectory(up);
    AddLocal(up);
    Does(up, [this] { return RunUp(context_, run_.local); });
    CLI::App* down = Command(&app_, "down", "stop the cluster that `up` started", "warpsmith down");
    AddDataDirectory(down);
    Does(down, [this] { return RunDown(context_); });
    CLI::App* status = ClientCommand(&app_, "status", "coordinator, gateway, workers, queue", "warpsmith status");
    Does(status, [this] { return RunStatus(context_); });
  }

  void AddGatewayChoice(CLI::App* command) {
    CLI::Option* address = command->add_option("--gateway", gateway_.address, "host:port or unix:PATH of one that runs")
                               ->type_name("ADDRESS");
    command
        ->add_option("--config", gateway_.config,
                     "gateway.yaml; default the data directory's gateway where it runs, else its gateway.yaml")
        ->type_name("FILE")
        ->excludes(address);
    AddDataDirectory(command);
  }

  void AddGatewayCommands() {
    CLI::App* gateway = app_.add_subcommand("gateway", "the gateway and its models");
    gateway->require_subcommand(1);
    gateway->footer("Example: warpsmith gateway check --config gateway.yaml");
    CLI::App* check = Command(gateway, "check", "make one tiny call a model: does it answer, how soon, at what price",
                              "warpsmith gateway check --config gateway.yaml");
    AddGatewayChoice(check);
    check->add_option("--models", files_, "of the gateway's configuration; default all")
        ->delimiter(',')
        ->allow_extra_args(false);
    Does(check, [this] { return RunGatewayCheck(context_, gateway_, files_); });

    CLI::App* estimate = Command(&app_, "estimate", "what searches would cost, before they start",
                                 "warpsmith estimate layer_norm.py --preset deep --rounds 5 --models o3,gemini");
    estimate->add_option("FILE", files_, "PyTorch modules in KernelBench's format, a search each")->required();
    AddSearchOptions(estimate, &search_);
    AddGatewayChoice(estimate);
    Does(estimate, [this] { return RunEstimate(context_, gateway_, files_, search_); });
  }

  void AddSimulate() {
    CLI::App* command =
        ClientCommand(&app_, "simulate", "replay recorded searches under other strategies, at no cost",
                      "warpsmith simulate 3f2a91c0 --compare branching,sequential --variant wide:ideas=6");
    AddSimulateOptions(command, &simulate_);
    Does(command, [this] { return RunSimulate(context_, simulate_); });
  }

  void AddEvaluate() {
    CLI::App* command = Command(&app_, "evaluate", "judge and time kernels here, without services",
                                "warpsmith evaluate softmax.py softmax.cu --accept fp32,tf32");
    EvaluateOptions& options = evaluate_;
    command->add_option("PROBLEM", options.problem_file, "a PyTorch module in KernelBench's format");
    command->add_option("KERNEL", options.kernel_file, "a .cu file with a warpsmith-plan comment");
    command
        ->add_option("--batch", options.batch,
                     "a folder of .cu files, all for --problem, or a manifest: a JSON list of {\"file\", \"problem\"}")
        ->type_name("DIR|FILE");
    command
        ->add_option("--problem", options.batch_problem,
                     "of a folder's kernels; or the folder in which a manifest's problems are found by name")
        ->type_name("FILE|DIR");
    command->add_option("--device", options.device, "auto (default), emulated, N or cuda:N for one of the GPUs");
    command->add_flag("--confirm", options.confirm, "time it in turn with the module, and say how sure the ratio is");
    command->add_option("--incumbent", options.incumbent_file, "a kernel that a confirmation compares with too")
        ->type_name("FILE");
    command->add_flag("--profile", options.profile, "hardware counters of a valid kernel");
    command->add_flag("--baselines", options.baselines, "time the module every way there is, where no earlier run has");
    command->add_option("--run-limit", options.run_limit_seconds, "seconds for one run of a plan, at most; default 20")
        ->check(Quiet(CLI::Range(0.05, 3600.0)));
    command->add_option("--jobs", options.jobs, "of a batch: kernels compiled at once; default by cores")
        ->check(Quiet(CLI::Range(1, 64)));
    command->add_option("--repeat", options.repeat, "of a batch: each kernel so many times")
        ->check(Quiet(CLI::Range(1, 1000000)));
    command->add_option("--accept", search_.accepted, "precision classes: fp32 (default), tf32, fp16, bf16")
        ->delimiter(',')
        ->allow_extra_args(false);
    command->add_option_function<int64_t>(
        "--seed",
        [&options](int64_t seed) {
          options.seed = seed;
          options.seed_given = true;
        },
        "of the inputs; default 0, and secret on a GPU");
    command->add_flag("--frozen-weights", evaluate_.frozen_weights, "kernels may prepare weights ahead of time");
    AddIntakeOptions(command, &evaluate_.intake);
    Does(command, [this] {
      for (const std::string& name : search_.accepted) {
        auto precision = ParsePrecision(name);
        if (!precision.ok()) return Fail(context_, precision.status());
        evaluate_.accepted.push_back(*precision);
      }
      if (!evaluate_.batch.empty()) {
        if (evaluate_.problem_file.empty()) return RunBatch(context_, evaluate_);
        context_.err << "warpsmith: evaluate takes either PROBLEM and KERNEL or --batch" << std::endl;
        return static_cast<int>(kExitUsage);
      }
      if (evaluate_.kernel_file.empty()) {
        context_.err << "warpsmith: evaluate needs PROBLEM.py and KERNEL.cu, or --batch; see warpsmith evaluate --help"
                     << std::endl;
        return static_cast<int>(kExitUsage);
      }
      return RunEvaluate(context_, evaluate_);
    });
  }

  void AddMachineCommands() {
    CLI::App* doctor = Command(&app_, "doctor", "what this machine has and lacks", "warpsmith doctor");
    AddDataDirectory(doctor);
    Does(doctor, [this] { return RunDoctor(context_); });
    CLI::App* version = Command(&app_, "version", "versions that results carry", "warpsmith version --json");
    Does(version, [this] {
      if (context_.json) {
        const Json json = {{"version", kVersion}, {"harness_rev", kHarnessRevision}, {"judge_rev", kJudgeRevision}};
        context_.out << json.dump() << std::endl;
      } else {
        context_.out << fmt::format("warpsmith {} (harness {}, judge {})", kVersion, kHarnessRevision, kJudgeRevision)
                     << std::endl;
      }
      return static_cast<int>(kExitOk);
    });
  }

  Context& context_;
  CLI::App app_;
  std::function<int()> action_;
  RunOptions run_;
  SearchOptions search_;
  ShowOptions show_;
  InjectIdeaOptions idea_;
  EvaluateOptions evaluate_;
  GatewayChoice gateway_;
  SimulateOptions simulate_;
  std::vector<std::string> files_;
  std::string search_id_;
  std::string state_;
  std::string kernel_file_;
  std::string title_;
  int limit_ = 50;
  bool summary_ = false;
};

}  // namespace

int RunCommandLine(const std::vector<std::string>& arguments, Context context) {
  return CommandLine(context).Run(arguments);
}

}  // namespace warpsmith::cli
