#include "common/certificate_files.h"

#include <fmt/format.h>
#include <openssl/pem.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <ctime>
#include <vector>

#include "common/file.h"
#include "common/openssl_objects.h"

namespace warpsmith {
namespace {

constexpr size_t kLargestPem = 4u << 20;
constexpr time_t kWarnSeconds = 14 * 24 * 3600;

// Asks nobody for a passphrase.
int NoPassphrase(char*, int, int, void*) { return -1; }

absl::StatusOr<std::string> ReadPem(const std::string& file, const char* what) {
  auto text = ReadFile(file, kLargestPem);
  if (text.ok()) return text;
  return MakeStatus(text.status().code(),
                    fmt::format("{}; {} must be a PEM file that the user who runs this program can read",
                                Message(text.status()), what));
}

std::vector<CertificatePointer> CertificatesOf(const std::string& pem) {
  std::vector<CertificatePointer> certificates;
  const BioPointer input(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  while (X509* certificate = PEM_read_bio_X509(input.get(), nullptr, NoPassphrase, nullptr)) {
    certificates.emplace_back(certificate);
  }
  ERR_clear_error();
  return certificates;
}

// Empty: valid now.
std::string WhyNotValidNow(const X509* certificate) {
  if (X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0) {
    return fmt::format("expired on {}; make a new one", TimeText(X509_get0_notAfter(certificate)));
  }
  if (X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0) {
    return fmt::format("is not valid before {}; set this machine's clock, or wait",
                       TimeText(X509_get0_notBefore(certificate)));
  }
  return "";
}

absl::Status CheckKeyMode(const std::string& file) {
  struct stat information {};
  if (stat(file.c_str(), &information) == 0 && (information.st_mode & (S_IROTH | S_IWOTH | S_IWGRP)) != 0) {
    return FailedPrecondition(
        fmt::format("the key {} can be read by everybody or changed by others; chmod 600 {}", file, file));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckCertificateAndKey(const std::string& certificate_file, const std::string& key_file) {
  WARPSMITH_ASSIGN_OR_RETURN(const std::string certificate_pem, ReadPem(certificate_file, "the certificate"));
  WARPSMITH_ASSIGN_OR_RETURN(const std::string key_pem, ReadPem(key_file, "the certificate's key"));
  WARPSMITH_RETURN_IF_ERROR(CheckKeyMode(key_file));
  const std::vector<CertificatePointer> certificates = CertificatesOf(certificate_pem);
  if (certificates.empty()) {
    return InvalidArgument(fmt::format(
        "{}: there is no PEM certificate in it; it must begin with -----BEGIN CERTIFICATE-----", certificate_file));
  }
  const BioPointer input(BIO_new_mem_buf(key_pem.data(), static_cast<int>(key_pem.size())));
  const KeyPointer key(PEM_read_bio_PrivateKey(input.get(), nullptr, NoPassphrase, nullptr));
  ERR_clear_error();
  if (!key) {
    return InvalidArgument(fmt::format("{}: there is no PEM private key without a passphrase in it", key_file));
  }
  const bool matches = X509_check_private_key(certificates[0].get(), key.get()) == 1;
  ERR_clear_error();
  if (!matches) {
    return InvalidArgument(
        fmt::format("the key {} does not belong to the certificate {}; give the two that were made together", key_file,
                    certificate_file));
  }
  if (const std::string why = WhyNotValidNow(certificates[0].get()); !why.empty()) {
    return FailedPrecondition(fmt::format("the certificate {} {}", certificate_file, why));
  }
  time_t soon = time(nullptr) + kWarnSeconds;
  if (X509_cmp_time(X509_get0_notAfter(certificates[0].get()), &soon) < 0) {
    spdlog::warn("the certificate {} expires on {}", certificate_file,
                 TimeText(X509_get0_notAfter(certificates[0].get())));
  }
  return absl::OkStatus();
}

absl::Status CheckAuthorities(const std::string& file) {
  WARPSMITH_ASSIGN_OR_RETURN(const std::string pem, ReadPem(file, "the file of certificate authorities"));
  const std::vector<CertificatePointer> certificates = CertificatesOf(pem);
  if (certificates.empty()) {
    return InvalidArgument(fmt::format(
        "{}: there is no PEM certificate in it; it must hold those of the authorities that are trusted", file));
  }
  std::string why;
  for (const CertificatePointer& certificate : certificates) {
    why = WhyNotValidNow(certificate.get());
    if (why.empty()) return absl::OkStatus();
  }
  return FailedPrecondition(fmt::format("the authority's certificate {} {}", file, why));
}

}  // namespace warpsmith
