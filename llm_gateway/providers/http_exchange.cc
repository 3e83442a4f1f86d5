#include "llm_gateway/providers/http_exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>

#include "llm_gateway/async/wait_point.h"

namespace warpsmith::gateway {
namespace {

constexpr size_t kMaxErrorBody = 64u << 10;
constexpr Duration kLinger = std::chrono::seconds(2);  // after the end: for counts that some servers send behind it

class ReadingSink final : public HttpSink {
 public:
  ReadingSink(ReplyReader& reader, Duration idle) : reader_(reader), idle_(idle) {}

  void OnHeaders(int status, const HttpHeaders& headers) override {
    status_ = status;
    if (Succeeded()) reader_.OnHeaders(status, headers);
  }
  bool OnData(std::string_view data) override {
    if (!Succeeded()) {
      error_body_.append(data.substr(0, kMaxErrorBody - error_body_.size()));
      return error_body_.size() < kMaxErrorBody;
    }
    const bool more = reader_.OnData(data);
    std::lock_guard lock(mutex_);
    const bool changed = writing_ != reader_.writing() || ended_ != reader_.ended();
    writing_ = reader_.writing();
    ended_ = reader_.ended();
    last_byte_ = RealClock().Now();
    if (changed) changed_.Notify();  // there is a deadline now, or another one
    return more;
  }
  void OnDone(const HttpResult& result) override {
    std::lock_guard lock(mutex_);
    result_ = result;
    changed_.Notify();
  }

  ExchangeResult Wait(HttpCall& call) {
    std::unique_lock lock(mutex_);
    bool stopped = false;  // by us
    while (!result_) {
      std::optional<TimePoint> deadline = stopped ? std::nullopt : Deadline();
      lock.unlock();  // the transport may be waiting to tell us something
      if (!deadline) {
        changed_.Wait();
      } else if (RealClock().Now() < *deadline) {
        changed_.WaitUntil(*deadline);
      } else {
        stopped = true;
        call.Cancel();
      }
      lock.lock();
    }
    ExchangeResult exchange{std::move(*result_), std::move(error_body_)};
    HttpResult& http = exchange.http;
    const bool own_stop = stopped && http.error == HttpError::kCancelled;
    if (ended_ && (own_stop || http.error != HttpError::kCancelled)) {
      http.error = HttpError::kNone;
    } else if (own_stop) {
      http.error = HttpError::kIdleTimeout;
      http.message = fmt::format("the answer stalled for {:g} s", ToSeconds(idle_));
    } else if (http.error == HttpError::kIdleTimeout && !writing_) {
      http.error = HttpError::kFirstByteTimeout;
      http.message = "connected, but the model wrote nothing: " + http.message;
    }
    return exchange;
  }

 private:
  bool Succeeded() const { return status_ >= 200 && status_ < 300; }
  std::optional<TimePoint> Deadline() const {
    if (ended_) return last_byte_ + kLinger;
    if (writing_ && idle_.count() > 0) return last_byte_ + idle_;
    return std::nullopt;
  }

  ReplyReader& reader_;  // the transport's thread only, until the end
  const Duration idle_;
  int status_ = 0;          // the transport's thread only, until the end
  std::string error_body_;  // the same
  std::mutex mutex_;
  WaitPoint changed_;
  bool writing_ = false;              // guarded by mutex_
  bool ended_ = false;                // guarded by mutex_
  TimePoint last_byte_;               // guarded by mutex_
  std::optional<HttpResult> result_;  // guarded by mutex_
};

}  // namespace

ExchangeResult RunExchange(HttpTransport& transport, HttpRequest request, ReplyReader& reader,
                           Cancellation& cancellation) {
  auto sink = std::make_shared<ReadingSink>(reader, request.deadlines.idle);
  request.deadlines.idle = std::max(request.deadlines.idle, request.deadlines.first_byte);
  auto call = transport.Start(std::move(request), sink);
  auto subscription = cancellation.Subscribe([call] { call->Cancel(); });
  return sink->Wait(*call);
}

}  // namespace warpsmith::gateway
