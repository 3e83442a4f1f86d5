#include "llm_gateway/http/curl_transport.h"

#include <algorithm>

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

CurlTransport::CurlTransport(int loops) {
  for (int i = 0; i < std::max(1, loops); ++i) {
    loops_.push_back(std::make_shared<CurlLoop>());
    loops_.back()->Run();
  }
}

CurlTransport::~CurlTransport() {
  for (const auto& loop : loops_) loop->StopAndJoin();
}

std::shared_ptr<HttpCall> CurlTransport::Start(HttpRequest request, std::shared_ptr<HttpSink> sink) {
  auto place = std::find_if(loops_.begin(), loops_.end(), [](const auto& loop) { return loop->OnThisThread(); });
  const std::shared_ptr<CurlLoop>& loop =
      place != loops_.end() ? *place : loops_[next_.fetch_add(1, std::memory_order_relaxed) % loops_.size()];
  return std::make_shared<CurlCall>(loop, loop->Add(std::move(request), std::move(sink)));
}

std::vector<EventLoop*> CurlTransport::loops() {
  std::vector<EventLoop*> loops;
  for (const auto& loop : loops_) loops.push_back(loop.get());
  return loops;
}

}  // namespace warpsmith::gateway
