// A key that cannot end up in a log or a reply by accident: no conversion to text but Reveal, and Redact for whatever
// came back from a server that was given the key.
// Threading: immutable values.
#ifndef WARPSMITH_LLM_GATEWAY_CONFIG_SECRET_H_
#define WARPSMITH_LLM_GATEWAY_CONFIG_SECRET_H_

#include <string>

#include "common/status.h"

namespace warpsmith::gateway {

class Secret {
 public:
  Secret() = default;
  bool empty() const { return value_.empty(); }
  // For an Authorization header only.
  const std::string& Reveal() const { return value_; }
  // `text` with every appearance of the key, and of its beginning up to a mask, taken out.
  std::string Redact(std::string text) const;

  // Both trim white space around the key. Errors never hold any of it: NotFound where there is none, InvalidArgument
  // where it cannot be a header's value.
  static absl::StatusOr<Secret> FromFile(const std::string& path);
  static absl::StatusOr<Secret> FromEnvironment(const std::string& variable);

 private:
  static absl::StatusOr<Secret> Check(std::string value, const std::string& source);
  std::string value_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_CONFIG_SECRET_H_
