#include "common/security_settings.h"

#include <cstdlib>
#include <mutex>

namespace warpsmith {
namespace {

std::string EnvironmentVariable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

struct Process {
  std::mutex mutex;
  SecuritySettings settings = SecurityFromEnvironment();
};

Process& TheProcess() {
  static Process process;
  return process;
}

}  // namespace

SecuritySettings SecurityFromEnvironment() {
  SecuritySettings settings;
  settings.tls.certificate = EnvironmentVariable("WARPSMITH_TLS_CERTIFICATE");
  settings.tls.key = EnvironmentVariable("WARPSMITH_TLS_KEY");
  settings.tls.ca = EnvironmentVariable("WARPSMITH_TLS_CA");
  settings.tls.client_ca = EnvironmentVariable("WARPSMITH_TLS_CLIENT_CA");
  settings.tokens = EnvironmentVariable("WARPSMITH_TOKENS");
  settings.token_file = EnvironmentVariable("WARPSMITH_TOKEN_FILE");
  return settings;
}

void SetProcessSecurity(const SecuritySettings& settings) {
  std::lock_guard lock(TheProcess().mutex);
  TheProcess().settings = settings;
}

SecuritySettings ProcessSecurity() {
  std::lock_guard lock(TheProcess().mutex);
  return TheProcess().settings;
}

}  // namespace warpsmith
