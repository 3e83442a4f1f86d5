#include "llm_gateway/http/curl_transport.h"

#include "llm_gateway/http/curl_loop.h"

namespace warpsmith::gateway {
namespace {

class CurlCall final : public HttpCall {
 public:
  CurlCall(std::shared_ptr<CurlLoop> loop, uint64_t id) : loop_(std::move(loop)), id_(id) {}
  void Cancel() override { loop_->Cancel(id_); }

 private:
  std::shared_ptr<CurlLoop> loop_;
  uint64_t id_;
};

}  // namespace

CurlTransport::CurlTransport() : loop_(std::make_shared<CurlLoop>()) { loop_->Run(); }

CurlTransport::~CurlTransport() { loop_->StopAndJoin(); }

std::shared_ptr<HttpCall> CurlTransport::Start(HttpRequest request, std::shared_ptr<HttpSink> sink) {
  return std::make_shared<CurlCall>(loop_, loop_->Add(std::move(request), std::move(sink)));
}

EventLoop& CurlTransport::loop() { return *loop_; }

}  // namespace warpsmith::gateway
