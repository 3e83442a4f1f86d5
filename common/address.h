// Addresses of our servers: "host:port", "[::1]:port" or "unix:/path".
// Threading: pure.
#ifndef WARPSMITH_COMMON_ADDRESS_H_
#define WARPSMITH_COMMON_ADDRESS_H_

#include <string>

namespace warpsmith {

bool IsUnixAddress(const std::string& address);
// A Unix socket, localhost, ::1, or a whole IPv4 address that begins with 127.
bool IsLocalAddress(const std::string& address);

struct HostAndPort {
  std::string host;  // without brackets
  std::string port;
};
// Empty fields where the address has not this form.
HostAndPort SplitAddress(const std::string& address);

}  // namespace warpsmith

#endif  // WARPSMITH_COMMON_ADDRESS_H_
