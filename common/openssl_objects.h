// OpenSSL's objects as owners, and its texts.
// Threading: as OpenSSL's objects, each belongs to one thread at a time.
#ifndef WARPSMITH_COMMON_OPENSSL_OBJECTS_H_
#define WARPSMITH_COMMON_OPENSSL_OBJECTS_H_

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

namespace warpsmith {

template <auto Free>
struct OpensslDeleter {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
using BioPointer = std::unique_ptr<BIO, OpensslDeleter<BIO_free_all>>;
using CertificatePointer = std::unique_ptr<X509, OpensslDeleter<X509_free>>;
using KeyPointer = std::unique_ptr<EVP_PKEY, OpensslDeleter<EVP_PKEY_free>>;
using SslContextPointer = std::unique_ptr<SSL_CTX, OpensslDeleter<SSL_CTX_free>>;
using SslPointer = std::unique_ptr<SSL, OpensslDeleter<SSL_free>>;

// "May 28 17:04:00 2025 GMT"
inline std::string TimeText(const ASN1_TIME* time) {
  const BioPointer text(BIO_new(BIO_s_mem()));
  if (!text || ASN1_TIME_print(text.get(), time) != 1) return "an unreadable time";
  char* data = nullptr;
  const long size = BIO_get_mem_data(text.get(), &data);
  return {data, static_cast<size_t>(size)};
}

}  // namespace warpsmith

#endif  // WARPSMITH_COMMON_OPENSSL_OBJECTS_H_
