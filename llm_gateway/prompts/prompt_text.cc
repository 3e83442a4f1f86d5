#include "llm_gateway/prompts/prompt_text.h"

#include <simdjson.h>

#include <array>
#include <atomic>
#include <mutex>
#include <utility>

#include "common/json.h"

namespace warpsmith::gateway {
namespace {

// What follows the backslash; 0: nothing needs one; 'u': the long form.
constexpr std::array<char, 256> kEscapes = [] {
  std::array<char, 256> escapes{};
  for (size_t c = 0; c < 0x20; ++c) escapes[c] = 'u';
  escapes['\b'] = 'b';
  escapes['\f'] = 'f';
  escapes['\n'] = 'n';
  escapes['\r'] = 'r';
  escapes['\t'] = 't';
  escapes['"'] = '"';
  escapes['\\'] = '\\';
  return escapes;
}();

}  // namespace

void AppendJsonText(std::string_view text, std::string& out) {
  if (!simdjson::validate_utf8(text.data(), text.size())) {
    const std::string quoted = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
    out.append(quoted, 1, quoted.size() - 2);
    return;
  }
  size_t plain = 0;  // from here on nothing has needed a backslash
  for (size_t at = 0; at < text.size(); ++at) {
    const auto c = static_cast<unsigned char>(text[at]);
    const char escape = kEscapes[c];
    if (escape == 0) continue;
    out.append(text, plain, at - plain);
    plain = at + 1;
    out += '\\';
    out += escape;
    if (escape == 'u') {
      constexpr char kDigits[] = "0123456789abcdef";
      out += "00";
      out += kDigits[c >> 4];
      out += kDigits[c & 15];
    }
  }
  out.append(text, plain);
}

struct PromptText::Shared {
  explicit Shared(std::string value) : text(std::move(value)) {}
  const std::string text;
  bool for_many = false;
  std::once_flag once;
  std::string json;                   // set once, for_many
  std::atomic<int64_t> measured{-1};  // -1: not yet
};

PromptText::PromptText(std::string text) {
  if (!text.empty()) shared_ = std::make_shared<Shared>(std::move(text));
}

PromptText PromptText::ForMany(std::string text) {
  PromptText made(std::move(text));
  if (made.shared_ != nullptr) made.shared_->for_many = true;
  return made;
}

const std::string& PromptText::str() const {
  static const std::string nothing;
  return shared_ == nullptr ? nothing : shared_->text;
}

void PromptText::AppendJson(std::string& out) const {
  if (shared_ == nullptr) return;
  if (!shared_->for_many) return AppendJsonText(shared_->text, out);
  std::call_once(shared_->once, [this] {
    shared_->json.reserve(shared_->text.size() + shared_->text.size() / 16);
    AppendJsonText(shared_->text, shared_->json);
  });
  out += shared_->json;
}

int64_t PromptText::Measured(int64_t (*measure)(std::string_view)) const {
  if (shared_ == nullptr) return measure({});
  int64_t measured = shared_->measured.load(std::memory_order_relaxed);
  if (measured < 0) {
    measured = measure(shared_->text);
    shared_->measured.store(measured, std::memory_order_relaxed);
  }
  return measured;
}

}  // namespace warpsmith::gateway
