// Messages as protobuf's JSON: field names as in the .proto files, fields at their defaults included.
// Threading: pure.
#ifndef WARPSMITH_CLI_MESSAGE_JSON_H_
#define WARPSMITH_CLI_MESSAGE_JSON_H_

#include <string>

namespace google::protobuf {
class Message;
}

namespace warpsmith::cli {

std::string MessageToJson(const google::protobuf::Message& message, bool one_line = false);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_MESSAGE_JSON_H_
