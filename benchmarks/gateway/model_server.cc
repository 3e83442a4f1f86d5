#include "benchmarks/gateway/model_server.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/json.h"

namespace warpsmith::bench {
namespace {

std::string Event(const std::string& text, bool last = false) {
  Json choice = {{"index", 0}, {"delta", {{"content", text}}}, {"finish_reason", nullptr}};
  if (last) choice["finish_reason"] = "stop";
  return "data: " + Json{{"id", "x"}, {"choices", Json::array({choice})}}.dump() + "\n\n";
}

std::string LastEvents() {
  return Event("```\n", true) +
         "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":2500,\"completion_tokens\":600,\"total_tokens\":3100}}\n\n"
         "data: [DONE]\n\n";
}

const char kBeginning[] =
    "```cuda\n/* warpsmith-plan\n{\"version\": 1, \"steps\": [{\"copy\": \"x\", \"to\": \"output\"}]}\n*/\n";

std::string PlainAnswer() {
  std::string body = Event(kBeginning);
  for (int i = 0; i < 4; ++i) {
    std::string text;
    for (int line = 0; line < 12; ++line) text += "// sum += row[threadIdx.x + " + std::to_string(line) + "];\n";
    body += Event(text);
  }
  body += LastEvents();
  return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

std::string Chunk(const std::string& data) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", data.size());
  return size + data + "\r\n";
}

struct Connection {
  int descriptor;
  uint64_t id;
  std::string in;
  std::string out;
  bool waits_to_write = false;
};

struct Timer {
  TimePoint at;
  int descriptor;
  uint64_t id;
  int sent;
  bool operator<(const Timer& other) const { return at > other.at; }
};

class Server {
 public:
  Server(int listener, const ModelServerOptions& options) : listener_(listener), options_(options) {
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    Watch(listener_, EPOLLIN, EPOLL_CTL_ADD);
  }

  [[noreturn]] void Run() {
    std::vector<epoll_event> events(1024);
    while (true) {
      const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), UntilTimer());
      for (int i = 0; i < count; ++i) {
        const int descriptor = events[static_cast<size_t>(i)].data.fd;
        if (descriptor == listener_) {
          Accept();
          continue;
        }
        const auto found = connections_.find(descriptor);
        if (found == connections_.end()) continue;
        const bool alive = (events[static_cast<size_t>(i)].events & EPOLLOUT ? Flush(*found->second) : true) &&
                           (events[static_cast<size_t>(i)].events & ~EPOLLOUT ? Read(*found->second) : true);
        if (!alive) Close(descriptor);
      }
      RunTimers();
    }
  }

 private:
  void Watch(int descriptor, uint32_t what, int operation) {
    epoll_event event{};
    event.events = what;
    event.data.fd = descriptor;
    epoll_ctl(epoll_, operation, descriptor, &event);
  }
  int UntilTimer() const {
    if (timers_.empty()) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(timers_.top().at - RealClock().Now()).count();
    return static_cast<int>(std::max<long>(0, left));
  }
  void Accept() {
    while (true) {
      const int descriptor = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (descriptor < 0) return;
      const int on = 1;
      setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      connections_[descriptor] = std::make_unique<Connection>(Connection{descriptor, ++last_id_, {}, {}});
      Watch(descriptor, EPOLLIN, EPOLL_CTL_ADD);
    }
  }
  void Close(int descriptor) {
    close(descriptor);
    connections_.erase(descriptor);
  }
  bool Send(Connection& connection, const std::string& data) {
    connection.out += data;
    return Flush(connection);
  }
  bool Flush(Connection& connection) {
    while (!connection.out.empty()) {
      const ssize_t sent = send(connection.descriptor, connection.out.data(), connection.out.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno != EAGAIN) return false;
      if (sent <= 0) break;
      connection.out.erase(0, static_cast<size_t>(sent));
    }
    const bool wait = !connection.out.empty();
    if (wait != connection.waits_to_write)
      Watch(connection.descriptor, EPOLLIN | (wait ? EPOLLOUT : 0u), EPOLL_CTL_MOD);
    connection.waits_to_write = wait;
    return true;
  }
  bool Read(Connection& connection) {
    char buffer[65536];
    while (true) {
      const ssize_t got = recv(connection.descriptor, buffer, sizeof buffer, 0);
      if (got == 0 || (got < 0 && errno != EAGAIN)) return false;
      if (got < 0) break;
      connection.in.append(buffer, static_cast<size_t>(got));
      if (static_cast<size_t>(got) < sizeof buffer) break;
    }
    while (true) {
      const size_t end = connection.in.find("\r\n\r\n");
      if (end == std::string::npos) return true;
      size_t length = 0;
      for (size_t at = 0; at < end; at = connection.in.find("\r\n", at) + 2) {
        if (strncasecmp(connection.in.c_str() + at, "content-length:", 15) == 0)
          length = std::strtoul(connection.in.c_str() + at + 15, nullptr, 10);
      }
      if (connection.in.size() < end + 4 + length) return true;
      const bool stream = connection.in.compare(0, 13, "POST /stream/") == 0;
      connection.in.erase(0, end + 4 + length);
      if (!(stream ? StartStream(connection) : Send(connection, plain_))) return false;
    }
  }
  bool StartStream(Connection& connection) {
    timers_.push({RealClock().Now() + options_.gap, connection.descriptor, connection.id, 1});
    return Send(connection, stream_head_ + Chunk(Event(kBeginning)));
  }
  void RunTimers() {
    const TimePoint now = RealClock().Now();
    while (!timers_.empty() && timers_.top().at <= now) {
      Timer timer = timers_.top();
      timers_.pop();
      const auto found = connections_.find(timer.descriptor);
      if (found == connections_.end() || found->second->id != timer.id) continue;
      const bool last = ++timer.sent >= options_.chunks;
      if (!Send(*found->second, last ? Chunk(LastEvents()) + "0\r\n\r\n" : stream_chunk_)) {
        Close(timer.descriptor);
        continue;
      }
      timer.at += options_.gap;
      if (!last) timers_.push(timer);
    }
  }

  const int listener_;
  const ModelServerOptions options_;
  const std::string plain_ = PlainAnswer();
  const std::string stream_head_ =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string stream_chunk_ = Chunk(Event("// sum += row[threadIdx.x];\n"));
  int epoll_;
  uint64_t last_id_ = 0;
  std::unordered_map<int, std::unique_ptr<Connection>> connections_;
  std::priority_queue<Timer> timers_;
};

}  // namespace

int Listen(int& port) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(listener, 4096) != 0 ||
      getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return -1;
  }
  port = ntohs(address.sin_port);
  return listener;
}

void Serve(int listener, const ModelServerOptions& options) { Server(listener, options).Run(); }

}  // namespace warpsmith::bench
