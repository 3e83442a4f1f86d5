#include "llm_gateway/http/http_transport.h"

#include "llm_gateway/async/wait_point.h"

namespace warpsmith::gateway {
namespace {

class WaitingSink final : public HttpSink {
 public:
  WaitingSink(std::function<void(int, const HttpHeaders&)> on_headers, std::function<bool(std::string_view)> on_data)
      : on_headers_(std::move(on_headers)), on_data_(std::move(on_data)) {}

  void OnHeaders(int status, const HttpHeaders& headers) override { on_headers_(status, headers); }
  bool OnData(std::string_view data) override { return on_data_(data); }
  void OnDone(const HttpResult& result) override {
    result_ = result;
    done_.Notify();
  }
  HttpResult Wait() {
    done_.Wait();
    return std::move(result_);
  }

 private:
  std::function<void(int, const HttpHeaders&)> on_headers_;
  std::function<bool(std::string_view)> on_data_;
  WaitPoint done_;
  HttpResult result_;
};

}  // namespace

HttpResult SendAndWait(HttpTransport& transport, HttpRequest request,
                       std::function<void(int, const HttpHeaders&)> on_headers,
                       std::function<bool(std::string_view)> on_data, Cancellation& cancellation) {
  auto sink = std::make_shared<WaitingSink>(std::move(on_headers), std::move(on_data));
  auto call = transport.Start(std::move(request), sink);
  auto subscription = cancellation.Subscribe([call] { call->Cancel(); });
  return sink->Wait();
}

std::string FindHeader(const HttpHeaders& headers, std::string_view name) {
  for (auto header = headers.rbegin(); header != headers.rend(); ++header) {
    if (header->first == name) return header->second;
  }
  return "";
}

}  // namespace warpsmith::gateway
