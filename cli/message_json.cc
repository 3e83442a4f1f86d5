#include "cli/message_json.h"

#include <google/protobuf/message.h>
#include <google/protobuf/util/json_util.h>

namespace warpsmith::cli {

std::string MessageToJson(const google::protobuf::Message& message, bool one_line) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = !one_line;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(message, &json, options).ok()) json = "{}";
  while (!json.empty() && json.back() == '\n') json.pop_back();
  return json;
}

}  // namespace warpsmith::cli
