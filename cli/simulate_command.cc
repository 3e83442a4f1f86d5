#include "cli/simulate_command.h"

#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <ostream>

#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/message_json.h"
#include "cli/names.h"
#include "cli/search_options.h"
#include "cli/service_call.h"
#include "cli/text.h"
#include "common/file.h"
#include "common/grpc_channel.h"
#include "common/json.h"
#include "warpsmith/v1/recording.grpc.pb.h"

namespace warpsmith::cli {
namespace {

constexpr std::chrono::seconds kRecordingDeadline{60};

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t start = 0;
  while (start <= text.size()) {
    const size_t end = std::min(text.find(separator, start), text.size());
    if (end > start) parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

template <typename Number>
bool ParseNumber(const std::string& text, Number* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

// One FIELD=VALUE of a variant: the settings that are single numbers, words or switches.
absl::Status SetField(const std::string& name, const std::string& value, v1::SearchSettings* settings) {
  using google::protobuf::FieldDescriptor;
  const FieldDescriptor* field = v1::SearchSettings::descriptor()->FindFieldByName(name);
  if (field == nullptr || field->is_repeated() || field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    std::string known;
    for (int i = 0; i < v1::SearchSettings::descriptor()->field_count(); ++i) {
      const FieldDescriptor* one = v1::SearchSettings::descriptor()->field(i);
      if (one->is_repeated() || one->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) continue;
      known += (known.empty() ? "" : ", ") + one->name();
    }
    return InvalidArgument(fmt::format("a search has no setting \"{}\"; there are {}", Line(name), known));
  }
  const google::protobuf::Reflection& reflection = *v1::SearchSettings::GetReflection();
  int32_t small = 0;
  int64_t large = 0;
  double real = 0;
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      if (!ParseNumber(value, &small)) break;
      reflection.SetInt32(settings, field, small);
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_INT64:
      if (!ParseNumber(value, &large)) break;
      reflection.SetInt64(settings, field, large);
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_DOUBLE:
      if (!ParseNumber(value, &real) || !std::isfinite(real)) break;
      reflection.SetDouble(settings, field, real);
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_BOOL:
      if (value != "true" && value != "false") break;
      reflection.SetBool(settings, field, value == "true");
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_STRING:
      reflection.SetString(settings, field, value);
      return absl::OkStatus();
    default:
      break;
  }
  return InvalidArgument(fmt::format("setting {} cannot be \"{}\": it is a {}", name, Line(value), field->type_name()));
}

absl::StatusOr<v1::Recording> ReadRecordingFile(const std::string& file) {
  WARPSMITH_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  v1::Recording recording;
  const auto parsed = google::protobuf::util::JsonStringToMessage(text, &recording);
  if (!parsed.ok()) {
    return InvalidArgument(fmt::format("{} is no recording that warpsmith simulate --save wrote: {}", file,
                                       Line(parsed.message().as_string())));
  }
  return recording;
}

absl::StatusOr<std::vector<v1::Recording>> Recordings(Context& context, const SimulateOptions& options) {
  std::vector<v1::Recording> recordings;
  for (const std::string& file : options.recordings) {
    WARPSMITH_ASSIGN_OR_RETURN(v1::Recording recording, ReadRecordingFile(file));
    recordings.push_back(std::move(recording));
  }
  if (options.searches.empty()) return recordings;
  WARPSMITH_ASSIGN_OR_RETURN(const std::string address, CoordinatorAddress(context));
  const auto stub = v1::RecordingService::NewStub(ConnectTo(address));
  for (const std::string& search : options.searches) {
    v1::GetRecordingRequest request;
    request.set_search_id(search);
    auto recording =
        CallService<v1::Recording>(kRecordingDeadline, *stub, &v1::RecordingService::Stub::GetRecording, request);
    if (!recording.ok()) return Annotate(recording.status(), "the coordinator at " + address);
    recordings.push_back(*std::move(recording));
  }
  return recordings;
}

absl::Status Save(Context& context, const std::vector<v1::Recording>& recordings, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return InvalidArgument(fmt::format("--save {}: {}", folder, error.message()));
  for (const v1::Recording& recording : recordings) {
    const std::string file = (std::filesystem::path(folder) / (recording.search_id() + ".json")).string();
    WARPSMITH_RETURN_IF_ERROR(WriteFileAtomically(file, MessageToJson(recording) + "\n"));
    context.err << "wrote " << file << std::endl;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<replay::Policy>> Policies(const SimulateOptions& options) {
  std::vector<replay::Policy> policies;
  for (const std::string& name : options.strategies) {
    replay::Policy& policy = policies.emplace_back();
    policy.name = name;
    policy.settings.set_strategy(name);
  }
  for (const std::string& text : options.variants) {
    WARPSMITH_ASSIGN_OR_RETURN(replay::Policy policy, ParseVariant(text));
    policies.push_back(std::move(policy));
  }
  if (policies.empty()) policies.push_back({"as recorded", {}});
  for (replay::Policy& policy : policies) {
    v1::SearchSettings settings = options.settings.settings;
    settings.MergeFrom(policy.settings);
    policy.settings = settings;
  }
  return policies;
}

std::string Factor(const replay::Interval& log) {
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", std::exp(log.mean), std::exp(log.low), std::exp(log.high));
}

Json IntervalJson(const replay::Interval& interval) {
  return {{"mean", interval.mean}, {"low", interval.low}, {"high", interval.high}};
}

Json ListJson(const std::vector<replay::Interval>& intervals) {
  Json list = Json::array();
  for (const replay::Interval& interval : intervals) list.push_back(IntervalJson(interval));
  return list;
}

Json ComparisonJson(const replay::Comparison& comparison) {
  Json policies = Json::array();
  for (const replay::PolicyResult& policy : comparison.policies) {
    policies.push_back({{"name", policy.name},
                        {"best_log_ratio", IntervalJson(policy.best)},
                        {"log_factor_over_first", IntervalJson(policy.against_first)},
                        {"best_log_ratio_at_budget", ListJson(policy.at_budget)},
                        {"log_factor_over_first_at_budget", ListJson(policy.first_at_budget)},
                        {"tokens", IntervalJson(policy.tokens)},
                        {"usd", IntervalJson(policy.usd)},
                        {"gpu_seconds", IntervalJson(policy.gpu_seconds)},
                        {"seconds", IntervalJson(policy.seconds)},
                        {"surrogate_ideas", policy.surrogate_ideas},
                        {"surrogate_attempts", policy.surrogate_attempts},
                        {"found", policy.found},
                        {"finish_reasons", policy.finish_reasons}});
  }
  return {{"budget_unit", comparison.budget_unit},
          {"budgets", comparison.budgets},
          {"trees", comparison.trees},
          {"repeats", comparison.repeats},
          {"policies", policies}};
}

}  // namespace

absl::StatusOr<replay::Policy> ParseVariant(const std::string& text) {
  replay::Policy policy;
  const size_t colon = text.find(':');
  policy.name = text.substr(0, colon);
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) {
    return InvalidArgument(
        fmt::format("--variant {} is not NAME:FIELD=VALUE,…, as in wide:strategy=branching,ideas=6", Line(text)));
  }
  for (const std::string& part : Split(text.substr(colon + 1), ',')) {
    const size_t equals = part.find('=');
    if (equals == std::string::npos || equals == 0) {
      return InvalidArgument(fmt::format("--variant {}: {} is not FIELD=VALUE", Line(policy.name), Line(part)));
    }
    WARPSMITH_RETURN_IF_ERROR(Annotate(SetField(part.substr(0, equals), part.substr(equals + 1), &policy.settings),
                                       "--variant " + policy.name));
  }
  return policy;
}

std::string PrintComparison(const replay::Comparison& comparison) {
  const bool tokens = comparison.budget_unit == "tokens";
  Table table;
  table.AddColumn("");
  for (const double budget : comparison.budgets) {
    table.AddColumn(tokens ? FormatCount(static_cast<int64_t>(budget)) + " tokens" : FormatSeconds(budget) + " GPU",
                    Table::kRight);
  }
  table.AddColumn("at its end", Table::kRight);
  table.AddColumn("tokens", Table::kRight);
  table.AddColumn("GPU", Table::kRight);
  for (const replay::PolicyResult& policy : comparison.policies) {
    std::vector<std::string> cells = {policy.name};
    for (const replay::Interval& interval : policy.at_budget)
      cells.push_back(fmt::format("{:.3f}x", std::exp(interval.mean)));
    cells.push_back(fmt::format("{:.3f}x", std::exp(policy.best.mean)));
    cells.push_back(FormatCount(static_cast<int64_t>(policy.tokens.mean)));
    cells.push_back(FormatSeconds(policy.gpu_seconds.mean));
    table.AddRow(std::move(cells));
  }
  std::string page =
      fmt::format("Best kernel against PyTorch (geometric mean), by what one search has spent: {} × {} replays\n\n{}",
                  fmt::format("{} recorded {}", comparison.trees, comparison.trees == 1 ? "search" : "searches"),
                  comparison.repeats, table.ToString());
  Table factors;
  factors.AddColumn("");
  factors.AddColumn("for the same spending", Table::kRight);
  factors.AddColumn("at its end", Table::kRight);
  factors.AddColumn("made up", Table::kRight);
  for (const replay::PolicyResult& policy : comparison.policies) {
    factors.AddRow({policy.name, Factor(policy.first_at_budget.back()), Factor(policy.against_first),
                    FormatPercent(policy.surrogate_attempts)});
  }
  page += fmt::format(
      "\nFactor over {} with 95 % intervals, and the share of kernels that the recording does not have\n\n{}",
      comparison.policies.front().name, factors.ToString());
  if (comparison.trees == 1) {
    page +=
        "\nOne recorded search: the intervals say how sure the replay is of itself, not how another search would go.\n";
  }
  return page;
}

void AddSimulateOptions(CLI::App* command, SimulateOptions* options) {
  command->add_option("SEARCH", options->searches, "recorded searches, by id or prefix");
  command->add_option("--recording", options->recordings, "files that --save wrote")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command->add_option("--save", options->save, "write the recordings into this folder")->type_name("DIR");
  command->add_option("--compare", options->strategies, "strategies, as in branching,best_of_n")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option("--variant", options->variants, "NAME:FIELD=VALUE,…: other settings, as in wide:ideas=6,parents=2")
      ->allow_extra_args(false);
  command->add_option("--repeats", options->repeats, "replays of each search and strategy")
      ->capture_default_str()
      ->check(Quiet(CLI::Range(1, 100000)));
  command->add_option("--gpus", options->gpus, "that evaluate at once")
      ->capture_default_str()
      ->check(Quiet(CLI::Range(1, 10000)));
  command->add_option("--model-calls", options->model_calls, "at once")
      ->capture_default_str()
      ->check(Quiet(CLI::Range(1, 10000)));
  command->add_option("--replay-seed", options->seed, "of the draws")->capture_default_str();
  AddSearchOptions(command, &options->settings);
}

int RunSimulate(Context& context, const SimulateOptions& options) {
  if (options.searches.empty() && options.recordings.empty()) {
    return Fail(context, InvalidArgument("simulate needs a recorded search: its id, or --recording FILE"));
  }
  const auto recordings = Recordings(context, options);
  if (!recordings.ok()) return Fail(context, recordings.status());
  if (!options.save.empty()) {
    absl::Status saved = Save(context, *recordings, options.save);
    if (!saved.ok()) return Fail(context, saved);
  }
  std::vector<replay::RecordedTree> trees;
  for (const v1::Recording& recording : *recordings) {
    auto tree = replay::RecordedTree::Make(recording);
    if (!tree.ok()) return Fail(context, tree.status());
    trees.push_back(*std::move(tree));
  }
  const auto policies = Policies(options);
  if (!policies.ok()) return Fail(context, policies.status());
  replay::ComparisonOptions how;
  how.repeats = options.repeats;
  how.seed = static_cast<uint64_t>(options.seed);
  how.machines = {options.gpus, options.model_calls};
  int shown = -1;
  how.poll = [&](int done, int total) -> absl::Status {
    if (Interrupted()) return absl::CancelledError("interrupted");
    const int percent = 100 * done / total;
    if (context.err_is_terminal && percent != shown)
      context.err << fmt::format("\rreplaying {} %", shown = percent) << std::flush;
    return absl::OkStatus();
  };
  const auto comparison = replay::Compare(trees, *policies, how);
  if (context.err_is_terminal) context.err << "\r\033[K" << std::flush;
  if (!comparison.ok()) return Fail(context, comparison.status());
  context.out << (context.json ? ComparisonJson(*comparison).dump(2) + "\n" : PrintComparison(*comparison))
              << std::flush;
  return kExitOk;
}

}  // namespace warpsmith::cli
