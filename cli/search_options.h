// The options that several commands share: of a search, and of how a problem is taken in.
// Threading: one thread; what is filled in outlives the command line. Errors: CLI11's own, when the line is parsed.
#ifndef WARPSMITH_CLI_SEARCH_OPTIONS_H_
#define WARPSMITH_CLI_SEARCH_OPTIONS_H_

#include <CLI/CLI.hpp>

#include "cli/search_commands.h"
#include "warpsmith/v1/search.pb.h"

namespace warpsmith::cli {

// A check that is told in the option's own words, not in CLI11's.
inline CLI::Validator Quiet(CLI::Validator check) { return check.description(""); }

void AddIntakeOptions(CLI::App* command, v1::IntakeSettings* intake);
void AddSearchOptions(CLI::App* command, SearchOptions* search);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_SEARCH_OPTIONS_H_
