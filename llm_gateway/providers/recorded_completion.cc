#include "llm_gateway/providers/recorded_completion.h"

#include <fmt/format.h>

#include <string>
#include <type_traits>

namespace warpsmith::gateway {
namespace {

constexpr int kMaxDepth = 8;  // of earlier calls within earlier calls

// Calls visit(name, field) for each plain field, for writing and for reading alike.
template <typename CompletionType, typename Visit>
void VisitFields(CompletionType& completion, Visit visit) {
  visit("message", completion.message);
  visit("text", completion.text);
  visit("reasoning", completion.reasoning);
  visit("finish_reason", completion.finish_reason);
  visit("input", completion.usage.input);
  visit("cached_input", completion.usage.cached_input);
  visit("cache_write_5m", completion.usage.cache_write_5m);
  visit("cache_write_1h", completion.usage.cache_write_1h);
  visit("output", completion.usage.output);
  visit("reasoning_tokens", completion.usage.reasoning);
  visit("first_byte_seconds", completion.first_byte_seconds);
  visit("seconds", completion.seconds);
  visit("tries", completion.tries);
  visit("unreported_tries", completion.unreported_tries);
  visit("retry_after_seconds", completion.retry_after_seconds);
  visit("limit_requests", completion.server_limits.limit_requests);
  visit("limit_tokens", completion.server_limits.limit_tokens);
  visit("remaining_requests", completion.server_limits.remaining_requests);
  visit("remaining_tokens", completion.server_limits.remaining_tokens);
  visit("model", completion.model);
  visit("effort", completion.effort);
  visit("usd", completion.usd);
  visit("price_id", completion.price_id);
  visit("estimated", completion.estimated);
}

template <typename Field>
bool Fits(const Json& value) {
  if constexpr (std::is_same_v<Field, std::string>) {
    return value.is_string();
  } else if constexpr (std::is_same_v<Field, bool>) {
    return value.is_boolean();
  } else if constexpr (std::is_integral_v<Field>) {
    return value.is_number_integer();
  } else {
    return value.is_number();
  }
}

absl::Status ReadError(const Json& json, ErrorClass& error) {
  auto found = json.find("error");
  if (found == json.end()) return absl::OkStatus();
  for (int i = 0; found->is_string() && i <= static_cast<int>(ErrorClass::kNotRecorded); ++i) {
    if (Name(static_cast<ErrorClass>(i)) != found->get_ref<const std::string&>()) continue;
    error = static_cast<ErrorClass>(i);
    return absl::OkStatus();
  }
  return InvalidArgument(fmt::format("completion.error: {} is no kind of error", found->dump()));
}

absl::StatusOr<Completion> Read(const Json& json, int depth) {
  if (!json.is_object()) return InvalidArgument("completion: not an object");
  if (depth > kMaxDepth) return InvalidArgument("completion.earlier: nests too deep");
  Completion completion;
  WARPSMITH_RETURN_IF_ERROR(ReadError(json, completion.error));
  absl::Status status;
  VisitFields(completion, [&](const char* name, auto& field) {
    using Field = std::remove_reference_t<decltype(field)>;
    auto found = json.find(name);
    if (found == json.end()) return;
    if (Fits<Field>(*found)) {
      field = found->template get<Field>();
    } else {
      status = InvalidArgument(fmt::format("completion.{}: of the wrong type", name));
    }
  });
  WARPSMITH_RETURN_IF_ERROR(status);
  if (auto earlier = json.find("earlier"); earlier != json.end()) {
    if (!earlier->is_array()) return InvalidArgument("completion.earlier: not a list");
    for (const Json& item : *earlier) {
      WARPSMITH_ASSIGN_OR_RETURN(Completion call, Read(item, depth + 1));
      completion.earlier.push_back(std::move(call));
    }
  }
  return completion;
}

}  // namespace

Json CompletionToJson(const Completion& completion) {
  Json json = {{"error", std::string(Name(completion.error))}};
  VisitFields(completion, [&](const char* name, const auto& field) { json[name] = field; });
  for (const Completion& call : completion.earlier) json["earlier"].push_back(CompletionToJson(call));
  return json;
}

absl::StatusOr<Completion> CompletionFromJson(const Json& json) { return Read(json, 0); }

}  // namespace warpsmith::gateway
