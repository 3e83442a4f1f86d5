// What a batch evaluates: a folder of .cu files for one problem, or a manifest, a JSON list of objects
//   {"file": "a.cu", "problem": "softmax.py", "accepted": ["fp32"], "expected_outcome": "ok", "also_allowed": []}
// of which only file is required; other fields are ignored. Paths are relative to the manifest; a problem without .py
// is a name that is looked for beside it and in --problem's folder. Threading: pure but for reading. Errors:
// InvalidArgument names the file and the field.
#ifndef WARPSMITH_CLI_BATCH_MANIFEST_H_
#define WARPSMITH_CLI_BATCH_MANIFEST_H_

#include <string>
#include <vector>

#include "common/status.h"
#include "warpsmith/v1/problem.pb.h"

namespace warpsmith::cli {

struct BatchEntry {
  std::string name;     // as the manifest writes it, or the file's name in its folder
  std::string file;     // path
  std::string problem;  // path
  std::vector<v1::PrecisionClass> accepted;
  std::vector<std::string> expected;  // outcomes; empty: nothing in particular
};

// `batch` is the folder or manifest; `problem` a file, a folder or empty.
absl::StatusOr<std::vector<BatchEntry>> ReadBatch(const std::string& batch, const std::string& problem);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_BATCH_MANIFEST_H_
