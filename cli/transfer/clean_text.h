// Texts on their way out of the house: no folder of a machine, nothing that looks like a key.
// Threading: pure functions.
#ifndef WARPSMITH_CLI_TRANSFER_CLEAN_TEXT_H_
#define WARPSMITH_CLI_TRANSFER_CLEAN_TEXT_H_

#include <string>
#include <string_view>

namespace warpsmith::transfer {

// Valid UTF-8, with "[path]" for paths under folders of people and of temporary files.
std::string WithoutPaths(std::string_view text);

// Whether it holds what looks like a key of a model provider, a bearer token or a private key.
bool LooksSecret(std::string_view text);

}  // namespace warpsmith::transfer

#endif  // WARPSMITH_CLI_TRANSFER_CLEAN_TEXT_H_
