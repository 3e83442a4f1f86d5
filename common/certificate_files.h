// Looks at PEM files before a connection is made with them, since what fails in a handshake is told badly.
// Threading: pure but for reading files. Errors: InvalidArgument or FailedPrecondition; each names the file, what is
// wrong with it and the remedy.
#ifndef WARPSMITH_COMMON_CERTIFICATE_FILES_H_
#define WARPSMITH_COMMON_CERTIFICATE_FILES_H_

#include <string>

#include "common/status.h"

namespace warpsmith {

// A certificate (its chain behind it in the same file) that is valid now, and its key, which has no passphrase and
// which others cannot read. Warns in the log in the last two weeks.
absl::Status CheckCertificateAndKey(const std::string& certificate_file, const std::string& key_file);

// At least one certificate, of which at least one is valid now.
absl::Status CheckAuthorities(const std::string& file);

}  // namespace warpsmith

#endif  // WARPSMITH_COMMON_CERTIFICATE_FILES_H_
