// One exchange of the libcurl transport: its easy handle, its deadlines, and what has come so far.
// Threading: used by the transport's thread only. Errors end up in the HttpResult that the sink gets.
#ifndef WARPSMITH_LLM_GATEWAY_HTTP_CURL_TRANSFER_H_
#define WARPSMITH_LLM_GATEWAY_HTTP_CURL_TRANSFER_H_

#include <curl/curl.h>

#include <memory>
#include <optional>
#include <string>

#include "llm_gateway/http/http_transport.h"

namespace warpsmith::gateway {

class CurlTransfer {
 public:
  CurlTransfer(HttpRequest request, std::shared_ptr<HttpSink> sink, TimePoint now);
  ~CurlTransfer();
  CurlTransfer(const CurlTransfer&) = delete;
  CurlTransfer& operator=(const CurlTransfer&) = delete;

  CURL* easy() const { return easy_; }
  // The instant at which a deadline falls due unless something arrives first; nullopt: no deadline is set.
  std::optional<TimePoint> NextDeadline() const;
  // Which deadline is over, if one is.
  std::optional<HttpError> Overdue(TimePoint now) const;
  // Tells the sink; call it once, after the handle has left the multi handle.
  void FinishByCurl(CURLcode code);
  void FinishBy(HttpError error);

 private:
  static size_t HeaderFunction(char* data, size_t size, size_t count, void* self);
  static size_t WriteFunction(char* data, size_t size, size_t count, void* self);
  void Configure();
  size_t TakeHeader(std::string_view line);
  size_t TakeBody(std::string_view data);
  bool Connected() const;
  HttpError ErrorOf(CURLcode code) const;
  void Finish(HttpError error, std::string detail);

  HttpRequest request_;
  std::shared_ptr<HttpSink> sink_;
  CURL* easy_ = nullptr;
  curl_slist* headers_ = nullptr;
  char error_buffer_[CURL_ERROR_SIZE] = {};
  HttpResult result_;
  TimePoint started_;
  TimePoint last_byte_;
  bool has_body_ = false;
  size_t header_bytes_ = 0;
  size_t body_bytes_ = 0;
  HttpError own_stop_ = HttpError::kNone;  // why a callback of ours told libcurl to stop
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_HTTP_CURL_TRANSFER_H_
