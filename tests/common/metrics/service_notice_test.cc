// What a service manager hears, over real datagrams.
#include "common/metrics/service_notice.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include "common/service_manager.h"

namespace warpsmith::metrics {
namespace {

// Listens as systemd does, at an abstract address of this process.
class Manager {
 public:
  Manager() : name_(fmt::format("@warpsmith-notice-test-{}", getpid())) {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    std::memcpy(at.sun_path, name_.data(), name_.size());
    at.sun_path[0] = '\0';
    socket_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    REQUIRE(bind(socket_, reinterpret_cast<const sockaddr*>(&at),
                 static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name_.size())) == 0);
    setenv("NOTIFY_SOCKET", name_.c_str(), 1);
    FindServiceManager();
  }
  ~Manager() {
    close(socket_);
    unsetenv("NOTIFY_SOCKET");
    FindServiceManager();
  }

  std::string Hear(int patience_ms = 10000) {
    pollfd ready{socket_, POLLIN, 0};
    if (poll(&ready, 1, patience_ms) != 1) return "";
    char heard[4096];
    const ssize_t bytes = recv(socket_, heard, sizeof heard, 0);
    return std::string(heard, bytes > 0 ? static_cast<size_t>(bytes) : 0);
  }

 private:
  const std::string name_;
  int socket_ = -1;
};

TEST_CASE("a service is started when it is ready, and not before", "[unit]") {
  Manager manager;
  CHECK(HasServiceManager());
  CHECK(std::getenv("NOTIFY_SOCKET") == nullptr);  // not for children
  std::atomic<bool> connected{false};
  Readiness readiness;
  readiness.Set("device", [] { return absl::OkStatus(); });
  readiness.Set("coordinator", [&] { return connected ? absl::OkStatus() : Unavailable("it does not answer"); });
  ServiceNotice notice(readiness, 0.01);
  CHECK(manager.Hear() == "STATUS=coordinator: not ready: it does not answer");
  CHECK(manager.Hear(100).empty());  // the same is not told again
  connected = true;
  CHECK(manager.Hear() == "READY=1\nSTATUS=ready");
  connected = false;
  CHECK(manager.Hear() == "STATUS=coordinator: not ready: it does not answer");
  notice.Stop();
  CHECK(manager.Hear() == "STOPPING=1\nSTATUS=stopping");
  notice.Stop();
  CHECK(manager.Hear(50).empty());
}

TEST_CASE("one that stands by is started, and says what it waits for", "[unit]") {
  Manager manager;
  Readiness readiness;
  readiness.Set("leadership", [] { return Unavailable("the lock is not asked for yet"); });
  ServiceNotice notice(readiness, 3600);
  CHECK(manager.Hear() == "STATUS=leadership: not ready: the lock is not asked for yet");
  notice.StandBy(true);
  CHECK(manager.Hear() == "READY=1\nSTATUS=stands by: another one leads");
  notice.StandBy(false);
  CHECK(manager.Hear() == "STATUS=leadership: not ready: the lock is not asked for yet");
}

TEST_CASE("without a manager nothing is told and nothing waits", "[unit]") {
  unsetenv("NOTIFY_SOCKET");
  FindServiceManager();
  CHECK_FALSE(HasServiceManager());
  CHECK_FALSE(TellServiceManager("READY=1"));
  const Readiness readiness;
  ServiceNotice notice(readiness, 3600);
  notice.StandBy(true);
  notice.Stop();
  for (const char* wrong : {"", "relative", "vsock:2:1"}) {
    setenv("NOTIFY_SOCKET", wrong, 1);
    FindServiceManager();
    CHECK_FALSE(HasServiceManager());
  }
  // A manager that is gone, and a path longer than an address takes.
  for (const std::string& gone : {std::string("/nonexistent/notify"), "/" + std::string(200, 'x')}) {
    setenv("NOTIFY_SOCKET", gone.c_str(), 1);
    FindServiceManager();
    CHECK_FALSE(TellServiceManager("READY=1"));
  }
  unsetenv("NOTIFY_SOCKET");
  FindServiceManager();
}

}  // namespace
}  // namespace warpsmith::metrics
