// Words of CUDA C++ that mean something without being declared in a file, so that renaming them changes a program.
// Threading: pure.
#ifndef WARPSMITH_COORDINATOR_STORE_SOURCE_WORDS_H_
#define WARPSMITH_COORDINATOR_STORE_SOURCE_WORDS_H_

#include <string_view>

namespace warpsmith::store {

// Names of types that can stand before a declared name.
bool IsTypeWord(std::string_view word);

// Keywords, types, built-in variables and functions, common macros; and every name that begins with an underscore.
bool IsReservedWord(std::string_view word);

}  // namespace warpsmith::store

#endif  // WARPSMITH_COORDINATOR_STORE_SOURCE_WORDS_H_
