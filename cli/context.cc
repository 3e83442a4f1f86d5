#include "cli/context.h"

#include <ostream>

#include "cli/exit_code.h"
#include "cli/text.h"
#include "common/json.h"

namespace warpsmith::cli {

int Fail(Context& context, const absl::Status& status) {
  const int code = ExitCodeOf(status);
  if (context.json) {
    const Json error = {{"error", {{"message", Message(status)}, {"exit_code", code}}}};
    context.err << error.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
  } else {
    context.err << "warpsmith: " << Block(Message(status)) << std::endl;
  }
  return code;
}

}  // namespace warpsmith::cli
