// What each misbehaviour of a server must end as, over real sockets, plain and over TLS.
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "llm_gateway/http/sse_parser.h"
#include "tests/llm_gateway/http/misbehaving_server.h"

namespace warpsmith::gateway {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Case {
  std::string behaviour;
  HttpError error;
  HttpDeadlines deadlines = {};
  int status = 0;
  std::string body = "";
  bool any_body = false;
};

const HttpDeadlines kFirstByte = {.first_byte = milliseconds(1500), .idle = seconds(20)};
const HttpDeadlines kIdle = {.first_byte = seconds(20), .idle = milliseconds(600)};
const HttpDeadlines kTotal = {.idle = seconds(20), .total = seconds(2)};

// Alike over plain HTTP/1.1 and TLS.
std::vector<Case> Cases() {
  const std::string ten = "0123456789";
  return {
      {"ok", HttpError::kNone, {}, 200, "hello"},
      {"stall_before_headers", HttpError::kFirstByteTimeout, kFirstByte},
      {"stall_in_headers", HttpError::kFirstByteTimeout, kFirstByte},
      {"stall_before_body", HttpError::kFirstByteTimeout, kFirstByte, 200},
      {"stall_in_body", HttpError::kIdleTimeout, kIdle, 200, ten},
      {"drip_headers", HttpError::kTotalTimeout, kTotal},
      {"drip_body", HttpError::kTotalTimeout, kTotal, 200, "", true},
      {"drip_comments", HttpError::kTotalTimeout, kTotal, 200, "", true},
      {"cut_before_headers", HttpError::kCut},
      {"reset_before_headers", HttpError::kCut},
      {"cut_in_body", HttpError::kCut, {}, 200, ten},
      {"reset_in_body", HttpError::kCut, {}, 200, ten},
      {"cut_in_chunk", HttpError::kCut, {}, 200, "01234"},
      {"cut_between_chunks", HttpError::kCut, {}, 200, ten},
      {"half_json", HttpError::kNone, {}, 200, "{\"choices\": [{\"message\": {\"content\": \"half"},
      {"half_json_cut", HttpError::kCut, {}, 200, "{\"choices\": [{\"message\": {\"content\": \"half"},
      {"length_too_small", HttpError::kNone, {}, 200, ten},  // what is over is dropped, and the connection with it
      {"length_no_number", HttpError::kProtocol},
      {"length_negative", HttpError::kProtocol},
      {"redirect_302", HttpError::kNone, {}, 302},
      {"redirect_308", HttpError::kNone, {}, 308},
      {"gzip", HttpError::kEncoding, {}, 200},
      {"huge", HttpError::kTooLarge, {}, 200, "", true},
      {"endless", HttpError::kTooLarge, {}, 200, "", true},
      {"header_flood", HttpError::kTooLarge, {}, 200},
      {"header_line", HttpError::kTooLarge, {}, 200},
      {"interim_flood", HttpError::kTooLarge, {}, 100},
      {"interim", HttpError::kNone, {}, 200, ten},
      {"trailers", HttpError::kNone, {}, 200, ten},
      {"not_http", HttpError::kProtocol},
      {"bare_body", HttpError::kProtocol},
  };
}

void CheckAll(const MisbehavingServer& server, const std::string& listener) {
  CurlTransport transport;
  std::vector<Case> cases = Cases();
  std::vector<Answer> answers(cases.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < cases.size(); ++i) {
    threads.emplace_back([&, i] {
      HttpRequest request = server.Request(listener, cases[i].behaviour);
      request.deadlines = cases[i].deadlines;
      answers[i] = Send(transport, request);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < cases.size(); ++i) {
    const Case& expected = cases[i];
    const Answer& answer = answers[i];
    INFO(listener << ": " << expected.behaviour << ": " << answer.result.message);
    CHECK(answer.result.error == expected.error);
    if (expected.status != 0) CHECK(answer.result.status == expected.status);
    if (!expected.any_body) CHECK(answer.body == expected.body);
    CHECK(answer.result.message.empty() == (expected.error == HttpError::kNone));
    CHECK(answer.headers_told <= 1);
    CHECK(answer.result.seconds < 20);
    if (expected.behaviour == "trailers") CHECK(FindHeader(answer.result.headers, "x-one") == "head");
  }
}

TEST_CASE("each misbehaviour ends as what it is", "[http]") {
  MisbehavingServer server;
  CheckAll(server, "plain");
  CheckAll(server, "tls");
  CHECK(server.Seen("requests", "target") == 0);  // redirects
  // What did not come in time is not waited for: the server sees the connection go.
  for (const char* behaviour : {"stall_before_headers", "stall_in_headers", "stall_before_body", "stall_in_body",
                                "drip_headers", "drip_body", "endless", "header_flood"}) {
    INFO(behaviour);
    CHECK(server.WaitSeen("gone", behaviour, 2));
  }
}

TEST_CASE("a body without a length ends with its connection", "[http]") {
  MisbehavingServer server;
  CurlTransport transport;
  CHECK(Send(transport, server.Request("plain", "until_close")).result.error == HttpError::kNone);
  // Ends, whatever it ends as: headers without their end, chunks without lengths, a change of protocol unasked for.
  for (const char* behaviour : {"cut_in_headers", "chunk_no_number", "switching"}) {
    INFO(behaviour);
    Answer answer = Send(transport, server.Request("plain", behaviour));
    CHECK((answer.result.error != HttpError::kNone || answer.result.status == 101 || answer.body.empty()));
    CHECK(answer.result.seconds < 20);
  }
}

TEST_CASE("a connection is used again after a whole answer and never after another", "[http]") {
  MisbehavingServer server;
  CurlTransport transport;
  for (int i = 0; i < 5; ++i) CHECK(Send(transport, server.Request("tls", "ok")).body == "hello");
  CHECK(server.Seen("connections", "tls") == 1);
  CHECK(Send(transport, server.Request("tls", "length_too_small")).body == "0123456789");
  CHECK(Send(transport, server.Request("tls", "ok")).body == "hello");
  CHECK(server.Seen("connections", "tls") == 2);
  HttpRequest fresh = server.Request("tls", "ok");
  fresh.fresh_connection = true;
  CHECK(Send(transport, fresh).body == "hello");
  CHECK(server.Seen("connections", "tls") == 3);
}

TEST_CASE("an answer that comes before the body is sent counts", "[http]") {
  MisbehavingServer server;
  CurlTransport transport;
  for (const char* listener : {"plain", "tls"}) {
    HttpRequest request = server.Request(listener, "early");
    request.body += std::string(8 << 20, 'b');
    Answer answer = Send(transport, request);
    INFO(listener << ": " << answer.result.message);
    CHECK(answer.result.error == HttpError::kNone);
    CHECK(answer.result.status == 413);
    CHECK(answer.body == "too large");
    HttpRequest whole = server.Request(listener, "early_continues");
    whole.body += std::string(8 << 20, 'b');
    answer = Send(transport, whole);
    CHECK(answer.result.error == HttpError::kNone);
    CHECK(answer.body == "0123456789");
    // Closed at once, the reset may overtake the answer.
    HttpRequest closed = server.Request(listener, "early_close");
    closed.body += std::string(8 << 20, 'b');
    answer = Send(transport, closed);
    CHECK((answer.result.status == 413 || answer.result.error == HttpError::kCut));
  }
}

TEST_CASE("odd event streams give what is whole in them, endless ones an error", "[http]") {
  MisbehavingServer server;
  CurlTransport transport;
  Answer answer = Send(transport, server.Request("plain", "odd_events"));
  REQUIRE(answer.result.error == HttpError::kNone);
  std::vector<std::string> events;
  SseParser parser([&](const SseEvent& event) { events.push_back(event.data); });
  CHECK(parser.Feed(answer.body).ok());
  CHECK(parser.Finish().ok());
  CHECK(events == std::vector<std::string>{"{\"half\": ", "\n\xC3\x28", "last"});

  SseParser capped([](const SseEvent&) {});
  Cancellation cancellation;
  absl::Status status;
  size_t fed = 0;
  HttpResult result = SendAndWait(
      transport, server.Request("plain", "endless_event"), [](int, const HttpHeaders&) {},
      [&](std::string_view data) {
        fed += data.size();
        status = capped.Feed(data);
        return status.ok();
      },
      cancellation);
  CHECK(result.error == HttpError::kAborted);
  CHECK(status.code() == absl::StatusCode::kResourceExhausted);
  CHECK(fed < (2u << 20));
  CHECK(server.WaitSeen("gone", "endless_event"));
}

TEST_CASE("certificates are verified, always", "[http]") {
  MisbehavingServer server;
  CurlTransport transport;
  CHECK(Send(transport, server.Request("tls", "ok")).result.error == HttpError::kNone);
  for (const char* listener : {"self_signed", "expired", "wrong_host"}) {
    Answer answer = Send(transport, server.Request(listener, "ok"));
    INFO(listener << ": " << answer.result.message);
    CHECK(answer.result.error == HttpError::kTls);
    CHECK(server.Seen("requests", listener) == 0);
  }
  HttpRequest unknown = server.Request("tls", "ok");
  unknown.ca_file.clear();  // the system's authorities do not know this run's; nor is the earlier connection used
  CHECK(Send(transport, unknown).result.error == HttpError::kTls);
  HttpRequest missing = server.Request("tls", "ok");
  missing.ca_file = server.Folder() + "/no-such-file.pem";
  Answer answer = Send(transport, missing);
  CHECK(answer.result.error == HttpError::kTls);
  CHECK(answer.result.message.find("no-such-file.pem") != std::string::npos);
  HttpRequest by_name = server.Request("wrong_host", "ok");  // named by a header alone is not named
  by_name.headers = {{"Host", "other.example"}};
  CHECK(Send(transport, by_name).result.error == HttpError::kTls);
  HttpRequest not_tls = server.Request("tls", "ok");
  not_tls.url = "https://127.0.0.1:" + server.Port("plain") + "/ok";
  not_tls.deadlines.connect = milliseconds(300);
  CHECK(Send(transport, not_tls).result.error == HttpError::kConnectTimeout);
}

TEST_CASE("a proxy is passed through to the server's own TLS, or says no", "[http]") {
  MisbehavingServer server;
  CurlTransport transport;
  HttpRequest request = server.Request("h2", "events");
  request.proxy = "http://127.0.0.1:" + server.Port("proxy");
  Answer answer = Send(transport, request);
  INFO(answer.result.message);
  CHECK(answer.result.error == HttpError::kNone);
  CHECK(answer.result.status == 200);
  CHECK(answer.headers_told == 1);  // the proxy's own answer is none
  CHECK(FindHeader(answer.result.headers, "x-proxy").empty());
  CHECK(answer.body.find("[DONE]") != std::string::npos);
  CHECK(server.Seen("requests", "proxy") == 1);
  request.url = "https://refused.example/x";
  answer = Send(transport, request);
  CHECK(answer.result.error == HttpError::kConnect);
  CHECK(answer.headers_told == 0);
  CHECK(answer.result.message.find("403") != std::string::npos);
  request.proxy = "http://127.0.0.1:1";
  CHECK(Send(transport, request).result.error == HttpError::kConnect);
}

TEST_CASE("a header that is not one line is not sent", "[http]") {
  MisbehavingServer server;
  CurlTransport transport;
  for (const std::string value : {"k\r\nX-Injected: 1", "k\n", "\rk"}) {
    HttpRequest request = server.Request("plain", "ok");
    request.headers = {{"Authorization", value}};
    Answer answer = Send(transport, request);
    CHECK(answer.result.error == HttpError::kProtocol);
    CHECK(answer.result.message.find("line end") != std::string::npos);
    CHECK(answer.result.message.find('k') != std::string::npos);
    CHECK(answer.result.message.find("Injected") == std::string::npos);
  }
  CHECK(server.Seen("requests", "ok") == 0);
}

}  // namespace
}  // namespace warpsmith::gateway
