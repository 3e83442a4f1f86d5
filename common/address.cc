#include "common/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

namespace warpsmith {

bool IsUnixAddress(const std::string& address) { return address.rfind("unix:", 0) == 0; }

HostAndPort SplitAddress(const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0 || IsUnixAddress(address)) return {};
  HostAndPort split{address.substr(0, colon), address.substr(colon + 1)};
  if (split.host.size() > 2 && split.host.front() == '[' && split.host.back() == ']') {
    split.host = split.host.substr(1, split.host.size() - 2);
  }
  return split;
}

bool IsLocalAddress(const std::string& address) {
  if (IsUnixAddress(address)) return true;
  const std::string host = SplitAddress(address).host;
  if (host == "localhost") return true;
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  in6_addr v6{};
  return inet_pton(AF_INET6, host.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

}  // namespace warpsmith
