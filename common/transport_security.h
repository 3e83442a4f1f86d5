// Which certificates a process uses. Threading: a value.
#ifndef WARPSMITH_COMMON_TRANSPORT_SECURITY_H_
#define WARPSMITH_COMMON_TRANSPORT_SECURITY_H_

#include <string>

namespace warpsmith {

// Names of PEM files; empty: not given.
struct TransportSecurity {
  std::string certificate;  // of this process, with its chain
  std::string key;          // the certificate's
  std::string ca;           // authorities that sign the servers that this process connects to
  std::string client_ca;    // authorities that sign clients; given: every client must show a certificate
  int refresh_seconds = 5;  // how often the files are looked at

  bool server() const { return !certificate.empty(); }
  bool client() const { return !ca.empty(); }
};

}  // namespace warpsmith

#endif  // WARPSMITH_COMMON_TRANSPORT_SECURITY_H_
