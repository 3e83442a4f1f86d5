// Many exchanges at once, HTTP/2, and what reaches the server when one is given up.
#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "llm_gateway/http/sse_parser.h"
#include "tests/llm_gateway/http/misbehaving_server.h"

namespace warpsmith::gateway {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Parses an event stream and counts; knows when all of its kind have ended.
struct Streams {
  std::mutex mutex;
  std::condition_variable changed;
  int ended = 0;
  std::vector<HttpResult> results;
  std::vector<int> versions;

  bool Wait(int number) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, seconds(60), [&] { return ended == number; });
  }
};

class StreamSink final : public HttpSink {
 public:
  explicit StreamSink(Streams& streams) : streams_(streams) {}
  void OnHeaders(int, const HttpHeaders&) override {}
  bool OnData(std::string_view data) override { return parser_.Feed(data).ok(); }
  void OnDone(const HttpResult& result) override {
    std::lock_guard lock(streams_.mutex);
    if (result.error == HttpError::kNone) whole_ = parser_.Finish().ok() && events_ == 21 && last_ == "[DONE]";
    ++streams_.ended;
    streams_.results.push_back(result);
    streams_.changed.notify_all();
  }
  bool whole() const { return whole_; }

 private:
  Streams& streams_;
  int events_ = 0;
  bool whole_ = false;
  std::string last_;
  SseParser parser_{[this](const SseEvent& event) {
    ++events_;
    last_ = event.data;
  }};
};

int WholeOf(const MisbehavingServer& server, const std::string& listener, int number, int* version) {
  CurlTransport transport;
  Streams streams;
  std::vector<std::shared_ptr<StreamSink>> sinks;
  std::vector<std::shared_ptr<HttpCall>> calls;
  for (int i = 0; i < number; ++i) {
    HttpRequest request = server.Request(listener, "events");
    request.deadlines = {.connect = seconds(20), .first_byte = seconds(30), .idle = seconds(20), .total = seconds(40)};
    sinks.push_back(std::make_shared<StreamSink>(streams));
    calls.push_back(transport.Start(std::move(request), sinks.back()));
  }
  REQUIRE(streams.Wait(number));
  int whole = 0;
  for (const auto& sink : sinks) whole += sink->whole();
  for (const HttpResult& result : streams.results) {
    if (result.error != HttpError::kNone) UNSCOPED_INFO(result.message);
    *version = result.http_version;
  }
  return whole;
}

TEST_CASE("200 streams at once, each whole", "[http]") {
  MisbehavingServer server;
  int version = 0;
  CHECK(WholeOf(server, "plain", 200, &version) == 200);
  CHECK(version == 11);
  CHECK(WholeOf(server, "tls", 200, &version) == 200);
  CHECK(version == 11);
  CHECK(WholeOf(server, "h2", 200, &version) == 200);
  CHECK(version == 20);
  CHECK(server.Seen("requests", "events") == 600);
  CHECK(server.Seen("connections", "h2") <= 200);
}

TEST_CASE("a server that does not say which HTTP it speaks makes nobody wait for somebody else's answer", "[http]") {
  MisbehavingServer server;
  CurlTransport transport;
  for (const char* listener : {"tls_mute", "tls", "plain"}) {
    INFO(listener);
    Cancellation cancellation;
    std::thread slow([&] { Send(transport, server.Request(listener, "stall_before_headers"), &cancellation); });
    CHECK(server.WaitSeen("requests", listener));
    Answer answer = Send(transport, server.Request(listener, "ok"));
    CHECK(answer.body == "hello");
    CHECK(answer.result.seconds < 5);
    cancellation.Cancel();
    slow.join();
  }
}

TEST_CASE("misbehaviour over HTTP/2 ends as what it is", "[http]") {
  MisbehavingServer server;
  CurlTransport transport;
  auto send = [&](const std::string& behaviour, HttpDeadlines deadlines = {}) {
    HttpRequest request = server.Request("h2", behaviour);
    request.deadlines = deadlines;
    Answer answer = Send(transport, request);
    UNSCOPED_INFO(behaviour << ": " << answer.result.message);
    CHECK(answer.result.seconds < 20);
    return answer;
  };
  Answer answer = send("ok");
  CHECK(answer.body == "hello");
  CHECK(answer.result.http_version == 20);
  const HttpDeadlines first_byte = {.first_byte = seconds(1)}, idle = {.idle = milliseconds(500)};
  CHECK(send("stall_before_headers", first_byte).result.error == HttpError::kFirstByteTimeout);
  CHECK(send("stall_before_body", first_byte).result.error == HttpError::kFirstByteTimeout);
  answer = send("stall_in_body", idle);
  CHECK(answer.result.error == HttpError::kIdleTimeout);
  CHECK(answer.body == "0123456789");
  CHECK(send("drip_body", {.total = seconds(1)}).result.error == HttpError::kTotalTimeout);
  CHECK(send("reset_before_headers").result.error == HttpError::kCut);
  CHECK(send("reset_in_body").result.error == HttpError::kCut);
  CHECK(send("length_too_long").result.error == HttpError::kCut);
  CHECK(send("gzip").result.error == HttpError::kEncoding);
  CHECK(send("huge").result.error == HttpError::kTooLarge);
  for (const char* behaviour : {"stall_before_headers", "stall_before_body", "stall_in_body", "drip_body"}) {
    INFO(behaviour);
    CHECK(server.WaitSeen("gone", behaviour));
  }
  HttpRequest early = server.Request("h2", "early");
  early.body += std::string(8 << 20, 'b');
  answer = Send(transport, early);  // libcurl before 8 may see the end of the stream before the answer in it
  CHECK((answer.result.status == 413 || answer.result.error == HttpError::kCut));
  for (const char* behaviour : {"header_flood", "cut_in_body", "goaway", "garbage"}) {
    CHECK(send(behaviour).result.error != HttpError::kNone);
    CHECK(send("ok").body == "hello");  // over a new connection where that one is done for
  }
}

TEST_CASE("one HTTP/2 exchange's end is not its neighbours'", "[http]") {
  MisbehavingServer server;
  CurlTransport transport;
  Cancellation neighbour_over;
  Answer neighbour;
  std::thread caller([&] { neighbour = Send(transport, server.Request("h2", "stall_in_body"), &neighbour_over); });
  CHECK(server.WaitSeen("requests", "stall_in_body"));
  // However one ends, the server learns of it at once, although the neighbour says nothing.
  for (const std::string behaviour : {"stall_before_headers", "stall_before_body", "drip_body", "gzip", "huge"}) {
    INFO(behaviour);
    HttpRequest request = server.Request("h2", behaviour);
    request.deadlines.total = behaviour == "huge" ? seconds(20) : milliseconds(1000);
    CHECK(Send(transport, request).result.error != HttpError::kNone);
    CHECK(server.WaitSeen("gone", behaviour));
  }
  CHECK(Send(transport, server.Request("h2", "reset_in_body")).result.error == HttpError::kCut);
  CHECK(Send(transport, server.Request("h2", "ok")).body == "hello");
  CHECK(server.Seen("gone", "stall_in_body") == 0);
  neighbour_over.Cancel();
  caller.join();
  CHECK(neighbour.body == "0123456789");
  CHECK(server.WaitSeen("gone", "stall_in_body"));
}

// The fake speaks HTTP/2 by what its author knows; this one was written by others (Debian: nghttp2-server).
TEST_CASE("HTTP/2 with a server that is no fake", "[http]") {
  MisbehavingServer certificates;
  const std::string file = certificates.Folder() + "/answer.txt", body(300'000, 'n');
  REQUIRE(WriteFileAtomically(file, body).ok());
  CurlTransport transport;
  for (int attempt = 0; attempt < 5; ++attempt) {  // another may take the port first
    const std::string port = std::to_string(20000 + (getpid() * 7 + attempt * 1009) % 20000);
    ChildOptions options;
    options.arguments = {"nghttpd",
                         "--address=127.0.0.1",
                         "-d",
                         certificates.Folder(),
                         port,
                         certificates.Folder() + "/key.pem",
                         certificates.Folder() + "/good.pem"};
    auto child = ChildProcess::Start(options);
    if (!child.ok()) {
      WARN("nghttpd is not installed: not tested");
      return;
    }
    HttpRequest request;
    request.method = "GET";
    request.url = "https://127.0.0.1:" + port + "/answer.txt";
    request.ca_file = certificates.Authority();
    Answer answer;
    do {
      RealClock().SleepFor(milliseconds(50));
      answer = Send(transport, request);
    } while (answer.result.error == HttpError::kConnect && (*child)->Running());
    if (answer.result.error == HttpError::kConnect) continue;
    INFO(answer.result.message);
    CHECK(answer.result.error == HttpError::kNone);
    CHECK(answer.result.http_version == 20);
    CHECK(answer.body == body);
    std::vector<Answer> answers(50);
    std::vector<std::thread> threads;
    for (Answer& each : answers) threads.emplace_back([&] { each = Send(transport, request); });
    for (std::thread& thread : threads) thread.join();
    int whole = 0;
    for (const Answer& each : answers) whole += each.body == body;
    CHECK(whole == 50);
    request.url += ".missing";
    CHECK(Send(transport, request).result.status == 404);
    return;
  }
  FAIL("nghttpd found no port");
}

TEST_CASE("cancellation reaches the server", "[http]") {
  MisbehavingServer server;
  CurlTransport transport;
  for (const char* listener : {"plain", "tls", "h2"}) {
    for (const char* behaviour : {"stall_before_headers", "stall_in_body"}) {
      INFO(listener << ": " << behaviour);
      const int before = server.Seen("gone", behaviour);
      const int asked = server.Seen("requests", behaviour);
      Cancellation cancellation;
      Answer answer;
      std::thread caller([&] { answer = Send(transport, server.Request(listener, behaviour), &cancellation); });
      CHECK(server.WaitSeen("requests", behaviour, asked + 1));
      cancellation.Cancel();
      caller.join();
      CHECK(answer.result.error == HttpError::kCancelled);
      CHECK(server.WaitSeen("gone", behaviour, before + 1));
    }
  }
}

TEST_CASE("exchanges that only wait cost nothing", "[http]") {
  MisbehavingServer server;
  auto transport = std::make_unique<CurlTransport>();
  Streams streams;
  std::vector<std::shared_ptr<HttpCall>> calls;
  for (int i = 0; i < 200; ++i) {
    HttpRequest request = server.Request("plain", "stall_in_body");
    request.deadlines = {.first_byte = seconds(60), .idle = seconds(60), .total = seconds(90)};
    calls.push_back(transport->Start(std::move(request), std::make_shared<StreamSink>(streams)));
  }
  CHECK(server.WaitSeen("requests", "stall_in_body", 200));
  RealClock().SleepFor(milliseconds(200));
  auto processor_seconds = [] {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + 1e-6 * (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  };
  const double before = processor_seconds();
  RealClock().SleepFor(seconds(1));
  CHECK(processor_seconds() - before < 0.1);
  transport.reset();
  CHECK(streams.Wait(200));
  for (const HttpResult& result : streams.results) CHECK(result.error == HttpError::kCancelled);
}

}  // namespace
}  // namespace warpsmith::gateway
