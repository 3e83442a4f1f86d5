#include "llm_gateway/providers/request_body.h"

#include <utility>

namespace warpsmith::gateway {
namespace {

constexpr size_t kRoomForTheRest = 256;  // roles, brackets, quotes

}  // namespace

RequestBody::RequestBody(Json fields, std::initializer_list<const char*> written, size_t text_bytes) {
  for (const char* key : written) fields.erase(key);
  const std::string start = fields.dump(-1, ' ', false, Json::error_handler_t::replace);
  // Code needs about one escape in twenty-five bytes.
  text_.reserve(start.size() + text_bytes + text_bytes / 16 + kRoomForTheRest);
  text_.assign(start, 0, start.size() - 1);
}

void RequestBody::Key(const char* key) {
  if (text_.size() > 1) text_ += ',';
  Word(key);
  text_ += ':';
}

void RequestBody::String(const std::vector<const PromptText*>& texts) {
  text_ += '"';
  bool first = true;
  for (const PromptText* text : texts) {
    if (!std::exchange(first, false)) text_ += "\\n\\n";
    text->AppendJson(text_);
  }
  text_ += '"';
}

void RequestBody::Word(std::string_view word) {
  text_ += '"';
  AppendJsonText(word, text_);
  text_ += '"';
}

std::string RequestBody::Finish() {
  text_ += '}';
  return std::move(text_);
}

size_t TextBytes(const PromptRequest& request) {
  size_t bytes = 0;
  for (const PromptMessage& message : request.messages) bytes += message.text.size();
  return bytes;
}

std::vector<const PromptText*> TextsOf(const PromptRequest& request, std::string_view role) {
  std::vector<const PromptText*> texts;
  for (const PromptMessage& message : request.messages) {
    if (message.role == role && !message.text.empty()) texts.push_back(&message.text);
  }
  return texts;
}

}  // namespace warpsmith::gateway
