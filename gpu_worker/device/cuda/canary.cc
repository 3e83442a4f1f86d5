#include "gpu_worker/device/cuda/canary.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "common/child_process.h"
#include "common/file.h"
#include "common/json.h"
#include "gpu_worker/device/cuda/child_environment.h"

namespace warpsmith::cuda {
namespace {

constexpr std::chrono::milliseconds kGrace(200);

}  // namespace

std::string CanaryToJson(const absl::StatusOr<CanaryFigures>& result) {
  Json json;
  if (result.ok()) {
    json = {{"kernel_ms", result->kernel_ms},
            {"copy_bytes_per_second", result->copy_bytes_per_second},
            {"copy_bytes", result->copy_bytes}};
  } else {
    const bool wrong = result.status().code() == absl::StatusCode::kDataLoss;
    json = {{"error", Message(result.status())}, {"code", wrong ? "data_loss" : "failed"}};
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::StatusOr<CanaryFigures> CanaryFromJson(const std::string& line) {
  WARPSMITH_ASSIGN_OR_RETURN(const Json json, ParseStrictJson(line));
  if (!json.is_object()) return Internal("the canary's answer is no JSON object");
  if (json.contains("error") && json["error"].is_string()) {
    const bool wrong = json.value("code", Json()) == "data_loss";
    return MakeStatus(wrong ? absl::StatusCode::kDataLoss : absl::StatusCode::kInternal,
                      json["error"].get<std::string>());
  }
  CanaryFigures figures;
  const auto number = [&json](const char* name, double least, double& value) {
    const auto field = json.find(name);
    if (field == json.end() || !field->is_number() || !(field->get<double>() >= least)) return false;
    value = field->get<double>();
    return true;
  };
  double bytes = 0;
  if (!number("kernel_ms", 1e-6, figures.kernel_ms) ||
      !number("copy_bytes_per_second", 0, figures.copy_bytes_per_second) || !number("copy_bytes", 0, bytes)) {
    return Internal("the canary's answer lacks figures");
  }
  figures.copy_bytes = static_cast<int64_t>(bytes);
  return figures;
}

absl::StatusOr<ProcessCanaryOptions> ProcessCanary::OptionsFor(const std::string& gpu_uuid) {
  ProcessCanaryOptions options;
  WARPSMITH_ASSIGN_OR_RETURN(const std::filesystem::path program, FindProgram("warpsmith-canary"));
  options.program = program.string();
  options.environment = ChildEnvironment(gpu_uuid);
  return options;
}

absl::StatusOr<CanaryFigures> ProcessCanary::RunOnce() const {
  ChildOptions child;
  child.ignore_stop_signals = true;
  child.arguments = {options_.program, "check"};
  child.environment = options_.environment;
  const TimePoint start = RealClock().Now();
  WARPSMITH_ASSIGN_OR_RETURN(const std::unique_ptr<ChildProcess> process, ChildProcess::Start(child));
  const absl::StatusOr<std::string> line = process->ReadLine(options_.deadline, 65536);
  const double seconds = ToSeconds(RealClock().Now() - start);
  if (!line.ok()) {
    const bool late = line.status().code() == absl::StatusCode::kDeadlineExceeded;
    const std::optional<ChildExit> ended = late ? std::nullopt : process->Wait(kGrace);
    if (!process->Stop(kGrace)) {
      return MakeStatus(absl::StatusCode::kAborted, "the canary could not be killed: it hangs in the driver");
    }
    if (late) return DeadlineExceeded(fmt::format("the canary did not come back within {:.0f} s", seconds));
    return Internal(fmt::format("the canary ended without an answer: {}",
                                ended ? ended->Describe() : std::string("it closed its output")));
  }
  // Leaving takes the driver's help too.
  if (!process->Wait(options_.deadline) && !process->Stop(kGrace)) {
    return MakeStatus(absl::StatusCode::kAborted, "the canary could not be killed: it hangs in the driver");
  }
  WARPSMITH_ASSIGN_OR_RETURN(CanaryFigures figures, CanaryFromJson(*line));
  figures.seconds = seconds;
  return figures;
}

absl::Status ProcessCanary::Check() {
  WARPSMITH_ASSIGN_OR_RETURN(const CanaryFigures figures, RunOnce());
  last_ = figures;
  if (!first_) {
    first_ = figures;
    return absl::OkStatus();
  }
  const double most_ms = first_->kernel_ms * (1 + options_.slower_allowed);
  const double least_rate = first_->copy_bytes_per_second / (1 + options_.slower_allowed);
  const bool same_copy = figures.copy_bytes == first_->copy_bytes;  // less memory may have been free
  if (figures.kernel_ms > most_ms || (same_copy && figures.copy_bytes_per_second < least_rate)) {
    return MakeStatus(absl::StatusCode::kOutOfRange,
                      fmt::format("the canary took {:.3f} ms and copied {:.0f} GB/s; at first it was {:.3f} ms and "
                                  "{:.0f} GB/s",
                                  figures.kernel_ms, figures.copy_bytes_per_second / 1e9, first_->kernel_ms,
                                  first_->copy_bytes_per_second / 1e9));
  }
  return absl::OkStatus();
}

}  // namespace warpsmith::cuda
