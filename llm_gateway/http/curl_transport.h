// HttpTransport by libcurl: a few event loops with a thread each, any number of exchanges in flight. An exchange that
// is started on a loop's thread runs there; others go to the loops in turn, each of which has connections of its own.
// HTTP/2 where a TLS server offers it, HTTP/1.1 elsewhere; connections are kept for the next exchange, one at a time on
// each. TLS certificates are always verified, redirects are not followed, nothing compressed is asked for or taken, and
// proxies named in the environment are used only where the request says so. Threading: as HttpTransport. The destructor
// ends every exchange with kCancelled and joins the threads.
#ifndef WARPSMITH_LLM_GATEWAY_HTTP_CURL_TRANSPORT_H_
#define WARPSMITH_LLM_GATEWAY_HTTP_CURL_TRANSPORT_H_

#include <atomic>
#include <memory>
#include <vector>

#include "llm_gateway/http/http_transport.h"

namespace warpsmith::gateway {

class CurlLoop;

class CurlTransport final : public HttpTransport {
 public:
  explicit CurlTransport(int loops = 1);
  ~CurlTransport() override;
  CurlTransport(const CurlTransport&) = delete;
  CurlTransport& operator=(const CurlTransport&) = delete;

  std::shared_ptr<HttpCall> Start(HttpRequest request, std::shared_ptr<HttpSink> sink) override;
  std::vector<EventLoop*> loops() override;

 private:
  std::vector<std::shared_ptr<CurlLoop>> loops_;
  std::atomic<size_t> next_{0};
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_HTTP_CURL_TRANSPORT_H_
