#include "gpu_worker/reference/oracle_json.h"

#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>

#include <optional>
#include <utility>

namespace warpsmith::reference {
namespace {

absl::Status Wrong(std::string_view what) {
  return Internal(fmt::format("the oracle's reply is not what it should be: {}", what));
}

absl::Status ParseMessage(const Json& json, google::protobuf::Message* message) {
  const auto status = google::protobuf::util::JsonStringToMessage(json.dump(), message);
  if (!status.ok()) return Wrong(status.ToString());
  return absl::OkStatus();
}

constexpr size_t kHandleBytes = 64;  // of a CUipcMemHandle

std::optional<int> HexDigit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return std::nullopt;
}

absl::StatusOr<std::string> HandleFromHex(const std::string& hex) {
  if (hex.size() != 2 * kHandleBytes) return Wrong("a handle that is not 64 bytes");
  std::string handle;
  for (size_t i = 0; i < hex.size(); i += 2) {
    const std::optional<int> high = HexDigit(hex[i]), low = HexDigit(hex[i + 1]);
    if (!high || !low) return Wrong("a handle that is not hexadecimal");
    handle.push_back(static_cast<char>(*high * 16 + *low));
  }
  return handle;
}

absl::StatusOr<SharedBuffer> PlaceFromJson(const Json& place) {
  SharedBuffer buffer;
  buffer.path = place.value("path", "");
  if (const std::string hex = place.value("ipc_handle", ""); !hex.empty()) {
    WARPSMITH_ASSIGN_OR_RETURN(buffer.ipc_handle, HandleFromHex(hex));
  }
  buffer.allocation_bytes = place.value("allocation_bytes", int64_t{0});
  buffer.payload_offset = place.value("payload_offset", int64_t{-1});
  buffer.payload_bytes = place.value("payload_bytes", int64_t{-1});
  if (buffer.path.empty() == buffer.ipc_handle.empty() || buffer.payload_offset < 0 || buffer.payload_bytes < 0) {
    return Wrong("a buffer without a place");
  }
  if (!buffer.ipc_handle.empty() && buffer.allocation_bytes < buffer.payload_offset + buffer.payload_bytes) {
    return Wrong("a buffer that is larger than its allocation");
  }
  return buffer;
}

}  // namespace

Json SettingsToJson(const v1::IntakeSettings& settings) {
  return {{"eval_mode", settings.eval_mode()},
          {"tolerance", settings.tolerance()},
          {"require_mutations", settings.require_mutations()}};
}

absl::StatusOr<Json> SignatureToJson(const v1::ProblemSignature& signature) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string text;
  const auto status = google::protobuf::util::MessageToJsonString(signature, &text, options);
  if (!status.ok()) return InvalidArgument(fmt::format("the problem's signature: {}", status.ToString()));
  return Json::parse(text, nullptr, false);
}

Json BuffersToJson(const v1::ExecutionPlan& plan) {
  Json buffers = Json::array();
  for (const v1::ExecutionBuffer& buffer : plan.buffers()) {
    buffers.push_back({{"name", buffer.name()},
                       {"dtype", buffer.dtype()},
                       {"bytes", buffer.bytes()},
                       {"kind", v1::BufferKind_Name(buffer.kind())},
                       {"persistent", buffer.persistent()}});
  }
  return buffers;
}

Json AcceptedToJson(const std::vector<v1::PrecisionClass>& accepted) {
  Json names = Json::array();
  for (const v1::PrecisionClass precision : accepted) names.push_back(v1::PrecisionClass_Name(precision));
  return names;
}

absl::StatusOr<v1::IntakeResult> IntakeFromJson(const Json& reply) {
  v1::IntakeResult result;
  if (!reply.contains("signature") || !reply.contains("baselines")) return Wrong("no signature or no baselines");
  const Json fields = {{"signature", reply["signature"]}, {"baselines", reply["baselines"]}};
  WARPSMITH_RETURN_IF_ERROR(ParseMessage(fields, &result));
  return result;
}

absl::StatusOr<std::vector<std::vector<SharedBuffer>>> PlacesFromJson(const Json& reply) {
  std::vector<std::vector<SharedBuffer>> slots;
  const auto found = reply.find("slots");
  if (found == reply.end() || !found->is_array()) return Wrong("no slots");
  for (const Json& slot : *found) {
    std::vector<SharedBuffer>& buffers = slots.emplace_back();
    for (const Json& place : slot) {
      WARPSMITH_ASSIGN_OR_RETURN(SharedBuffer buffer, PlaceFromJson(place));
      buffers.push_back(std::move(buffer));
    }
  }
  return slots;
}

absl::StatusOr<JudgeReport> ReportFromJson(const Json& reply) {
  JudgeReport report;
  if (!v1::Outcome_Parse(reply.value("outcome", ""), &report.outcome)) return Wrong("an unknown outcome");
  report.message = reply.value("message", "");
  report.output_digest = reply.value("output_digest", "");
  report.left_out = reply.value("left_out", false);
  WARPSMITH_RETURN_IF_ERROR(ParseMessage(reply.value("verdict", Json::object()), &report.verdict));
  if (const auto mismatch = reply.find("mismatch"); mismatch != reply.end() && mismatch->is_object()) {
    WARPSMITH_RETURN_IF_ERROR(ParseMessage(*mismatch, &report.mismatch));
  }
  return report;
}

absl::StatusOr<ReferenceTime> TimeFromJson(const Json& reply) {
  ReferenceTime time;
  time.median_ms = reply.value("median_ms", 0.0);
  time.spread = reply.value("spread", 0.0);
  time.samples = reply.value("samples", 0);
  if (const auto samples = reply.find("samples_ms"); samples != reply.end() && samples->is_array()) {
    for (const Json& sample : *samples) {
      if (sample.is_number()) time.samples_ms.push_back(sample.get<double>());
    }
  }
  if (!(time.median_ms > 0) || time.samples <= 0) return Wrong("no time");
  return time;
}

absl::StatusOr<v1::Baseline> BaselineFromJson(const Json& reply) {
  v1::Baseline baseline;
  WARPSMITH_RETURN_IF_ERROR(ParseMessage(reply.value("baseline", Json::object()), &baseline));
  if (baseline.name().empty()) return Wrong("no baseline");
  return baseline;
}

}  // namespace warpsmith::reference
