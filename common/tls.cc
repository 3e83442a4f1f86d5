#include "common/tls.h"

#include <grpcpp/security/tls_credentials_options.h>

#include "common/certificate_files.h"

namespace warpsmith {
namespace {

namespace experimental = grpc::experimental;

absl::Status CheckPair(const TransportSecurity& security) {
  if (security.certificate.empty()) {
    return InvalidArgument("--tls-key is given without --tls-certificate; give both");
  }
  if (security.key.empty()) return InvalidArgument("--tls-certificate is given without --tls-key; give both");
  return CheckCertificateAndKey(security.certificate, security.key);
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> TlsServerCredentials(const TransportSecurity& security) {
  WARPSMITH_RETURN_IF_ERROR(CheckPair(security));
  if (!security.client_ca.empty()) WARPSMITH_RETURN_IF_ERROR(CheckAuthorities(security.client_ca));
  auto provider = std::make_shared<experimental::FileWatcherCertificateProvider>(
      security.key, security.certificate, security.client_ca, static_cast<unsigned>(security.refresh_seconds));
  experimental::TlsServerCredentialsOptions options(provider);
  options.watch_identity_key_cert_pairs();
  if (!security.client_ca.empty()) {
    options.watch_root_certs();
    options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return experimental::TlsServerCredentials(options);
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> TlsChannelCredentials(const TransportSecurity& security) {
  WARPSMITH_RETURN_IF_ERROR(CheckAuthorities(security.ca));
  const bool shows = !security.certificate.empty() || !security.key.empty();
  if (shows) WARPSMITH_RETURN_IF_ERROR(CheckPair(security));
  auto provider = std::make_shared<experimental::FileWatcherCertificateProvider>(
      security.key, security.certificate, security.ca, static_cast<unsigned>(security.refresh_seconds));
  experimental::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(provider);
  options.watch_root_certs();
  if (shows) options.watch_identity_key_cert_pairs();
  options.set_certificate_verifier(std::make_shared<experimental::HostNameCertificateVerifier>());
  return experimental::TlsCredentials(options);
}

}  // namespace warpsmith
