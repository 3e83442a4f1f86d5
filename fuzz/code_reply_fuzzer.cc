// Replies that should hold a candidate file: one of four outcomes, a file only where it is whole.
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/check.h"
#include "llm_gateway/replies/code.h"
#include "llm_gateway/replies/source_scan.h"
#include "llm_gateway/replies/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace warpsmith::gateway;
  std::string_view reply(reinterpret_cast<const char*>(data), size);
  const std::string valid = ValidText(reply);
  FUZZ_CHECK(ValidText(valid) == valid);
  FUZZ_CHECK(ValidText(Bounded(valid, 100)) == Bounded(valid, 100));
  for (const bool cut : {false, true}) {
    for (const std::string_view text : {reply, std::string_view(valid)}) {
      const CodeReply code = ReadCode(text, cut);
      FUZZ_CHECK(code.status == "ok" || code.status == "no_code" || code.status == "truncated" ||
                 code.status == "host_code");
      FUZZ_CHECK((code.status == "ok") == code.message.empty());
      FUZZ_CHECK((code.status == "ok") == !code.source.empty());
      if (code.status != "ok") continue;
      const auto plans = FindPlanComments(code.source);
      FUZZ_CHECK(!plans.empty() && plans[0] == 0);
      FUZZ_CHECK(code.source.find("*/") != code.source.npos);
      FUZZ_CHECK(code.source.find('\r') == code.source.npos);
      FUZZ_CHECK(HostCodeSign(code.source).empty());
      FUZZ_CHECK(ValidText(code.source) == code.source);
    }
  }
  return 0;
}
