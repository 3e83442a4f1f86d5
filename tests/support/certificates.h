// An authority of a test's own and certificates that it signs, made by the openssl program as a lab would make them.
// Threading: one thread. Errors: thrown.
#ifndef WARPSMITH_TESTS_SUPPORT_CERTIFICATES_H_
#define WARPSMITH_TESTS_SUPPORT_CERTIFICATES_H_

#include <string>

#include "common/file.h"

namespace warpsmith::testing {

struct CertificateFiles {
  std::string certificate;
  std::string key;
};

class Authority {
 public:
  explicit Authority(const std::string& name = "lab");

  const std::string& ca() const { return ca_; }
  // Signed for the names, "DNS:localhost,IP:127.0.0.1"; days < 0: it has expired. Made anew each time it is asked for.
  CertificateFiles Make(const std::string& common_name, const std::string& names = "DNS:localhost,IP:127.0.0.1",
                        int days = 2);
  std::string folder() const { return folder_.path().string(); }

 private:
  TemporaryDirectory folder_;
  std::string ca_;
  std::string ca_key_;
  int made_ = 0;
};

}  // namespace warpsmith::testing

#endif  // WARPSMITH_TESTS_SUPPORT_CERTIFICATES_H_
