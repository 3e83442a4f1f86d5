#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "benchmarks/gateway/target.h"
#include "common/clock.h"

namespace warpsmith::bench {
namespace {

// A client of one thread that keeps its connections: the least that asking this server takes.
class Direct final : public Target {
 public:
  Direct(int port, const std::string& body)
      : port_(port),
        plain_(Request("plain", body)),
        stream_(Request("stream", body)),
        epoll_(epoll_create1(EPOLL_CLOEXEC)),
        wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    Watch(wake_);
    thread_ = std::thread([this] { Run(); });
  }
  ~Direct() override {
    stopping_ = true;
    Wake();
    thread_.join();
    for (const auto& [descriptor, call] : calls_) close(descriptor);
    for (int descriptor : idle_) close(descriptor);
    close(epoll_);
    close(wake_);
  }
  std::string name() const override { return "direct"; }
  void Start(bool stream, std::function<void(const Outcome&)> done) override {
    {
      std::lock_guard lock(mutex_);
      waiting_.push_back({stream, RealClock().Now(), std::move(done), {}, {}, 0, 0, false});
    }
    if (std::this_thread::get_id() != thread_.get_id()) Wake();
  }

 private:
  struct Call {
    bool stream;
    TimePoint started;
    std::function<void(const Outcome&)> done;
    std::string in;
    Outcome outcome;
    size_t head;    // bytes of the head, once it is there
    size_t length;  // of the body
    bool chunked;
  };

  static std::string Request(const std::string& scenario, const std::string& body) {
    return "POST /" + scenario +
           "/v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  void Wake() {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof one);
  }
  void Watch(int descriptor) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = descriptor;
    epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event);
  }
  int Connect() {
    const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(port_));
    if (connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) std::abort();
    const int on = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    Watch(descriptor);
    return descriptor;
  }
  void SendWaiting() {
    while (true) {
      std::vector<Call> calls;
      {
        std::lock_guard lock(mutex_);
        calls.swap(waiting_);
      }
      if (calls.empty()) return;
      for (Call& call : calls) {
        int descriptor;
        if (idle_.empty()) {
          descriptor = Connect();
        } else {
          descriptor = idle_.back();
          idle_.pop_back();
        }
        const std::string& request = call.stream ? stream_ : plain_;
        // Requests are far smaller than a socket's buffer, and a connection has one at a time.
        if (send(descriptor, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size()))
          std::abort();
        calls_.emplace(descriptor, std::move(call));
      }
    }
  }
  void Run() {
    std::vector<epoll_event> events(1024);
    while (!stopping_) {
      SendWaiting();
      const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < count; ++i) {
        const int descriptor = events[static_cast<size_t>(i)].data.fd;
        if (descriptor == wake_) {
          uint64_t ignored;
          [[maybe_unused]] const ssize_t got = read(wake_, &ignored, sizeof ignored);
        } else {
          Read(descriptor);
        }
      }
    }
  }
  void Read(int descriptor) {
    const auto found = calls_.find(descriptor);
    if (found == calls_.end()) return;
    Call& call = found->second;
    char buffer[65536];
    const ssize_t got = recv(descriptor, buffer, sizeof buffer, 0);
    if (got <= 0) std::abort();
    call.in.append(buffer, static_cast<size_t>(got));
    if (call.head == 0) {
      const size_t end = call.in.find("\r\n\r\n");
      if (end == std::string::npos) return;
      call.head = end + 4;
      call.chunked = true;
      for (size_t at = 0; at < end; at = call.in.find("\r\n", at) + 2) {
        if (strncasecmp(call.in.c_str() + at, "content-length:", 15) == 0) {
          call.length = std::strtoul(call.in.c_str() + at + 15, nullptr, 10);
          call.chunked = false;
        }
      }
    }
    if (call.in.size() > call.head && call.outcome.first_seconds == 0)
      call.outcome.first_seconds = ToSeconds(RealClock().Now() - call.started);
    const bool whole = call.chunked ? call.in.size() >= 5 && call.in.compare(call.in.size() - 5, 5, "0\r\n\r\n") == 0
                                    : call.in.size() >= call.head + call.length;
    if (!whole) return;
    Outcome outcome = call.outcome;
    outcome.ok = call.in.find("[DONE]") != std::string::npos;
    outcome.seconds = ToSeconds(RealClock().Now() - call.started);
    auto done = std::move(call.done);
    calls_.erase(found);
    idle_.push_back(descriptor);
    done(outcome);
  }

  const int port_;
  const std::string plain_, stream_;
  const int epoll_, wake_;
  std::unordered_map<int, Call> calls_;  // by connection; the thread's
  std::vector<int> idle_;                // the thread's
  std::mutex mutex_;
  std::vector<Call> waiting_;  // guarded by mutex_
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Target> DirectTarget(int port, const std::string& body) { return std::make_unique<Direct>(port, body); }

}  // namespace warpsmith::bench
