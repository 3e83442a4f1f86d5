#include <fmt/format.h>

#include <type_traits>
#include <utility>

#include "gpu_worker/device/cuda/gpu_probe.h"

namespace warpsmith::cuda {
namespace {

// The fields once, for both directions.
template <typename Device, typename Visitor>
void VisitDevice(Device& device, Visitor&& visit) {
  visit("ordinal", device.ordinal);
  visit("uuid", device.uuid);
  visit("name", device.name);
  visit("pci_bus_id", device.pci_bus_id);
  visit("compute_capability", device.compute_capability);
  visit("sm_count", device.sm_count);
  visit("memory_bytes", device.memory_bytes);
  visit("l2_bytes", device.l2_bytes);
  visit("persisting_l2_bytes", device.persisting_l2_bytes);
  visit("static_shared_bytes", device.static_shared_bytes);
  visit("shared_opt_in_bytes", device.shared_opt_in_bytes);
  visit("shared_per_sm_bytes", device.shared_per_sm_bytes);
  visit("shared_reserved_bytes", device.shared_reserved_bytes);
  visit("threads_per_sm", device.threads_per_sm);
  visit("blocks_per_sm", device.blocks_per_sm);
  visit("registers_per_sm", device.registers_per_sm);
  visit("pageable_memory_access", device.pageable_memory_access);
  visit("clock_khz", device.clock_khz);
  visit("memory_clock_khz", device.memory_clock_khz);
  visit("memory_bus_bits", device.memory_bus_bits);
  visit("power_limit_w", device.power_limit_w);
  visit("driver_version", device.driver_version);
  visit("cuda_version", device.cuda_version);
}

template <typename State, typename Visitor>
void VisitState(State& state, Visitor&& visit) {
  visit("sm_mhz", state.sm_mhz);
  visit("max_sm_mhz", state.max_sm_mhz);
  visit("memory_mhz", state.memory_mhz);
  visit("max_memory_mhz", state.max_memory_mhz);
  visit("temperature_c", state.temperature_c);
  visit("power_w", state.power_w);
  visit("power_limit_w", state.power_limit_w);
  visit("throttle_reasons", state.throttle_reasons);
  visit("memory_free_bytes", state.memory_free_bytes);
  visit("memory_total_bytes", state.memory_total_bytes);
  visit("uncorrected_ecc_errors", state.uncorrected_ecc_errors);
  visit("row_remap_failed", state.row_remap_failed);
  visit("row_remap_pending", state.row_remap_pending);
  visit("exclusive_compute_mode", state.exclusive_compute_mode);
  visit("mig", state.mig);
}

template <typename T>
bool Take(const Json& json, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    if (!json.is_boolean()) return false;
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!json.is_string()) return false;
  } else if constexpr (std::is_integral_v<T>) {
    if (!json.is_number_integer()) return false;
  } else {
    if (!json.is_number()) return false;
  }
  value = json.get<T>();
  return true;
}

// Every field must be there and of its type; an optional one may be missing.
struct Reader {
  const Json& json;
  std::string& bad;

  template <typename T>
  void operator()(const char* name, T& value) const {
    const auto field = json.find(name);
    if (field == json.end() || !Take(*field, value)) bad = name;
  }
  template <typename T>
  void operator()(const char* name, std::optional<T>& value) const {
    const auto field = json.find(name);
    if (field == json.end()) return;
    T read{};
    if (Take(*field, read)) {
      value = read;
    } else {
      bad = name;
    }
  }
};

struct Writer {
  Json& json;

  template <typename T>
  void operator()(const char* name, const T& value) const {
    json[name] = value;
  }
  template <typename T>
  void operator()(const char* name, const std::optional<T>& value) const {
    if (value) json[name] = *value;
  }
};

void ReadProcesses(const Json& json, DeviceState& state, std::string& bad) {
  const auto list = json.find("other_processes");
  if (list == json.end()) return;
  if (!list->is_array()) {
    bad = "other_processes";
    return;
  }
  state.other_processes.emplace();
  for (const Json& entry : *list) {
    GpuProcess process;
    if (!entry.is_object()) {
      bad = "other_processes";
      return;
    }
    Reader reader{entry, bad};
    reader("pid", process.pid);
    reader("memory_bytes", process.memory_bytes);
    state.other_processes->push_back(process);
  }
}

}  // namespace

Json GpuReportToJson(const GpuReport& report) {
  Json json = Json::object();
  VisitDevice(report.device, Writer{json});
  if (!report.state) return json;
  Json state = Json::object();
  VisitState(*report.state, Writer{state});
  if (report.state->other_processes) {
    Json list = Json::array();
    for (const GpuProcess& process : *report.state->other_processes) {
      Json entry = {{"pid", process.pid}};
      if (process.memory_bytes) entry["memory_bytes"] = *process.memory_bytes;
      list.push_back(std::move(entry));
    }
    state["other_processes"] = std::move(list);
  }
  json["state"] = std::move(state);
  return json;
}

absl::StatusOr<GpuReport> GpuReportFromJson(const Json& json) {
  if (!json.is_object()) return InvalidArgument("a GPU's report is no JSON object");
  GpuReport report;
  std::string bad;
  VisitDevice(report.device, Reader{json, bad});
  if (const auto state = json.find("state"); state != json.end()) {
    if (!state->is_object()) return InvalidArgument("a GPU's state is no JSON object");
    report.state.emplace();
    VisitState(*report.state, Reader{*state, bad});
    ReadProcesses(*state, *report.state, bad);
  }
  if (!bad.empty()) return InvalidArgument(fmt::format("a GPU's report lacks a good {}", bad));
  return report;
}

std::string GpuListToJson(const absl::StatusOr<std::vector<GpuReport>>& reports) {
  Json json;
  if (reports.ok()) {
    json["gpus"] = Json::array();
    for (const GpuReport& report : *reports) json["gpus"].push_back(GpuReportToJson(report));
  } else {
    json = {{"error", Message(reports.status())},
            {"not_found", reports.status().code() == absl::StatusCode::kNotFound}};
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::StatusOr<std::vector<GpuReport>> GpuListFromJson(const std::string& line) {
  WARPSMITH_ASSIGN_OR_RETURN(const Json json, ParseStrictJson(line));
  if (!json.is_object()) return Internal("the list of GPUs is no JSON object");
  if (const auto error = json.find("error"); error != json.end() && error->is_string()) {
    const bool not_found = json.value("not_found", Json()) == true;
    return MakeStatus(not_found ? absl::StatusCode::kNotFound : absl::StatusCode::kUnavailable,
                      error->get<std::string>());
  }
  const auto list = json.find("gpus");
  if (list == json.end() || !list->is_array()) return Internal("the list of GPUs has no \"gpus\"");
  std::vector<GpuReport> reports;
  for (const Json& entry : *list) {
    WARPSMITH_ASSIGN_OR_RETURN(GpuReport report, GpuReportFromJson(entry));
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace warpsmith::cuda
