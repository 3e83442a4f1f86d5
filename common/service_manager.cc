#include "common/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace warpsmith {
namespace {

std::string* ManagerSocket() {
  static std::string address;
  return &address;
}

}  // namespace

void FindServiceManager() {
  const char* address = std::getenv("NOTIFY_SOCKET");
  *ManagerSocket() = address != nullptr && (*address == '/' || *address == '@') ? address : "";
  unsetenv("NOTIFY_SOCKET");
}

bool HasServiceManager() { return !ManagerSocket()->empty(); }

bool TellServiceManager(const std::string& lines) {
  const std::string& path = *ManagerSocket();
  sockaddr_un to{};
  if (path.empty() || path.size() >= sizeof to.sun_path) return false;
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path, path.data(), path.size());
  if (path[0] == '@') to.sun_path[0] = '\0';  // an abstract one has no file
  const int telling = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (telling < 0) return false;
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  const ssize_t told = sendto(telling, lines.data(), lines.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                              reinterpret_cast<const sockaddr*>(&to), length);
  close(telling);
  return told == static_cast<ssize_t>(lines.size());
}

}  // namespace warpsmith
