#include "llm_gateway/http/curl_transport.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "llm_gateway/async/wait_point.h"
#include "tests/llm_gateway/http/misbehaving_server.h"

namespace warpsmith::gateway {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A FAKE server for one connection at a time: reads a request's head and answers with bytes as given, then closes or
// stalls.
class RawServer {
 public:
  explicit RawServer(std::string answer, Duration stall = {}) : answer_(std::move(answer)), stall_(stall) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(listen(listener_, 16) == 0);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~RawServer() {
    stop_ = true;
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  std::string Url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/x"; }
  std::string Received() {
    std::lock_guard lock(mutex_);
    return received_;
  }

 private:
  void Serve() {
    while (!stop_) {
      int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (connection < 0) return;
      std::string head;
      char chunk[4096];
      while (head.find("\r\n\r\n") == head.npos && head[0] != '\x16') {  // 0x16: TLS, which it does not speak
        ssize_t n = read(connection, chunk, sizeof chunk);
        if (n <= 0) break;
        head.append(chunk, static_cast<size_t>(n));
      }
      {
        std::lock_guard lock(mutex_);
        received_ += head;
      }
      for (size_t at = 0; at < answer_.size();) {
        ssize_t n = send(connection, answer_.data() + at, answer_.size() - at, MSG_NOSIGNAL);
        if (n <= 0) break;
        at += static_cast<size_t>(n);
      }
      TimePoint until = RealClock().Now() + stall_;
      while (!stop_ && RealClock().Now() < until) RealClock().SleepFor(milliseconds(5));
      close(connection);
    }
  }

  std::string answer_;
  Duration stall_;
  int listener_ = -1;
  int port_ = 0;
  std::mutex mutex_;
  std::string received_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

HttpRequest To(const std::string& url) {
  HttpRequest request;
  request.url = url;
  request.body = "the body";
  return request;
}

TEST_CASE("an exchange", "[http]") {
  CurlTransport transport;
  RawServer server(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nX-One:  a \r\nx-one: b\r\nContent-Length: 5\r\n\r\nhello");
  HttpRequest request = To(server.Url());
  request.headers = {{"Authorization", "Bearer k"}};
  Answer answer = Send(transport, request);
  CHECK(answer.result.error == HttpError::kNone);
  CHECK(answer.result.status == 200);
  CHECK(answer.body == "hello");
  CHECK(FindHeader(answer.result.headers, "x-one") == "b");
  CHECK(answer.result.first_byte_seconds > 0);
  CHECK(answer.result.seconds >= answer.result.first_byte_seconds);
  std::string head = server.Received();
  CHECK(head.find("POST /x HTTP/1.1") == 0);
  CHECK(head.find("Authorization: Bearer k") != head.npos);
  CHECK(head.find("Accept-Encoding: identity") != head.npos);
  CHECK(head.find("Content-Length: 8") != head.npos);
  CHECK(head.find("Expect") == head.npos);
}

TEST_CASE("each deadline by its name", "[http]") {
  CurlTransport transport;
  auto error = [&](const std::string& answer, HttpDeadlines deadlines) {
    RawServer server(answer, seconds(20));
    HttpRequest request = To(server.Url());
    request.deadlines = deadlines;
    TimePoint started = RealClock().Now();
    Answer got = Send(transport, request);
    CHECK(ToSeconds(RealClock().Now() - started) < 5);
    CHECK_FALSE(got.result.message.empty());
    return got.result.error;
  };
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n";
  CHECK(error("", {.first_byte = milliseconds(150), .total = seconds(15)}) == HttpError::kFirstByteTimeout);
  CHECK(error(head, {.first_byte = milliseconds(150), .total = seconds(15)}) == HttpError::kFirstByteTimeout);
  CHECK(error(head + "abc", {.first_byte = seconds(10), .idle = milliseconds(150), .total = seconds(15)}) ==
        HttpError::kIdleTimeout);
  CHECK(error(head + "abc", {.idle = seconds(10), .total = milliseconds(200)}) == HttpError::kTotalTimeout);
}

TEST_CASE("a server that takes no connection", "[http]") {
  CurlTransport transport;
  // A listener whose queue is full answers to nobody.
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0);
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  std::string url = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/";
  CHECK(Send(transport, To(url)).result.error == HttpError::kConnect);  // bound, not listening
  REQUIRE(listen(listener, 0) == 0);
  std::vector<int> fillers;
  for (int i = 0; i < 4; ++i) {
    fillers.push_back(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    (void)connect(fillers.back(), reinterpret_cast<sockaddr*>(&address), size);
  }
  HttpRequest request = To(url);
  request.deadlines.connect = milliseconds(200);
  Answer answer = Send(transport, request);
  CHECK(answer.result.error == HttpError::kConnectTimeout);
  CHECK(answer.result.seconds < 5);
  for (int filler : fillers) close(filler);
  close(listener);
}

TEST_CASE("answers that are wrong", "[http]") {
  CurlTransport transport;
  auto error = [&](const std::string& answer, size_t cap = 1 << 20) {
    RawServer server(answer);
    HttpRequest request = To(server.Url());
    request.max_response_bytes = cap;
    return Send(transport, request).result.error;
  };
  CHECK(error("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc") == HttpError::kCut);
  CHECK(error("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n") == HttpError::kCut);
  CHECK(error("") == HttpError::kCut);
  CHECK(error("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc") == HttpError::kEncoding);
  CHECK(error("HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n" + std::string(2000, 'x'), 1000) ==
        HttpError::kTooLarge);
  CHECK(error("HTTP/1.1 200 OK\r\nX: " + std::string(600000, 'x') + "\r\n\r\n") != HttpError::kNone);
  std::string many = "HTTP/1.1 200 OK\r\n";
  for (int i = 0; i < 20000; ++i) many += "X-Header: some value here\r\n";
  CHECK(error(many + "\r\n") == HttpError::kTooLarge);
  CHECK(error("this is not HTTP\r\n\r\n") == HttpError::kProtocol);
  CHECK(Send(transport, To("ftp://127.0.0.1/")).result.error == HttpError::kProtocol);
  CHECK(Send(transport, To("http://user:password@127.0.0.1/")).result.error == HttpError::kProtocol);
  CHECK(Send(transport, To("http://no-such-host.invalid/")).result.error == HttpError::kConnect);
  RawServer plain("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  std::string tls = plain.Url();
  CHECK(Send(transport, To(tls.replace(0, 4, "https"))).result.error == HttpError::kTls);
}

TEST_CASE("redirects are not followed", "[http]") {
  CurlTransport transport;
  RawServer target("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  RawServer server("HTTP/1.1 302 Found\r\nLocation: " + target.Url() + "\r\nContent-Length: 0\r\n\r\n");
  Answer answer = Send(transport, To(server.Url()));
  CHECK(answer.result.status == 302);
  CHECK(target.Received().empty());
}

TEST_CASE("a proxy of the environment is used only where that is asked for", "[http]") {
  CurlTransport transport;
  RawServer proxy("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nproxy"),
      server("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nserver");
  setenv("http_proxy", proxy.Url().c_str(), 1);
  HttpRequest request = To(server.Url());
  CHECK(Send(transport, request).body == "server");
  request.proxy_from_environment = true;
  CHECK(Send(transport, request).body == "proxy");
  unsetenv("http_proxy");
}

TEST_CASE("an exchange knows nothing of the one before it", "[http]") {
  CurlTransport transport;
  RawServer proxy("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nproxy"),
      server("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nserver");
  size_t before = 0;
  const auto head = [&] {
    const std::string all = server.Received();
    return all.substr(std::exchange(before, all.size()));
  };
  HttpRequest first = To(server.Url());
  first.headers = {{"X-Mine", "one"}};
  for (int i = 0; i < 2; ++i) {
    CHECK(Send(transport, first).body == "server");
    CHECK(head().find("X-Mine: one") != std::string::npos);
  }
  HttpRequest plain = To(server.Url());
  plain.body.clear();
  CHECK(Send(transport, plain).body == "server");
  std::string second = head();
  CHECK(second.find("X-Mine") == second.npos);
  CHECK(second.find("Content-Length: 0") != second.npos);
  HttpRequest get = plain;
  get.method = "GET";
  CHECK(Send(transport, get).body == "server");
  CHECK(head().find("GET /x") == 0);
  HttpRequest by_proxy = To(server.Url());
  by_proxy.proxy = proxy.Url();
  CHECK(Send(transport, by_proxy).body == "proxy");
  HttpRequest remove = To(server.Url());
  remove.method = "DELETE";
  CHECK(Send(transport, remove).body == "server");
  CHECK(head().find("DELETE /x") == 0);
  HttpRequest trusting = To(server.Url());
  trusting.ca_file = "/nowhere/ca.pem";  // not looked at without TLS
  CHECK(Send(transport, trusting).body == "server");
  CHECK(Send(transport, To(server.Url())).body == "server");
  CHECK(head().find("POST /x") == 0);
}

TEST_CASE("several loops: an exchange runs on the loop that starts it, others in turn", "[http]") {
  CurlTransport transport(3);
  RawServer server("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nserver");
  std::mutex mutex;
  std::set<std::thread::id> seen;
  for (int i = 0; i < 6; ++i) {
    Cancellation cancellation;
    const HttpResult result = SendAndWait(
        transport, To(server.Url()),
        [&](int, const HttpHeaders&) {
          std::lock_guard lock(mutex);
          seen.insert(std::this_thread::get_id());
        },
        [](std::string_view) { return true; }, cancellation);
    CHECK(result.status == 200);
  }
  CHECK(seen.size() == 3);
  class Sink final : public HttpSink {
   public:
    void OnHeaders(int, const HttpHeaders&) override {}
    bool OnData(std::string_view) override { return true; }
    void OnDone(const HttpResult& result) override {
      status = result.status;
      thread = std::this_thread::get_id();
      done.Notify();
    }
    int status = 0;
    std::thread::id thread;
    WaitPoint done;
  };
  for (EventLoop* loop : transport.loops()) {
    auto sink = std::make_shared<Sink>();
    std::thread::id own;
    loop->Post([&] {
      own = std::this_thread::get_id();
      transport.Start(To(server.Url()), sink);
    });
    sink->done.Wait();
    CHECK(sink->status == 200);
    CHECK(sink->thread == own);
  }
}

TEST_CASE("cancellation reaches the socket at once, and the end of the transport ends everything", "[http]") {
  RawServer server("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc", seconds(20));
  auto transport = std::make_unique<CurlTransport>();
  Cancellation cancellation;
  std::thread canceller([&] {
    RealClock().SleepFor(milliseconds(150));
    cancellation.Cancel();
  });
  TimePoint started = RealClock().Now();
  Answer answer = Send(*transport, To(server.Url()), &cancellation);
  canceller.join();
  CHECK(answer.result.error == HttpError::kCancelled);
  CHECK(ToSeconds(RealClock().Now() - started) < 3);

  Cancellation already;
  already.Cancel();
  CHECK(Send(*transport, To(server.Url()), &already).result.error == HttpError::kCancelled);

  RawServer other("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc", seconds(20));
  HttpResult last;
  std::thread waiter([&last, &other, &running = *transport] { last = Send(running, To(other.Url())).result; });
  for (int i = 0; i < 2000 && other.Received().empty(); ++i) RealClock().SleepFor(milliseconds(5));
  transport.reset();
  waiter.join();
  CHECK(last.error == HttpError::kCancelled);
}

TEST_CASE("a sink that wants no more ends the exchange", "[http]") {
  CurlTransport transport;
  RawServer server("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc", seconds(20));
  Cancellation cancellation;
  HttpRequest request = To(server.Url());
  request.deadlines.total = seconds(15);
  HttpResult result = SendAndWait(
      transport, request, [](int, const HttpHeaders&) {}, [](std::string_view) { return false; }, cancellation);
  CHECK(result.error == HttpError::kAborted);
}

}  // namespace
}  // namespace warpsmith::gateway
