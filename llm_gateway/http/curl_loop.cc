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

constexpr int kLaneWidth = 64;  // exchanges at once
constexpr size_t kMostLanes = 64;
constexpr long kIdleConnectionsKept = 2 * kLaneWidth;  // of a lane; fewer than it is wide would close those in use
constexpr size_t kMostSpare = 256;
constexpr int kLongestWaitMilliseconds = 60'000;
constexpr uint64_t kNoLane = ~uint64_t{0};

}  // namespace

CurlLoop::CurlLoop() {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  wake_up_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (epoll_ < 0 || wake_up_ < 0) std::abort();  // out of descriptors before anything began
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;  // each write is told once, and nobody needs to read it
  event.data.u64 = kNoLane;
  epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_up_, &event);
}

CurlLoop::~CurlLoop() {
  for (const SpareHandle& spare : spare_) curl_easy_cleanup(spare.easy);
  for (const auto& lane : lanes_) curl_multi_cleanup(lane->multi);
  close(wake_up_);
  close(epoll_);
}

void CurlLoop::Run() {
  thread_ = std::thread([this] {
    id_ = std::this_thread::get_id();
    Work();
  });
}

void CurlLoop::StopAndJoin() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    Wake();
  }
  thread_.join();
}

// What is told on the loop's own thread needs neither lock nor wake-up: it is looked at before the loop waits again.
template <typename Give>
void CurlLoop::Command(Give give) {
  if (OnThisThread()) return give(own_);
  std::lock_guard lock(mutex_);
  give(from_others_);
  Wake();
}

uint64_t CurlLoop::Add(HttpRequest request, std::shared_ptr<HttpSink> sink) {
  const uint64_t id = next_id_++;
  Command([&](Commands& to) { to.starts.push_back({id, std::move(request), std::move(sink)}); });
  return id;
}

void CurlLoop::Cancel(uint64_t id) {
  Command([id](Commands& to) { to.cancels.push_back(id); });
}

void CurlLoop::Post(std::function<void()> work) {
  Command([&](Commands& to) { to.posted.push_back(std::move(work)); });
}

EventLoop::TimerId CurlLoop::StartTimer(TimePoint at, std::function<void()> work) {
  const TimerId timer = ++last_timer_;
  timers_.emplace(std::pair(at, timer), std::move(work));
  timer_places_.emplace(timer, at);
  return timer;
}

void CurlLoop::StopTimer(TimerId timer) {
  const auto place = timer_places_.find(timer);
  if (place == timer_places_.end()) return;
  timers_.erase({place->second, timer});
  timer_places_.erase(place);
}

// With mutex_ held: once it is not, what was given may have been done, and the loop be gone.
void CurlLoop::Wake() {
  if (woken_) return;
  woken_ = true;
  uint64_t one = 1;
  (void)!write(wake_up_, &one, sizeof one);
}

CurlLoop::Lane& CurlLoop::AddLane() {
  auto lane = std::make_unique<Lane>();
  lane->loop = this;
  lane->index = static_cast<uint32_t>(lanes_.size());
  lane->multi = curl_multi_init();
  if (lane->multi == nullptr) std::abort();  // out of memory
  curl_multi_setopt(lane->multi, CURLMOPT_SOCKETFUNCTION, &OnSocket);
  curl_multi_setopt(lane->multi, CURLMOPT_SOCKETDATA, lane.get());
  curl_multi_setopt(lane->multi, CURLMOPT_TIMERFUNCTION, &OnTimer);
  curl_multi_setopt(lane->multi, CURLMOPT_TIMERDATA, lane.get());
  // One stream a connection, over HTTP/2 too: where many share one, libcurl 7.88 now and then leaves the rest of one
  // lying (about one in 5,000 answers of 300 KB, 50 at a time), and a server's or a network's trouble is everybody's.
  curl_multi_setopt(lane->multi, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_NOTHING));
  curl_multi_setopt(lane->multi, CURLMOPT_MAXCONNECTS, kIdleConnectionsKept);
  lanes_.push_back(std::move(lane));
  return *lanes_.back();
}

// The first ones are filled first: few calls find each other's connections.
CurlLoop::Lane& CurlLoop::LaneWithRoom() {
  Lane* emptiest = nullptr;
  for (const auto& lane : lanes_) {
    if (lane->active < kLaneWidth) return *lane;
    if (emptiest == nullptr || lane->active < emptiest->active) emptiest = lane.get();
  }
  return lanes_.size() < kMostLanes ? AddLane() : *emptiest;
}

int CurlLoop::OnSocket(CURL* /*easy*/, curl_socket_t socket, int what, void* lane, void* /*known*/) {
  const auto* of = static_cast<Lane*>(lane);
  const int epoll = of->loop->epoll_;
  if (what == CURL_POLL_REMOVE) {
    epoll_ctl(epoll, EPOLL_CTL_DEL, socket, nullptr);
    return 0;
  }
  epoll_event event{};
  event.data.u64 = uint64_t{of->index} << 32 | static_cast<uint32_t>(socket);
  if (what & CURL_POLL_IN) event.events |= EPOLLIN;
  if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
  if (epoll_ctl(epoll, EPOLL_CTL_MOD, socket, &event) != 0 && errno == ENOENT) {
    epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event);
  }
  return 0;
}

int CurlLoop::OnTimer(CURLM* /*multi*/, long milliseconds, void* lane) {
  auto* of = static_cast<Lane*>(lane);
  if (milliseconds < 0) {
    of->due.reset();
  } else {
    of->due = RealClock().Now() + std::chrono::milliseconds(milliseconds);
  }
  return 0;
}

void CurlLoop::Work() {
  while (!TakeCommands()) {
    WaitAndAct();
    CollectFinished();
    EndOverdue();
    RunTimers();
  }
  while (!transfers_.empty()) End(transfers_.begin(), HttpError::kCancelled);
}

// True once the loop is to stop; what was still to be started is then among the transfers to end.
bool CurlLoop::TakeCommands() {
  Commands others, mine;
  bool stopping;
  {
    std::lock_guard lock(mutex_);
    std::swap(others, from_others_);
    stopping = stopping_;
    woken_ = false;
  }
  std::swap(mine, own_);
  Begin(mine);
  Begin(others);
  // Only now: what one thread began another may cancel.
  for (const Commands* commands : {&mine, &others}) {
    for (uint64_t id : commands->cancels) {
      if (auto place = transfers_.find(id); place != transfers_.end()) End(place, HttpError::kCancelled);
    }
  }
  // What that has set off, once: the sockets want to be looked at too.
  mine = {};
  std::swap(mine.posted, own_.posted);
  std::swap(mine.starts, own_.starts);
  Begin(mine);
  return stopping;
}

void CurlLoop::Begin(Commands& commands) {
  for (std::function<void()>& work : commands.posted) work();
  for (Pending& pending : commands.starts) StartTransfer(std::move(pending));
}

void CurlLoop::StartTransfer(Pending pending) {
  const uint64_t id = pending.id;
  const TimePoint now = RealClock().Now();
  SpareHandle spare;
  if (!spare_.empty()) {
    spare = std::move(spare_.back());
    spare_.pop_back();
  }
  Lane& lane = LaneWithRoom();
  auto transfer =
      std::make_unique<CurlTransfer>(id, std::move(pending.request), std::move(pending.sink), now, std::move(spare));
  auto place = transfers_.emplace(id, Running{std::move(transfer), &lane}).first;
  ++lane.active;
  CurlTransfer& started = *place->second.transfer;
  if (started.easy() == nullptr || curl_multi_add_handle(lane.multi, started.easy()) != CURLM_OK) {
    End(place, HttpError::kProtocol);
  } else if (auto next = started.NextCheck(now)) {
    checks_.push({*next, id});
  }
}

void CurlLoop::WaitAndAct() {
  std::array<epoll_event, 256> events;
  int ready = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), WaitMilliseconds());
  int running = 0;
  for (int i = 0; i < ready; ++i) {
    const epoll_event& event = events[static_cast<size_t>(i)];
    if (event.data.u64 == kNoLane) continue;  // TakeCommands looks at what it is about
    int what = 0;
    if (event.events & EPOLLIN) what |= CURL_CSELECT_IN;
    if (event.events & EPOLLOUT) what |= CURL_CSELECT_OUT;
    if (event.events & (EPOLLERR | EPOLLHUP)) what |= CURL_CSELECT_ERR;
    Lane& lane = *lanes_[event.data.u64 >> 32];
    curl_multi_socket_action(lane.multi, static_cast<curl_socket_t>(event.data.u64 & 0xFFFFFFFFu), what, &running);
  }
  const TimePoint now = RealClock().Now();
  for (const auto& lane : lanes_) {
    if (!lane->due || now < *lane->due) continue;
    lane->due.reset();
    curl_multi_socket_action(lane->multi, CURL_SOCKET_TIMEOUT, 0, &running);
  }
}

void CurlLoop::CollectFinished() {
  // A sink may start another exchange, and so another lane.
  for (size_t i = 0; i < lanes_.size(); ++i) {
    if (lanes_[i]->active > 0) CollectFinished(*lanes_[i]);
  }
}

void CurlLoop::CollectFinished(Lane& lane) {
  int left = 0;
  while (CURLMsg* message = curl_multi_info_read(lane.multi, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    CURLcode code = message->data.result;  // the message dies with the handle's removal
    CURL* easy = message->easy_handle;
    auto place = transfers_.find(CurlTransfer::Of(easy)->id());
    if (place == transfers_.end()) continue;
    curl_multi_remove_handle(lane.multi, easy);
    --lane.active;
    std::unique_ptr<CurlTransfer> transfer = std::move(place->second.transfer);
    transfers_.erase(place);
    transfer->FinishByCurl(code);
    if (code == CURLE_OK && spare_.size() < kMostSpare) spare_.push_back(transfer->GiveBack());
  }
}

void CurlLoop::EndOverdue() {
  const TimePoint now = RealClock().Now();
  while (!checks_.empty() && checks_.top().first <= now) {
    const uint64_t id = checks_.top().second;
    checks_.pop();
    auto place = transfers_.find(id);
    if (place == transfers_.end()) continue;  // it has ended
    if (auto error = place->second.transfer->Overdue(now)) {
      End(place, *error);
    } else if (auto next = place->second.transfer->NextCheck(now)) {
      checks_.push({*next, id});
    }
  }
}

void CurlLoop::RunTimers() {
  if (timers_.empty()) return;
  const TimePoint now = RealClock().Now();
  while (!timers_.empty() && timers_.begin()->first.first <= now) {
    auto timer = timers_.extract(timers_.begin());
    timer_places_.erase(timer.key().second);
    timer.mapped()();
  }
}

int CurlLoop::WaitMilliseconds() const {
  if (!own_.empty()) return 0;
  std::optional<TimePoint> until;
  const auto consider = [&until](TimePoint at) {
    if (!until || at < *until) until = at;
  };
  for (const auto& lane : lanes_) {
    if (lane->due) consider(*lane->due);
  }
  if (!checks_.empty()) consider(checks_.top().first);
  if (!timers_.empty()) consider(timers_.begin()->first.first);
  if (!until) return kLongestWaitMilliseconds;
  const Duration left = *until - RealClock().Now();
  if (left.count() <= 0) return 0;
  int64_t rounded_up = std::chrono::duration_cast<std::chrono::milliseconds>(left).count() + 1;
  return static_cast<int>(std::min<int64_t>(rounded_up, kLongestWaitMilliseconds));
}

void CurlLoop::End(Transfers::iterator place, HttpError error) {
  Lane& lane = *place->second.lane;
  std::unique_ptr<CurlTransfer> transfer = std::move(place->second.transfer);
  transfers_.erase(place);
  --lane.active;
  if (transfer->easy() != nullptr) {
    transfer->GiveUp();
    curl_multi_remove_handle(lane.multi, transfer->easy());
  }
  transfer->FinishBy(error);
}

}  // namespace warpsmith::gateway
