#include "gpu_worker/reference/python_oracle.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "common/version.h"
#include "gpu_worker/reference/memory_budget.h"
#include "gpu_worker/reference/oracle_channel.h"
#include "gpu_worker/reference/oracle_json.h"
#include "gpu_worker/reference/python_locator.h"

namespace warpsmith::reference {
namespace {

constexpr int kMostThreads = 8;
constexpr size_t kSpares = 2;  // one is used up while the other imports

// What the problem was doing, for people, by the oracle's stage.
std::string Doing(const std::string& stage) {
  if (stage == "import") return "importing the file";
  if (stage == "no_model") return "Model(*get_init_inputs())";
  if (stage == "inputs") return "get_inputs()";
  if (stage == "forward") return "forward()";
  return "its intake";
}

v1::IntakeResult Refusal(std::string kind, std::string message) {
  v1::IntakeResult result;
  if (kind == "stochastic") result.mutable_signature()->set_stochastic(true);
  result.set_error_kind(std::move(kind));
  result.set_error(std::move(message));
  return result;
}

// A problem whose intake process ended without an answer. What ran too long or called exit is the file's fault. A
// signal may have come from anywhere: from the system for want of memory, whoever took that, or from whoever stopped
// the machine. So it is the machine's fault; only who sees it come again, elsewhere too, can say that it is the file's.
absl::StatusOr<v1::IntakeResult> AfterEnd(const std::string& name, const OracleChannel& channel, bool timed_out,
                                          Duration deadline) {
  const std::string doing = Doing(channel.stage());
  if (timed_out) {
    return Refusal("timeout",
                   fmt::format("{}.py: {} was still running after {:.0f} s; make the sizes at the top of the "
                               "file smaller, or give intake a longer deadline",
                               name, doing, ToSeconds(deadline)));
  }
  const std::optional<ChildExit>& ended = channel.exit();
  const std::string how = ended ? ended->Describe() : std::string("no exit status");
  if (!ended || ended->signaled || channel.stage().empty()) {
    const bool killed = ended && ended->signaled && ended->signal == SIGKILL;
    return Unavailable(fmt::format(
        "{}.py: {} ended the process ({}); where this comes again, also on another machine, {}", name, doing, how,
        killed ? "the system most likely killed it for memory: make the sizes at the top of the file smaller"
               : "the file is at fault: a problem file must not crash"));
  }
  const bool known = channel.stage() == "import" || channel.stage() == "no_model" || channel.stage() == "inputs";
  return Refusal(
      known ? channel.stage() : "forward",
      fmt::format("{}.py: {} ended the process ({}); a problem file must not exit or crash", name, doing, how));
}

absl::StatusOr<OracleProcessOptions> ProcessOptions(const PythonOracleOptions& options) {
  OracleProcessOptions process;
  process.python = options.python;
  if (process.python.empty()) {
    WARPSMITH_ASSIGN_OR_RETURN(const PythonInstallation found, FindPython(options.device != "cpu"));
    process.python = found.path;
  }
  process.device = options.device;
  process.environment = options.environment;
  process.memory_bytes = options.memory_bytes != 0 ? options.memory_bytes : AvailableMemoryBytes() / 4 * 3;
  process.reserve_bytes = options.reserve_bytes;
  process.threads = options.threads > 0
                        ? options.threads
                        : std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMostThreads);
  return process;
}

v1::Baseline Skipped(const std::string& name, const std::string& reason, const std::string& harness_revision) {
  v1::Baseline baseline;
  baseline.set_name(name);
  baseline.set_skipped_reason(reason);
  baseline.set_harness_rev(harness_revision);
  return baseline;
}

}  // namespace

PythonOracle::PythonOracle(PythonOracleOptions options) : options_(std::move(options)) {
  if (options_.harness_revision.empty()) options_.harness_revision = kHarnessRevision;
}

PythonOracle::~PythonOracle() = default;

int PythonOracle::ProcessIdForTest() const { return channel_ != nullptr ? channel_->process_id() : -1; }

absl::StatusOr<std::unique_ptr<OracleChannel>> PythonOracle::TakeProcess() {
  while (!spares_.empty()) {
    std::unique_ptr<OracleChannel> channel = std::move(spares_.front());
    spares_.pop_front();
    if (channel->Greet().ok()) return channel;
  }
  WARPSMITH_ASSIGN_OR_RETURN(const OracleProcessOptions options, ProcessOptions(options_));
  return OracleChannel::Start(options);
}

void PythonOracle::KeepSpares(bool ready_for_gpu) {
  if (!on_gpu()) return;
  if (spares_.size() < kSpares) {
    const absl::StatusOr<OracleProcessOptions> options = ProcessOptions(options_);
    while (options.ok() && spares_.size() < kSpares) {
      absl::StatusOr<std::unique_ptr<OracleChannel>> channel = OracleChannel::Launch(*options);
      if (!channel.ok()) break;  // the next TakeProcess says what is wrong
      spares_.push_back(*std::move(channel));
    }
  }
  if (ready_for_gpu && !spares_.empty()) spares_.front()->BeginGreeting();
}

void PythonOracle::DropBuffers() {
  if (!on_gpu() || channel_ == nullptr || !channel_->alive()) return;
  if (!Call({{"command", "drop_buffers"}}, options_.command_deadline).ok()) Forget();
}

absl::StatusOr<v1::IntakeResult> PythonOracle::Intake(const std::string& name, const std::string& source,
                                                      const v1::IntakeSettings& settings) {
  DropBuffers();
  WARPSMITH_ASSIGN_OR_RETURN(const std::unique_ptr<OracleChannel> channel, TakeProcess());
  const Json request = {{"command", "intake"},
                        {"name", name},
                        {"source", source},
                        {"settings", SettingsToJson(settings)},
                        {"harness_revision", options_.harness_revision}};
  const absl::StatusOr<Json> reply = channel->Call(request, options_.intake_deadline);
  KeepSpares(/*ready_for_gpu=*/true);
  if (!reply.ok()) {
    return AfterEnd(name, *channel, absl::IsDeadlineExceeded(reply.status()), options_.intake_deadline);
  }
  if (reply->contains("error")) {
    const std::string kind = reply->value("kind", "internal");
    if (kind == "internal" || kind == "request" || kind == "order") return ErrorOf(*reply);
    return Refusal(kind, reply->value("message", "the oracle gave no reason"));
  }
  return IntakeFromJson(*reply);
}

absl::StatusOr<Json> PythonOracle::Call(const Json& request, Duration deadline) {
  if (channel_ == nullptr || !channel_->alive()) {
    return FailedPrecondition("the oracle holds no problem (it was restarted, or nothing was loaded): load it first");
  }
  absl::StatusOr<Json> reply = channel_->Call(request, deadline);
  if (!reply.ok()) {
    Forget();
    return reply.status();
  }
  WARPSMITH_RETURN_IF_ERROR(ErrorOf(*reply));
  return reply;
}

void PythonOracle::Forget() {
  channel_.reset();
  loaded_.clear();
}

absl::Status PythonOracle::Load(const std::string& problem_id, const std::string& name, const std::string& source,
                                const v1::IntakeSettings& settings, const v1::ProblemSignature& signature) {
  if (channel_ != nullptr && channel_->alive() && !problem_id.empty() && loaded_ == problem_id) return absl::OkStatus();
  WARPSMITH_ASSIGN_OR_RETURN(Json described, SignatureToJson(signature));
  if (channel_ == nullptr || !channel_->alive()) {
    WARPSMITH_ASSIGN_OR_RETURN(channel_, TakeProcess());
    KeepSpares(/*ready_for_gpu=*/false);
  }
  loaded_.clear();
  const absl::StatusOr<Json> reply = Call({{"command", "load"},
                                           {"problem_id", problem_id},
                                           {"name", name},
                                           {"source", source},
                                           {"settings", SettingsToJson(settings)},
                                           {"signature", std::move(described)}},
                                          options_.intake_deadline);
  WARPSMITH_RETURN_IF_ERROR(reply.status());
  loaded_ = problem_id;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::vector<SharedBuffer>>> PythonOracle::Prepare(const std::string& directory,
                                                                             const v1::ExecutionPlan& plan, int slots) {
  if (slots < 1) return InvalidArgument("slots must be at least 1");
  WARPSMITH_ASSIGN_OR_RETURN(
      const Json reply,
      Call({{"command", "prepare"}, {"directory", directory}, {"buffers", BuffersToJson(plan)}, {"slots", slots}},
           options_.command_deadline));
  WARPSMITH_ASSIGN_OR_RETURN(std::vector<std::vector<SharedBuffer>> places, PlacesFromJson(reply));
  if (places.empty() || places.size() > static_cast<size_t>(slots)) {
    return Internal("the oracle prepared another number of slots");
  }
  for (const std::vector<SharedBuffer>& buffers : places) {
    if (buffers.size() != static_cast<size_t>(plan.buffers_size())) return Internal("the oracle left out a buffer");
  }
  return places;
}

absl::Status PythonOracle::BeginTrial(const TrialRequest& request) {
  int poison = 0;  // as trial.py numbers them
  if (request.output_fill == OutputFill::kPoisonB) poison = 1;
  if (request.output_fill == OutputFill::kKeep) poison = -1;
  if (request.output_fill == OutputFill::kStale) poison = -2;
  return Call({{"command", "begin_trial"},
               {"slot", request.slot},
               {"seed", request.seed},
               {"distribution", request.distribution},
               {"poison", poison},
               {"scratch_fill", request.scratch_fill == ScratchFill::kLarge ? "large" : "poison"}},
              options_.command_deadline)
      .status();
}

absl::StatusOr<JudgeReport> PythonOracle::Judge(const JudgeRequest& request) {
  WARPSMITH_ASSIGN_OR_RETURN(const Json reply, Call({{"command", "judge"},
                                                     {"slot", request.slot},
                                                     {"accepted", AcceptedToJson(request.accepted)},
                                                     {"launch", request.after_timed_launch ? "timed" : "trial"}},
                                                    options_.command_deadline));
  return ReportFromJson(reply);
}

absl::StatusOr<std::string> PythonOracle::Unwritten(const std::vector<int>& slots) {
  WARPSMITH_ASSIGN_OR_RETURN(const Json reply,
                             Call({{"command", "unwritten"}, {"slots", slots}}, options_.command_deadline));
  return reply.value("output", "");
}

absl::StatusOr<ReferenceTime> PythonOracle::TimeReference(double seconds) {
  WARPSMITH_ASSIGN_OR_RETURN(const Json reply, Call({{"command", "time_reference"}, {"seconds", seconds}},
                                                    options_.command_deadline + FromSeconds(seconds)));
  return TimeFromJson(reply);
}

absl::Status PythonOracle::Quiesce() {
  if (channel_ == nullptr || !channel_->alive()) return absl::OkStatus();
  return Call({{"command", "quiesce"}}, options_.command_deadline).status();
}

absl::StatusOr<std::vector<v1::Baseline>> PythonOracle::Baselines(const std::string& name, const std::string& source,
                                                                  const v1::IntakeSettings& settings,
                                                                  const std::vector<std::string>& names) {
  if (!on_gpu()) return std::vector<v1::Baseline>{};
  DropBuffers();
  std::vector<v1::Baseline> baselines;
  std::unique_ptr<OracleChannel> channel;
  for (const std::string& baseline : names) {
    if (channel == nullptr || !channel->alive()) {
      WARPSMITH_ASSIGN_OR_RETURN(channel, TakeProcess());
    }
    const absl::StatusOr<Json> reply = channel->Call({{"command", "baseline"},
                                                      {"name", name},
                                                      {"source", source},
                                                      {"settings", SettingsToJson(settings)},
                                                      {"harness_revision", options_.harness_revision},
                                                      {"baseline", baseline},
                                                      {"seconds", options_.baseline_seconds}},
                                                     options_.baseline_deadline);
    if (absl::IsDeadlineExceeded(reply.status())) {
      const double limit = ToSeconds(options_.baseline_deadline);
      baselines.push_back(Skipped(baseline, fmt::format("not done within {:.0f} s", limit), options_.harness_revision));
      continue;
    }
    if (!reply.ok()) {
      baselines.push_back(Skipped(baseline, Message(reply.status()), options_.harness_revision));
      continue;
    }
    WARPSMITH_RETURN_IF_ERROR(ErrorOf(*reply));
    WARPSMITH_ASSIGN_OR_RETURN(v1::Baseline taken, BaselineFromJson(*reply));
    baselines.push_back(std::move(taken));
  }
  KeepSpares(/*ready_for_gpu=*/true);
  return baselines;
}

absl::Status PythonOracle::Release() {
  if (channel_ == nullptr || !channel_->alive()) return absl::OkStatus();
  return Call({{"command", "release"}}, options_.command_deadline).status();
}

}  // namespace warpsmith::reference
