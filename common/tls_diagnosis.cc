#include "common/tls_diagnosis.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <openssl/sslerr.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>

#include "common/address.h"
#include "common/openssl_objects.h"

namespace warpsmith {
namespace {

class Socket {
 public:
  ~Socket() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  int get() const { return descriptor_; }

  bool Connect(const HostAndPort& to, double seconds) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* list = nullptr;
    if (getaddrinfo(to.host.c_str(), to.port.c_str(), &hints, &list) != 0) return false;
    for (const addrinfo* at = list; at != nullptr && descriptor_ < 0; at = at->ai_next) {
      const int candidate = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
      if (candidate < 0) continue;
      bool connected = connect(candidate, at->ai_addr, at->ai_addrlen) == 0;
      if (!connected && errno == EINPROGRESS) {
        pollfd wait{candidate, POLLOUT, 0};
        int error = 0;
        socklen_t size = sizeof error;
        connected = poll(&wait, 1, static_cast<int>(seconds * 1000)) == 1 &&
                    getsockopt(candidate, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
      }
      if (connected) {
        descriptor_ = candidate;
      } else {
        close(candidate);
      }
    }
    freeaddrinfo(list);
    if (descriptor_ < 0) return false;
    fcntl(descriptor_, F_SETFL, fcntl(descriptor_, F_GETFL) & ~O_NONBLOCK);
    timeval limit{};
    limit.tv_sec = static_cast<time_t>(seconds);
    limit.tv_usec = static_cast<suseconds_t>((seconds - std::floor(seconds)) * 1e6);
    setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    return true;
  }

 private:
  int descriptor_ = -1;
};

bool IsIpAddress(const std::string& host) {
  in6_addr ignored{};
  return inet_pton(AF_INET, host.c_str(), &ignored) == 1 || inet_pton(AF_INET6, host.c_str(), &ignored) == 1;
}

std::string SubjectOf(const X509* certificate) {
  char name[256] = {};
  X509_NAME_oneline(X509_get_subject_name(certificate), name, sizeof name);
  return name;
}

// The names that a certificate is good for.
std::string NamesOf(const X509* certificate) {
  std::string names;
  auto* alternatives =
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(alternatives); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(alternatives, i);
    std::string text;
    if (name->type == GEN_DNS) {
      text.assign(reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
                  static_cast<size_t>(ASN1_STRING_length(name->d.dNSName)));
    } else if (name->type == GEN_IPADD) {
      char address[INET6_ADDRSTRLEN] = {};
      const int family = ASN1_STRING_length(name->d.iPAddress) == 4 ? AF_INET : AF_INET6;
      inet_ntop(family, ASN1_STRING_get0_data(name->d.iPAddress), address, sizeof address);
      text = address;
    }
    if (!text.empty()) names += (names.empty() ? "" : ", ") + text;
  }
  GENERAL_NAMES_free(alternatives);
  return names.empty() ? "no host" : names;
}

// What is wrong with the server's certificate; empty: nothing.
std::string WrongCertificate(const std::string& address, const std::string& host, const TransportSecurity& security,
                             SSL* connection) {
  const long verdict = SSL_get_verify_result(connection);
  const CertificatePointer certificate(SSL_get1_peer_certificate(connection));
  if (verdict == X509_V_OK || !certificate) return "";
  switch (verdict) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return fmt::format("the certificate of {} ({}) expired on {}; make a new one there", address,
                         SubjectOf(certificate.get()), TimeText(X509_get0_notAfter(certificate.get())));
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return fmt::format("the certificate of {} ({}) is not valid before {}; set the clocks", address,
                         SubjectOf(certificate.get()), TimeText(X509_get0_notBefore(certificate.get())));
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return fmt::format(
          "the certificate of {} is for {}, not for {}; connect by a name that is in it, or make one with "
          "subjectAltName={}:{}",
          address, NamesOf(certificate.get()), host, IsIpAddress(host) ? "IP" : "DNS", host);
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return fmt::format(
          "the certificate of {} ({}) was not signed by an authority of {}; give the right one with "
          "--tls-ca",
          address, SubjectOf(certificate.get()), security.ca);
    default:
      return fmt::format("the certificate of {} ({}) is refused: {}", address, SubjectOf(certificate.get()),
                         X509_verify_cert_error_string(verdict));
  }
}

// What the server's alert means; empty: it sent none that we know.
std::string Alert(const std::string& address, const TransportSecurity& security, unsigned long error) {
  const std::string ours =
      security.certificate.empty() ? "none was given" : "that of " + security.certificate + " was shown";
  switch (ERR_GET_REASON(error)) {
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
      return fmt::format("{} asks for a client certificate and {}; give --tls-certificate and --tls-key", address,
                         ours);
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
      return fmt::format(
          "{} does not trust the authority that signed our certificate {}; have it signed by one of the "
          "server's --tls-client-ca",
          address, security.certificate);
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
      return fmt::format("{} says that our certificate {} has expired; make a new one", address, security.certificate);
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
      return fmt::format("{} refuses our certificate {}", address, security.certificate);
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
    case SSL_R_BAD_PACKET_LENGTH:
    case SSL_R_HTTP_REQUEST:
      return fmt::format("{} does not speak TLS; start it with --tls-certificate and --tls-key, or leave --tls-ca out",
                         address);
    default:
      return "";
  }
}

// Called where the server asks for a certificate and none was given.
int NoteCertificateRequest(SSL* connection, X509**, EVP_PKEY**) {
  *static_cast<bool*>(SSL_get_app_data(connection)) = true;
  return 0;
}

// gRPC's servers end a connection whose client certificate they refuse without a word.
std::string Ended(const std::string& address, const TransportSecurity& security, bool asked) {
  if (asked) {
    return fmt::format("{} asks for a client certificate and none was given; give --tls-certificate and --tls-key",
                       address);
  }
  if (!security.certificate.empty()) {
    return fmt::format(
        "{} ended the connection when it had seen our certificate {}; have it signed by one of the "
        "server's --tls-client-ca",
        address, security.certificate);
  }
  return "";
}

bool Prepare(SSL_CTX* context, const TransportSecurity& security) {
  static constexpr unsigned char kHttp2[] = {2, 'h', '2'};
  SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nullptr);  // goes on to the end; the verdict is asked for
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_client_cert_cb(context, NoteCertificateRequest);
  SSL_CTX_set_alpn_protos(context, kHttp2, sizeof kHttp2);
  if (!security.ca.empty() && SSL_CTX_load_verify_locations(context, security.ca.c_str(), nullptr) != 1) return false;
  if (security.certificate.empty() || security.key.empty()) return true;
  return SSL_CTX_use_certificate_chain_file(context, security.certificate.c_str()) == 1 &&
         SSL_CTX_use_PrivateKey_file(context, security.key.c_str(), SSL_FILETYPE_PEM) == 1;
}

std::string ShakeHands(const std::string& address, const std::string& host, const TransportSecurity& security,
                       int descriptor) {
  const SslContextPointer context(SSL_CTX_new(TLS_client_method()));
  if (!context || !Prepare(context.get(), security)) return "";
  const SslPointer connection(SSL_new(context.get()));
  bool asked = false;
  if (!connection || SSL_set_fd(connection.get(), descriptor) != 1) return "";
  SSL_set_app_data(connection.get(), &asked);
  if (IsIpAddress(host)) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(connection.get()), host.c_str());
  } else {
    SSL_set1_host(connection.get(), host.c_str());
    SSL_set_tlsext_host_name(connection.get(), host.c_str());
  }
  const bool shaken = SSL_connect(connection.get()) == 1;
  if (security.ca.empty()) {
    return shaken ? fmt::format(
                        "{} speaks TLS; name the authorities that signed its certificate with --tls-ca or "
                        "WARPSMITH_TLS_CA",
                        address)
                  : "";
  }
  if (shaken) {
    std::string wrong = WrongCertificate(address, host, security, connection.get());
    if (!wrong.empty()) return wrong;
    // A server that dislikes our certificate says so after the handshake; one that does not begins to speak HTTP/2.
    char byte = 0;
    ERR_clear_error();
    errno = 0;
    const int read = SSL_read(connection.get(), &byte, 1);
    const bool timed_out = errno == EAGAIN || SSL_get_error(connection.get(), read) == SSL_ERROR_WANT_READ;
    if (read == 1 || timed_out) return "";
  }
  const unsigned long error = ERR_peek_error();
  std::string found = error != 0 ? Alert(address, security, error) : "";
  if (found.empty()) found = Ended(address, security, asked);
  if (!found.empty() || shaken || error != 0) return found;
  return fmt::format("{} ended the connection when TLS began; does it speak TLS, and is a warpsmith program there?",
                     address);
}

}  // namespace

std::string DiagnoseTls(const std::string& address, const TransportSecurity& security, double seconds) {
  const HostAndPort to = SplitAddress(address);
  Socket socket;
  if (to.host.empty() || to.port.empty() || !socket.Connect(to, seconds)) return "";
  ERR_clear_error();
  const std::string found = ShakeHands(address, to.host, security, socket.get());
  ERR_clear_error();
  return found;
}

}  // namespace warpsmith
