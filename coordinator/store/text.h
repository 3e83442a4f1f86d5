// Text from models, workers and operators, made fit for PostgreSQL's text type; identifiers of our own.
// Threading: pure, but for NewId's random source.
#ifndef WARPSMITH_COORDINATOR_STORE_TEXT_H_
#define WARPSMITH_COORDINATOR_STORE_TEXT_H_

#include <string>
#include <string_view>

namespace warpsmith::store {

// Drops NUL bytes and broken UTF-8, and cuts at a character's border at or below `max_bytes`.
std::string CleanText(std::string_view text, size_t max_bytes = 4096);

// As CleanText, on one line: control characters become spaces.
std::string CleanLine(std::string_view text, size_t max_bytes = 400);

// 26 lowercase letters and digits, random from the first one, so that short prefixes tell ids apart.
std::string NewId();

// Source in a form in which layout and comments do not count: two such equal texts are the same program. String and
// character literals and preprocessor lines stay as they are; the plan comment counts.
std::string NormalizeSource(std::string_view source);

}  // namespace warpsmith::store

#endif  // WARPSMITH_COORDINATOR_STORE_TEXT_H_
