// One HTTP exchange at a time, streamed: what providers talk through, and what a test replaces.
// Threading: Start is safe from any thread. A sink's functions are called from one of the transport's own threads, the
// caller's if it is one, one after the other, must not block, and OnDone is the last of them, called exactly once.
// Cancel is safe from any thread and any time. Units: Durations; a deadline of zero is no deadline. Header names are
// lower case.
#ifndef WARPSMITH_LLM_GATEWAY_HTTP_HTTP_TRANSPORT_H_
#define WARPSMITH_LLM_GATEWAY_HTTP_HTTP_TRANSPORT_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/clock.h"
#include "llm_gateway/async/event_loop.h"
#include "llm_gateway/http/cancellation.h"

namespace warpsmith::gateway {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpDeadlines {
  Duration connect{};     // name look-up, connection, proxy, TLS; from the start
  Duration first_byte{};  // from the start to the first byte of the body
  Duration idle{};        // between bytes of the body
  Duration total{};       // from the start to the end
};

struct HttpRequest {
  std::string method = "POST";
  std::string url;
  HttpHeaders headers;
  std::string body;
  std::shared_ptr<const std::string> shared_body;  // instead of body: of several requests
  HttpDeadlines deadlines;
  size_t max_response_bytes = 32u << 20;
  std::string ca_file;                  // certificates to trust instead of the system's; empty: the system's
  std::string proxy;                    // "http://proxy:3128"; empty: none, or the environment's
  bool proxy_from_environment = false;  // https_proxy, http_proxy, no_proxy
  bool fresh_connection = false;        // none that exists: for a new try after a stall, which may be the connection's
};

enum class HttpError {
  kNone,  // an answer came, whatever its status
  kConnect,
  kTls,
  kConnectTimeout,
  kFirstByteTimeout,
  kIdleTimeout,
  kTotalTimeout,
  kCut,       // the connection ended before the answer did
  kTooLarge,  // body or headers over the cap
  kEncoding,  // compressed although that was not asked for
  kProtocol,  // not HTTP, or a URL that is none
  kAborted,   // the sink wanted no more
  kCancelled,
};

struct HttpResult {
  HttpError error = HttpError::kNone;
  std::string message;   // for people, where error is not kNone; holds no header and no body
  int status = 0;        // 0: none came
  int http_version = 0;  // 10, 11, 20; 0: not known
  HttpHeaders headers;
  double first_byte_seconds = 0;
  double seconds = 0;
};

class HttpSink {
 public:
  virtual ~HttpSink() = default;
  virtual void OnHeaders(int status, const HttpHeaders& headers) = 0;
  virtual bool OnData(std::string_view data) = 0;  // false: no more, please (kAborted)
  virtual void OnDone(const HttpResult& result) = 0;
};

class HttpCall {
 public:
  virtual ~HttpCall() = default;
  virtual void Cancel() = 0;
};

class HttpTransport {
 public:
  virtual ~HttpTransport() = default;
  virtual std::shared_ptr<HttpCall> Start(HttpRequest request, std::shared_ptr<HttpSink> sink) = 0;
  // Those on whose threads sinks are called; at least one.
  virtual std::vector<EventLoop*> loops() = 0;
  EventLoop& loop() { return *loops().front(); }
};

// Sends and waits for the end. The functions are called from a thread of the transport's, never after the return.
HttpResult SendAndWait(HttpTransport& transport, HttpRequest request,
                       std::function<void(int status, const HttpHeaders&)> on_headers,
                       std::function<bool(std::string_view)> on_data, Cancellation& cancellation);

// The last header of that (lower-case) name, or empty.
std::string FindHeader(const HttpHeaders& headers, std::string_view name);

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_HTTP_HTTP_TRANSPORT_H_
