#include "cli/report/page.h"

#include <absl/strings/escaping.h>
#include <fmt/format.h>

#include "cli/report/assets.h"
#include "common/hash.h"

namespace warpsmith::cli::report {
namespace {

// As a policy names a text: "sha256-" and the digest in base 64.
std::string PolicyHash(std::string_view text) {
  return "'sha256-" + absl::Base64Escape(absl::HexStringToBytes(Sha256Hex(text))) + "'";
}

}  // namespace

std::string Page(std::string_view title, const Html& body) {
  const std::string_view frame = kPageHtml, style = kPageCss, script = kPageJs;
  const std::string policy =
      fmt::format("default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
                  PolicyHash(style), PolicyHash(script));
  std::string out;
  out.reserve(frame.size() + style.size() + script.size() + body.text().size() + 1024);
  for (size_t at = 0; at < frame.size();) {
    const size_t slot = frame.find("{{", at);
    const size_t end = slot == std::string_view::npos ? slot : frame.find("}}", slot);
    if (end == std::string_view::npos) {
      out += frame.substr(at);
      break;
    }
    out += frame.substr(at, slot - at);
    const std::string_view name = frame.substr(slot + 2, end - slot - 2);
    if (name == "title") out += Escape(title);
    if (name == "policy") out += policy;
    if (name == "style") out += style;
    if (name == "body") out += body.text();
    if (name == "script") out += script;
    at = end + 2;
  }
  return out;
}

}  // namespace warpsmith::cli::report
