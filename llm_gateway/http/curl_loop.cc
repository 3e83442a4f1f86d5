#include "llm_gateway/http/curl_loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

namespace warpsmith::gateway {
namespace {

constexpr long kIdleConnectionsKept = 256;
constexpr int kLongestWaitMilliseconds = 60'000;

}  // namespace

CurlLoop::CurlLoop() {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  multi_ = curl_multi_init();
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  wake_up_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (multi_ == nullptr || epoll_ < 0 || wake_up_ < 0) std::abort();  // out of descriptors before anything began
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &OnSocket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &OnTimer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  // One stream a connection, over HTTP/2 too: where many share one, libcurl 7.88 now and then leaves the rest of one
  // lying (about one in 5,000 answers of 300 KB, 50 at a time), and a server's or a network's trouble is everybody's.
  curl_multi_setopt(multi_, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_NOTHING));
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, kIdleConnectionsKept);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = wake_up_;
  epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_up_, &event);
}

CurlLoop::~CurlLoop() {
  curl_multi_cleanup(multi_);
  close(wake_up_);
  close(epoll_);
}

void CurlLoop::Run() {
  thread_ = std::thread([this] { Work(); });
}

void CurlLoop::StopAndJoin() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    Wake();
  }
  thread_.join();
}

uint64_t CurlLoop::Add(HttpRequest request, std::shared_ptr<HttpSink> sink) {
  std::lock_guard lock(mutex_);
  uint64_t id = next_id_++;
  starts_.push_back({id, std::move(request), std::move(sink)});
  Wake();
  return id;
}

void CurlLoop::Cancel(uint64_t id) {
  std::lock_guard lock(mutex_);
  if (stopping_) return;  // everything ends anyway
  cancels_.push_back(id);
  Wake();
}

// With mutex_ held.
void CurlLoop::Wake() {
  if (woken_) return;
  woken_ = true;
  uint64_t one = 1;
  (void)!write(wake_up_, &one, sizeof one);
}

int CurlLoop::OnSocket(CURL* /*easy*/, curl_socket_t socket, int what, void* self, void* /*known*/) {
  auto* loop = static_cast<CurlLoop*>(self);
  if (what == CURL_POLL_REMOVE) {
    epoll_ctl(loop->epoll_, EPOLL_CTL_DEL, socket, nullptr);
    return 0;
  }
  epoll_event event{};
  event.data.fd = socket;
  if (what & CURL_POLL_IN) event.events |= EPOLLIN;
  if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
  if (epoll_ctl(loop->epoll_, EPOLL_CTL_MOD, socket, &event) != 0 && errno == ENOENT) {
    epoll_ctl(loop->epoll_, EPOLL_CTL_ADD, socket, &event);
  }
  return 0;
}

int CurlLoop::OnTimer(CURLM* /*multi*/, long milliseconds, void* self) {
  auto* loop = static_cast<CurlLoop*>(self);
  if (milliseconds < 0) {
    loop->curl_due_.reset();
  } else {
    loop->curl_due_ = RealClock().Now() + std::chrono::milliseconds(milliseconds);
  }
  return 0;
}

void CurlLoop::Work() {
  while (!TakeCommands()) {
    WaitAndAct();
    CollectFinished();
    EndOverdue();
  }
  while (!transfers_.empty()) End(transfers_.begin(), HttpError::kCancelled);
}

// True once the loop is to stop; what was still to be started is then among the transfers to end.
bool CurlLoop::TakeCommands() {
  std::vector<Pending> starts;
  std::vector<uint64_t> cancels;
  bool stopping;
  {
    std::lock_guard lock(mutex_);
    starts.swap(starts_);
    cancels.swap(cancels_);
    stopping = stopping_;
    if (woken_) {
      uint64_t count;
      (void)!read(wake_up_, &count, sizeof count);
      woken_ = false;
    }
  }
  for (Pending& pending : starts) StartTransfer(std::move(pending));
  for (uint64_t id : cancels) {
    if (auto place = transfers_.find(id); place != transfers_.end()) End(place, HttpError::kCancelled);
  }
  return stopping;
}

void CurlLoop::StartTransfer(Pending pending) {
  const uint64_t id = pending.id;
  const TimePoint now = RealClock().Now();
  auto transfer = std::make_unique<CurlTransfer>(id, std::move(pending.request), std::move(pending.sink), now);
  auto place = transfers_.emplace(id, std::move(transfer)).first;
  CURL* easy = place->second->easy();
  if (easy == nullptr || curl_multi_add_handle(multi_, easy) != CURLM_OK) {
    End(place, HttpError::kProtocol);
  } else if (auto next = place->second->NextCheck(now)) {
    checks_.push({*next, id});
  }
}

void CurlLoop::WaitAndAct() {
  std::array<epoll_event, 256> events;
  int ready = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), WaitMilliseconds());
  int running = 0;
  for (int i = 0; i < ready; ++i) {
    const epoll_event& event = events[static_cast<size_t>(i)];
    if (event.data.fd == wake_up_) continue;  // TakeCommands reads it
    int what = 0;
    if (event.events & EPOLLIN) what |= CURL_CSELECT_IN;
    if (event.events & EPOLLOUT) what |= CURL_CSELECT_OUT;
    if (event.events & (EPOLLERR | EPOLLHUP)) what |= CURL_CSELECT_ERR;
    curl_multi_socket_action(multi_, event.data.fd, what, &running);
  }
  if (curl_due_ && RealClock().Now() >= *curl_due_) {
    curl_due_.reset();
    curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
  }
}

void CurlLoop::CollectFinished() {
  int left = 0;
  while (CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    CURLcode code = message->data.result;  // the message dies with the handle's removal
    CURL* easy = message->easy_handle;
    auto place = transfers_.find(CurlTransfer::Of(easy)->id());
    if (place == transfers_.end()) continue;
    curl_multi_remove_handle(multi_, easy);
    std::unique_ptr<CurlTransfer> transfer = std::move(place->second);
    transfers_.erase(place);
    transfer->FinishByCurl(code);
  }
}

void CurlLoop::EndOverdue() {
  const TimePoint now = RealClock().Now();
  while (!checks_.empty() && checks_.top().first <= now) {
    const uint64_t id = checks_.top().second;
    checks_.pop();
    auto place = transfers_.find(id);
    if (place == transfers_.end()) continue;  // it has ended
    if (auto error = place->second->Overdue(now)) {
      End(place, *error);
    } else if (auto next = place->second->NextCheck(now)) {
      checks_.push({*next, id});
    }
  }
}

int CurlLoop::WaitMilliseconds() const {
  if (checks_.empty() && !curl_due_) return kLongestWaitMilliseconds;
  TimePoint until = checks_.empty() ? *curl_due_ : checks_.top().first;
  if (curl_due_) until = std::min(until, *curl_due_);
  const Duration left = until - RealClock().Now();
  if (left.count() <= 0) return 0;
  int64_t rounded_up = std::chrono::duration_cast<std::chrono::milliseconds>(left).count() + 1;
  return static_cast<int>(std::min<int64_t>(rounded_up, kLongestWaitMilliseconds));
}

void CurlLoop::End(Transfers::iterator place, HttpError error) {
  std::unique_ptr<CurlTransfer> transfer = std::move(place->second);
  transfers_.erase(place);
  if (transfer->easy() != nullptr) {
    transfer->GiveUp();
    curl_multi_remove_handle(multi_, transfer->easy());
  }
  transfer->FinishBy(error);
}

}  // namespace warpsmith::gateway
