// One exchange of the libcurl transport: its easy handle, its deadlines, and what has come so far.
// Threading: used by the transport's thread only. Errors end up in the HttpResult that the sink gets.
#ifndef WARPSMITH_LLM_GATEWAY_HTTP_CURL_TRANSFER_H_
#define WARPSMITH_LLM_GATEWAY_HTTP_CURL_TRANSFER_H_

#include <curl/curl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "llm_gateway/http/http_transport.h"

namespace warpsmith::gateway {

// A handle that has done its work, and what of its settings differs from transfer to transfer but seldom: for the like
// of it all others stay as they are.
struct SpareHandle {
  CURL* easy = nullptr;
  std::string method;
  std::string ca_file;
  std::string proxy;
  bool proxy_from_environment = false;
};

class CurlTransfer {
 public:
  // `spare`: to be used again; without a handle: a new one.
  CurlTransfer(uint64_t id, HttpRequest request, std::shared_ptr<HttpSink> sink, TimePoint now, SpareHandle spare = {});
  ~CurlTransfer();
  CurlTransfer(const CurlTransfer&) = delete;
  CurlTransfer& operator=(const CurlTransfer&) = delete;
  static CurlTransfer* Of(CURL* easy);

  uint64_t id() const { return id_; }
  // Null where the request cannot be sent; then FinishBy(kProtocol) says why.
  CURL* easy() const { return easy_; }
  // When to ask Overdue again: no deadline falls due before, whatever arrives until then. nullopt: none is set.
  std::optional<TimePoint> NextCheck(TimePoint now) const;
  // Which deadline is over, if one is.
  std::optional<HttpError> Overdue(TimePoint now) const;
  // The handle, once all is done with it; this has none any more.
  SpareHandle GiveBack();
  // Before the handle leaves the multi handle early: its connection shall go with it, so that the server learns of it.
  void GiveUp();
  // Tells the sink; call one of them once, after the handle has left the multi handle.
  void FinishByCurl(CURLcode code);
  void FinishBy(HttpError error);

 private:
  static size_t HeaderFunction(char* data, size_t size, size_t count, void* self);
  static size_t WriteFunction(char* data, size_t size, size_t count, void* self);
  bool Fits(const SpareHandle& spare) const;
  void Configure();
  void ConfigureThis();
  bool AddHeaders();
  void SetRoute();
  size_t TakeHeader(std::string_view line);
  bool TakeHeadersEnd();
  size_t TakeBody(std::string_view data);
  size_t Stop(HttpError error);
  bool Connected() const;
  HttpError ErrorOf(CURLcode code) const;
  std::string Describe(HttpError error) const;
  void Finish(HttpError error, std::string detail);

  const uint64_t id_;
  HttpRequest request_;
  std::shared_ptr<HttpSink> sink_;
  CURL* easy_ = nullptr;
  curl_slist* headers_ = nullptr;
  std::string unsendable_;  // why no request was made
  char error_buffer_[CURL_ERROR_SIZE] = {};
  HttpResult result_;
  TimePoint started_;
  TimePoint last_byte_;
  bool has_headers_ = false;  // of the final answer
  bool has_body_ = false;
  size_t header_bytes_ = 0;
  size_t body_bytes_ = 0;
  HttpError own_stop_ = HttpError::kNone;  // why a callback of ours told libcurl to stop
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_HTTP_CURL_TRANSFER_H_
