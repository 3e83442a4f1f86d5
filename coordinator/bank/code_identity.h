// Which program a kernel is, beyond its text: two sources that compile to one module and launch it alike are one
// kernel. Threading: pure.
#ifndef WARPSMITH_COORDINATOR_BANK_CODE_IDENTITY_H_
#define WARPSMITH_COORDINATOR_BANK_CODE_IDENTITY_H_

#include <string>
#include <string_view>

#include "warpsmith/v1/evaluation.pb.h"

namespace warpsmith::bank {

// A hash of the compiled module, the plan's steps and scratch, and the tuning values that were measured. The compiler's
// options, the architecture and the lists of tuning values are left out: what they lead to is in the module. Empty
// where the evaluation does not say its module.
std::string ModuleIdentity(std::string_view source, const v1::Evaluation& evaluation);

// Orders revisions such as "h2" and "h10": by letters, then by number. An empty one is the oldest.
bool OlderRevision(const std::string& revision, const std::string& than);

}  // namespace warpsmith::bank

#endif  // WARPSMITH_COORDINATOR_BANK_CODE_IDENTITY_H_
