// HttpTransport by libcurl: one multi handle driven by one thread of its own, any number of exchanges in flight. HTTP/2
// where a TLS server offers it, HTTP/1.1 elsewhere; connections are kept for the next exchange, one at a time on each.
// TLS certificates are always verified, redirects are not followed, nothing compressed is asked for or taken, and
// proxies named in the environment are used only where the request says so. Threading: as HttpTransport. The destructor
// ends every exchange with kCancelled and joins the thread.
#ifndef WARPSMITH_LLM_GATEWAY_HTTP_CURL_TRANSPORT_H_
#define WARPSMITH_LLM_GATEWAY_HTTP_CURL_TRANSPORT_H_

#include <memory>

#include "llm_gateway/http/http_transport.h"

namespace warpsmith::gateway {

class CurlLoop;

class CurlTransport final : public HttpTransport {
 public:
  CurlTransport();
  ~CurlTransport() override;
  CurlTransport(const CurlTransport&) = delete;
  CurlTransport& operator=(const CurlTransport&) = delete;

  std::shared_ptr<HttpCall> Start(HttpRequest request, std::shared_ptr<HttpSink> sink) override;
  EventLoop& loop() override;

 private:
  std::shared_ptr<CurlLoop> loop_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_HTTP_CURL_TRANSPORT_H_
