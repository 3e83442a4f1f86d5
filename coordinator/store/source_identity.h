// Source in a form in which the file's own names do not count either: two such equal texts are one program under other
// names. Renamed are names that the file declares itself, at its outermost level or within one function, and that mean
// the same wherever they occur; kernels' names are renamed in the plan too. Everything else stays: what headers or the
// compiler define, members, names that occur in preprocessor lines, in string literals or in the plan's options.
// Each name gets a number by its first occurrence, a function's own names anew for each function, so equal forms mean
// that a renaming leads from one text to the other under which no name meets another meaning.
// Threading: pure. Any text may be given; where it cannot be renamed safely (no plan, raw strings, macros that paste
// names, unbalanced braces) the form is NormalizeSource's.
#ifndef WARPSMITH_COORDINATOR_STORE_SOURCE_IDENTITY_H_
#define WARPSMITH_COORDINATOR_STORE_SOURCE_IDENTITY_H_

#include <string>
#include <string_view>

namespace warpsmith::store {

std::string RenameSource(std::string_view source);

}  // namespace warpsmith::store

#endif  // WARPSMITH_COORDINATOR_STORE_SOURCE_IDENTITY_H_
