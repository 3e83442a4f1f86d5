#include "llm_gateway/http/sse_parser.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpsmith::gateway {
namespace {

// Room that is kept from one event to the next: enough for nearly all, so that a long stream allocates nothing.
constexpr size_t kKeptBytes = 64u << 10;

void Empty(std::string& text) {
  if (text.capacity() > kKeptBytes) {
    text = std::string();
  } else {
    text.clear();
  }
}

}  // namespace

absl::Status SseParser::Feed(std::string_view chunk) {
  if (failed_) return ResourceExhausted("the event stream has failed already");
  if (skip_newline_ && !chunk.empty()) {
    skip_newline_ = false;
    if (chunk.front() == '\n') chunk.remove_prefix(1);
  }
  // Each kind of line end is looked for once over the chunk, however many of the other kind come first.
  size_t at = 0, next_feed = chunk.find('\n'), next_return = chunk.find('\r');
  while (at < chunk.size()) {
    if (next_feed != chunk.npos && next_feed < at) next_feed = chunk.find('\n', at);
    if (next_return != chunk.npos && next_return < at) next_return = chunk.find('\r', at);
    const size_t end = std::min(next_feed, next_return);
    const std::string_view piece = chunk.substr(at, end == chunk.npos ? end : end - at);
    if (partial_.size() + piece.size() + event_.data.size() + event_.type.size() > max_event_bytes_) return Fail();
    if (end == chunk.npos) {
      partial_.append(piece);
      break;
    }
    at = end + 1;
    if (chunk[end] == '\r') {
      if (at == chunk.size()) {
        skip_newline_ = true;
      } else if (chunk[at] == '\n') {
        ++at;
      }
    }
    if (partial_.empty()) {
      TakeLine(piece);
    } else {
      partial_.append(piece);
      TakeLine(partial_);
      Empty(partial_);
    }
  }
  return absl::OkStatus();
}

absl::Status SseParser::Finish() {
  if (failed_) return ResourceExhausted("the event stream has failed already");
  if (!partial_.empty()) TakeLine(partial_);
  Empty(partial_);
  Dispatch();
  return absl::OkStatus();
}

absl::Status SseParser::Fail() {
  failed_ = true;
  partial_ = std::string();
  event_ = {};
  return ResourceExhausted(fmt::format("an event is over {} bytes", max_event_bytes_));
}

void SseParser::TakeLine(std::string_view line) {
  if (first_line_ && line.rfind("\xEF\xBB\xBF", 0) == 0) line.remove_prefix(3);
  first_line_ = false;
  if (line.empty()) return Dispatch();
  size_t colon = line.find(':');
  std::string_view field = line.substr(0, colon);
  std::string_view value = colon == line.npos ? std::string_view() : line.substr(colon + 1);
  if (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  if (field == "data") {
    if (has_data_) event_.data += '\n';
    event_.data.append(value);
    has_data_ = true;
  } else if (field == "event") {
    event_.type.assign(value);
  }  // comments (no field name), id, retry and unknown fields say nothing to us
}

void SseParser::Dispatch() {
  if (has_data_) callback_(event_);
  Empty(event_.type);
  Empty(event_.data);
  has_data_ = false;
}

}  // namespace warpsmith::gateway
