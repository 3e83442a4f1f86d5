#include "llm_gateway/http/curl_transport.h"

#include <curl/curl.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <thread>

#include "llm_gateway/http/curl_transfer.h"

namespace warpsmith::gateway {

// Shared with the calls, so that cancelling one after the transport has gone is harmless.
class CurlTransport::Loop : public std::enable_shared_from_this<Loop> {
 public:
  Loop() {
    static std::once_flag once;
    std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
    multi_ = curl_multi_init();
  }
  ~Loop() { curl_multi_cleanup(multi_); }

  void Run() {
    thread_ = std::thread([this] { Work(); });
  }
  void StopAndJoin() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    curl_multi_wakeup(multi_);
    thread_.join();
  }

  uint64_t Add(HttpRequest request, std::shared_ptr<HttpSink> sink) {
    uint64_t id;
    {
      std::lock_guard lock(mutex_);
      id = next_id_++;
      starts_.push_back({id, std::move(request), std::move(sink)});
    }
    curl_multi_wakeup(multi_);
    return id;
  }
  void Cancel(uint64_t id) {
    {
      std::lock_guard lock(mutex_);
      cancels_.push_back(id);
      if (stopping_) return;  // everything ends anyway
    }
    curl_multi_wakeup(multi_);
  }

 private:
  struct Pending {
    uint64_t id;
    HttpRequest request;
    std::shared_ptr<HttpSink> sink;
  };

  void Work() {
    for (;;) {
      if (TakeCommands()) break;
      int running = 0;
      curl_multi_perform(multi_, &running);
      CollectFinished();
      EndOverdue();
      curl_multi_poll(multi_, nullptr, 0, PollMilliseconds(), nullptr);
    }
    while (!transfers_.empty()) End(transfers_.begin(), HttpError::kCancelled);
  }

  // True once the loop is to stop; what was still to be started is then among the transfers to end.
  bool TakeCommands() {
    std::vector<Pending> starts;
    std::vector<uint64_t> cancels;
    bool stopping;
    {
      std::lock_guard lock(mutex_);
      starts.swap(starts_);
      cancels.swap(cancels_);
      stopping = stopping_;
    }
    for (Pending& pending : starts) {
      auto transfer =
          std::make_unique<CurlTransfer>(std::move(pending.request), std::move(pending.sink), RealClock().Now());
      auto place = transfers_.emplace(pending.id, std::move(transfer)).first;
      if (place->second->easy() == nullptr || curl_multi_add_handle(multi_, place->second->easy()) != CURLM_OK) {
        End(place, HttpError::kProtocol);
      }
    }
    for (uint64_t id : cancels) {
      if (auto place = transfers_.find(id); place != transfers_.end()) End(place, HttpError::kCancelled);
    }
    return stopping;
  }

  void CollectFinished() {
    int left = 0;
    while (CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      CURLcode code = message->data.result;  // the message dies with the handle's removal
      CURL* easy = message->easy_handle;
      auto place = std::find_if(transfers_.begin(), transfers_.end(),
                                [easy](const auto& entry) { return entry.second->easy() == easy; });
      if (place == transfers_.end()) continue;
      curl_multi_remove_handle(multi_, easy);
      std::unique_ptr<CurlTransfer> transfer = std::move(place->second);
      transfers_.erase(place);
      transfer->FinishByCurl(code);
    }
  }

  void EndOverdue() {
    TimePoint now = RealClock().Now();
    for (auto place = transfers_.begin(); place != transfers_.end();) {
      auto next = std::next(place);
      if (auto error = place->second->Overdue(now)) End(place, *error);
      place = next;
    }
  }

  int PollMilliseconds() const {
    TimePoint now = RealClock().Now();
    int64_t wait = 1000;
    for (const auto& [id, transfer] : transfers_) {
      if (auto next = transfer->NextDeadline()) {
        auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*next - now).count() + 1;
        wait = std::min<int64_t>(wait, left);
      }
    }
    return static_cast<int>(std::max<int64_t>(wait, 0));
  }

  void End(std::map<uint64_t, std::unique_ptr<CurlTransfer>>::iterator place, HttpError error) {
    std::unique_ptr<CurlTransfer> transfer = std::move(place->second);
    transfers_.erase(place);
    if (transfer->easy() != nullptr) curl_multi_remove_handle(multi_, transfer->easy());
    transfer->FinishBy(error);
  }

  CURLM* multi_ = nullptr;
  std::thread thread_;
  std::mutex mutex_;
  bool stopping_ = false;                                        // guarded by mutex_
  uint64_t next_id_ = 1;                                         // guarded by mutex_
  std::vector<Pending> starts_;                                  // guarded by mutex_
  std::vector<uint64_t> cancels_;                                // guarded by mutex_
  std::map<uint64_t, std::unique_ptr<CurlTransfer>> transfers_;  // the loop's thread only
};

namespace {

template <typename LoopType>
class CurlCall final : public HttpCall {
 public:
  CurlCall(std::shared_ptr<LoopType> loop, uint64_t id) : loop_(std::move(loop)), id_(id) {}
  void Cancel() override { loop_->Cancel(id_); }

 private:
  std::shared_ptr<LoopType> loop_;
  uint64_t id_;
};

}  // namespace

CurlTransport::CurlTransport() : loop_(std::make_shared<Loop>()) { loop_->Run(); }

CurlTransport::~CurlTransport() { loop_->StopAndJoin(); }

std::shared_ptr<HttpCall> CurlTransport::Start(HttpRequest request, std::shared_ptr<HttpSink> sink) {
  return std::make_shared<CurlCall<Loop>>(loop_, loop_->Add(std::move(request), std::move(sink)));
}

}  // namespace warpsmith::gateway
