// A profile for people: what bounds the kernel, the figures that show it, where its time goes.
// Threading: pure. Lines have at most 100 columns. Errors: none; missing parts are left out.
#ifndef WARPSMITH_CLI_PRINT_PROFILE_H_
#define WARPSMITH_CLI_PRINT_PROFILE_H_

#include <string>

#include "warpsmith/v1/evaluation.pb.h"

namespace warpsmith::cli {

// Empty for an empty profile.
std::string RenderProfile(const v1::Profile& profile);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_PRINT_PROFILE_H_
