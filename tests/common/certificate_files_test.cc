// What is wrong with a certificate's files is said before a connection is tried, with the file and the remedy.
#include "common/certificate_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "common/address.h"
#include "common/file.h"
#include "tests/support/certificates.h"

namespace warpsmith {
namespace {

using Catch::Contains;

TEST_CASE("a certificate and its key are checked", "[unit]") {
  testing::Authority lab;
  const testing::CertificateFiles server = lab.Make("server");
  const testing::CertificateFiles other = lab.Make("other");
  const testing::CertificateFiles expired = lab.Make("expired", "DNS:localhost", -1);
  CHECK(CheckCertificateAndKey(server.certificate, server.key).ok());
  CHECK(CheckAuthorities(lab.ca()).ok());

  const auto refusal = [](const std::string& certificate, const std::string& key) {
    return Message(CheckCertificateAndKey(certificate, key));
  };
  CHECK_THAT(refusal("/nowhere/a.pem", server.key), Contains("/nowhere/a.pem") && Contains("No such file"));
  CHECK_THAT(refusal(server.certificate, "/nowhere/a.key"), Contains("/nowhere/a.key") && Contains("key"));
  CHECK_THAT(refusal(server.certificate, other.key),
             Contains(other.key) && Contains(server.certificate) && Contains("does not belong"));
  CHECK_THAT(refusal(expired.certificate, expired.key), Contains(expired.certificate) && Contains("expired on"));
  CHECK_THAT(refusal(server.key, server.key), Contains("no PEM certificate"));
  REQUIRE(chmod(server.certificate.c_str(), 0600) == 0);
  CHECK_THAT(refusal(server.certificate, server.certificate), Contains("no PEM private key"));
  REQUIRE(chmod(server.key.c_str(), 0644) == 0);
  CHECK_THAT(refusal(server.certificate, server.key), Contains("chmod 600"));

  CHECK_THAT(Message(CheckAuthorities("/nowhere/ca.pem")), Contains("/nowhere/ca.pem"));
  CHECK_THAT(Message(CheckAuthorities(server.key)), Contains("no PEM certificate"));
  CHECK_THAT(Message(CheckAuthorities(expired.certificate)), Contains("expired on"));
}

TEST_CASE("a file that may not be read is named", "[unit]") {
  if (geteuid() == 0) return;  // root reads everything
  testing::Authority lab;
  const testing::CertificateFiles server = lab.Make("server");
  REQUIRE(chmod(server.key.c_str(), 0) == 0);
  CHECK_THAT(Message(CheckCertificateAndKey(server.certificate, server.key)),
             Contains(server.key) && Contains("Permission denied"));
}

TEST_CASE("only this machine's addresses are local", "[unit]") {
  for (const char* address : {"127.0.0.1:7700", "127.9.8.7:1", "localhost:7700", "[::1]:7700", "unix:/run/a.sock"}) {
    CHECK(IsLocalAddress(address));
  }
  for (const char* address : {"0.0.0.0:7700", "[::]:7700", "127.0.0.1.example.org:7700", "127.example.org:80",
                              "localhost.example.org:1", "10.0.0.1:7700", "dns:///127.0.0.1:7700", "node7:7700", ""}) {
    INFO(address);
    CHECK_FALSE(IsLocalAddress(address));
  }
  CHECK(SplitAddress("[2001:db8::1]:7700").host == "2001:db8::1");
  CHECK(SplitAddress("node7:7700").port == "7700");
}

}  // namespace
}  // namespace warpsmith
