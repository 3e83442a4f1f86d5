#include "llm_gateway/http/sse_parser.h"

#include <fmt/format.h>

namespace warpsmith::gateway {

absl::Status SseParser::Feed(std::string_view chunk) {
  if (failed_) return ResourceExhausted("the event stream has failed already");
  while (!chunk.empty()) {
    if (skip_newline_) {
      skip_newline_ = false;
      if (chunk.front() == '\n') chunk.remove_prefix(1);
      continue;
    }
    size_t end = chunk.find_first_of("\r\n");
    std::string_view piece = chunk.substr(0, end);
    if (partial_.size() + piece.size() + event_.data.size() > max_event_bytes_) {
      failed_ = true;
      return ResourceExhausted(fmt::format("an event is over {} bytes", max_event_bytes_));
    }
    if (end == chunk.npos) {
      partial_.append(piece);
      return absl::OkStatus();
    }
    skip_newline_ = chunk[end] == '\r';
    chunk.remove_prefix(end + 1);
    if (partial_.empty()) {
      WARPSMITH_RETURN_IF_ERROR(TakeLine(piece));
    } else {
      partial_.append(piece);
      std::string line = std::move(partial_);
      partial_.clear();
      WARPSMITH_RETURN_IF_ERROR(TakeLine(line));
    }
  }
  return absl::OkStatus();
}

absl::Status SseParser::Finish() {
  if (failed_) return ResourceExhausted("the event stream has failed already");
  std::string line = std::move(partial_);
  partial_.clear();
  if (!line.empty()) WARPSMITH_RETURN_IF_ERROR(TakeLine(line));
  Dispatch();
  return absl::OkStatus();
}

absl::Status SseParser::TakeLine(std::string_view line) {
  if (first_line_ && line.rfind("\xEF\xBB\xBF", 0) == 0) line.remove_prefix(3);
  first_line_ = false;
  if (line.empty()) {
    Dispatch();
    return absl::OkStatus();
  }
  size_t colon = line.find(':');
  std::string_view field = line.substr(0, colon);
  std::string_view value = colon == line.npos ? std::string_view() : line.substr(colon + 1);
  if (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  if (field == "data") {
    if (has_data_) event_.data += '\n';
    event_.data.append(value);
    has_data_ = true;
  } else if (field == "event") {
    event_.type = std::string(value);
  }
  return absl::OkStatus();  // comments (no field name), id, retry and unknown fields say nothing to us
}

void SseParser::Dispatch() {
  if (has_data_) callback_(event_);
  event_ = {};
  has_data_ = false;
}

}  // namespace warpsmith::gateway
