#include "tests/support/certificates.h"

#include <sys/stat.h>

#include <chrono>
#include <stdexcept>
#include <vector>

#include "common/run_child.h"

namespace warpsmith::testing {
namespace {

void RunOpenssl(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "/usr/bin/openssl");
  ChildOptions options;
  options.arguments = std::move(arguments);
  const ChildExit ended = RunChild(options, "", std::chrono::seconds(60)).value();
  if (ended.exit_code != 0) throw std::runtime_error("openssl: " + ended.standard_error);
}

}  // namespace

Authority::Authority(const std::string& name) : folder_(TemporaryDirectory::Create("warpsmith-ca-").value()) {
  ca_ = (folder_.path() / "ca.pem").string();
  ca_key_ = (folder_.path() / "ca.key").string();
  RunOpenssl({"req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
              "/CN=" + name + " authority", "-keyout", ca_key_, "-out", ca_});
}

CertificateFiles Authority::Make(const std::string& common_name, const std::string& names, int days) {
  const std::string base = (folder_.path() / (common_name + "-" + std::to_string(++made_))).string();
  CertificateFiles files{base + ".pem", base + ".key"};
  RunOpenssl({"req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
              "/CN=" + common_name, "-keyout", files.key, "-out", base + ".csr"});
  chmod(files.key.c_str(), 0600);
  if (!WriteFileAtomically(base + ".ext", "subjectAltName=" + names + "\n").ok()) throw std::runtime_error(base);
  RunOpenssl({"x509", "-req", "-in", base + ".csr", "-CA", ca_, "-CAkey", ca_key_, "-CAcreateserial", "-days",
              std::to_string(days), "-extfile", base + ".ext", "-out", files.certificate});
  return files;
}

}  // namespace warpsmith::testing
