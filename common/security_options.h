// The flags that programs share for certificates and tokens; each has a variable of the environment beside it.
// Threading: main's.
#ifndef WARPSMITH_COMMON_SECURITY_OPTIONS_H_
#define WARPSMITH_COMMON_SECURITY_OPTIONS_H_

#include <CLI/CLI.hpp>

#include "common/security_settings.h"

namespace warpsmith {

// --tls-ca, --tls-certificate, --tls-key, --token-file.
void AddClientSecurityOptions(CLI::App& app, SecuritySettings* settings);
// Those of a client, --tls-client-ca and --tokens.
void AddServerSecurityOptions(CLI::App& app, SecuritySettings* settings);

}  // namespace warpsmith

#endif  // WARPSMITH_COMMON_SECURITY_OPTIONS_H_
