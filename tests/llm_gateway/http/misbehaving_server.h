// Starts misbehaving_server.py, a fake, with certificates made by openssl for this run alone, and stops it with its
// owner. Threading: one thread.
#ifndef WARPSMITH_TESTS_LLM_GATEWAY_HTTP_MISBEHAVING_SERVER_H_
#define WARPSMITH_TESTS_LLM_GATEWAY_HTTP_MISBEHAVING_SERVER_H_

#include <memory>
#include <string>

#include "common/child_process.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/json.h"
#include "llm_gateway/http/curl_transport.h"

namespace warpsmith::gateway {

struct Answer {
  HttpResult result;
  std::string body;
  int headers_told = 0;
};

// Sends and gathers the answer. Without a total deadline it gets one of 30 s, so that no test hangs.
Answer Send(HttpTransport& transport, HttpRequest request, Cancellation* cancellation = nullptr);

class MisbehavingServer {
 public:
  MisbehavingServer();

  // The body names the behaviour too: the HTTP/2 listener goes by it. TLS requests trust the authority of this run.
  HttpRequest Request(const std::string& listener, const std::string& behaviour) const;
  std::string Port(const std::string& listener) const { return std::to_string(ports_[listener].get<int>()); }
  std::string Authority() const { return folder_.path() / "ca.pem"; }
  std::string Folder() const { return folder_.path(); }
  // How often it was seen so far: "connections", "requests" (by listener or behaviour), "gone" (the peer ended first).
  int Seen(const std::string& what, const std::string& key) const;
  // Waits until that is at least `least`, at most 10 s.
  bool WaitSeen(const std::string& what, const std::string& key, int least = 1) const;

 private:
  void MakeCertificates() const;

  TemporaryDirectory folder_;
  std::unique_ptr<ChildProcess> child_;
  Json ports_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_TESTS_LLM_GATEWAY_HTTP_MISBEHAVING_SERVER_H_
