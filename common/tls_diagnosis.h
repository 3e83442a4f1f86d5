// Why a TLS connection cannot be made, in words: gRPC tells it in OpenSSL's, or not at all.
// Threading: pure but for one connection, made and closed. Units: seconds.
#ifndef WARPSMITH_COMMON_TLS_DIAGNOSIS_H_
#define WARPSMITH_COMMON_TLS_DIAGNOSIS_H_

#include <string>

#include "common/transport_security.h"

namespace warpsmith {

// Shakes hands with host:port as gRPC would and says what is wrong and the remedy; empty: nothing that it can tell (not
// reachable, or all is well). Without `security.ca`: whether the server speaks TLS.
std::string DiagnoseTls(const std::string& address, const TransportSecurity& security, double seconds);

}  // namespace warpsmith

#endif  // WARPSMITH_COMMON_TLS_DIAGNOSIS_H_
