// Server-sent events, parsed as they arrive: any chunk boundary, LF, CR LF or CR, comments, several data lines, a byte
// order mark. A parser is fed until its stream ends; an event over the cap ends it with an error.
// Work is linear in what is fed, however it is cut; memory is bounded by the cap; in the steady state nothing is
// allocated. Threading: one thread. Units: bytes. Source of the method: the HTML standard's "text/event-stream".
#ifndef WARPSMITH_LLM_GATEWAY_HTTP_SSE_PARSER_H_
#define WARPSMITH_LLM_GATEWAY_HTTP_SSE_PARSER_H_

#include <functional>
#include <string>
#include <string_view>

#include "common/status.h"

namespace warpsmith::gateway {

struct SseEvent {
  std::string type;  // empty: "message"
  std::string data;  // data lines joined by newlines
};

class SseParser {
 public:
  using Callback = std::function<void(const SseEvent&)>;
  explicit SseParser(Callback callback, size_t max_event_bytes = 1u << 20)
      : callback_(std::move(callback)), max_event_bytes_(max_event_bytes) {}

  // ResourceExhausted above the cap; the parser takes nothing more after that.
  absl::Status Feed(std::string_view chunk);
  // At the end of the stream: an event whose last blank line is missing is delivered too (servers leave it out).
  absl::Status Finish();

 private:
  absl::Status Fail();
  void TakeLine(std::string_view line);
  void Dispatch();

  Callback callback_;
  size_t max_event_bytes_;
  std::string partial_;  // a line whose end has not come
  SseEvent event_;
  bool has_data_ = false;
  bool skip_newline_ = false;  // the last chunk ended in CR: an LF now belongs to it
  bool first_line_ = true;
  bool failed_ = false;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_HTTP_SSE_PARSER_H_
