#include "llm_gateway/providers/reply_json.h"

namespace warpsmith::gateway {
namespace {

constexpr int kMaxReplyDepth = 64;

bool TooDeep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxReplyDepth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

const Json* Find(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

}  // namespace

Json ParseReply(std::string_view text) {
  if (TooDeep(text)) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, false);
}

std::string TextOf(const Json& object, const char* key) {
  const Json* found = Find(object, key);
  if (found == nullptr) return "";
  if (found->is_string()) return found->get<std::string>();
  if (found->is_number_integer()) return std::to_string(found->get<int64_t>());
  return "";
}

bool HasCount(const Json& object, const char* key) {
  const Json* found = Find(object, key);
  return found != nullptr && found->is_number() && found->get<double>() >= 0 && found->get<double>() < 1e15;
}

int64_t CountOf(const Json& object, const char* key) {
  return HasCount(object, key) ? static_cast<int64_t>(object[key].get<double>()) : 0;
}

const Json& Member(const Json& object, const char* key) {
  static const Json nothing = Json::object();
  const Json* found = Find(object, key);
  return found != nullptr && found->is_object() ? *found : nothing;
}

const Json& Items(const Json& object, const char* key) {
  static const Json nothing = Json::array();
  const Json* found = Find(object, key);
  return found != nullptr && found->is_array() ? *found : nothing;
}

}  // namespace warpsmith::gateway
