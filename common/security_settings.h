// Files and tokens of a process, and those of the connections that it makes.
// Threading: SetProcessSecurity once, in main, before the first connection; the rest is safe from any thread.
#ifndef WARPSMITH_COMMON_SECURITY_SETTINGS_H_
#define WARPSMITH_COMMON_SECURITY_SETTINGS_H_

#include <string>

#include "common/transport_security.h"

namespace warpsmith {

struct SecuritySettings {
  TransportSecurity tls;
  std::string tokens;      // a server's: the file of those that may call
  std::string token_file;  // a client's: the file of its own token
};

// From WARPSMITH_TLS_CERTIFICATE, _TLS_KEY, _TLS_CA, _TLS_CLIENT_CA, WARPSMITH_TOKENS, WARPSMITH_TOKEN_FILE.
SecuritySettings SecurityFromEnvironment();

// What ConnectTo(address) uses; before it is set, the environment's.
void SetProcessSecurity(const SecuritySettings& settings);
SecuritySettings ProcessSecurity();

}  // namespace warpsmith

#endif  // WARPSMITH_COMMON_SECURITY_SETTINGS_H_
