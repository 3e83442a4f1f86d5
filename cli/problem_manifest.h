// A batch's manifest, YAML or JSON: its name and limits, settings of all its problems, and the problems, each with
// settings of its own where it has any. Settings are named as in SearchSettings of search.proto; precision classes as
// on the command line. Paths are relative to the manifest; a folder stands for the problems in it.
//   name: nightly
//   max_usd: 200
//   parallel: 8
//   settings: {preset: quick, rounds: 4}
//   problems:
//     - KernelBench/level1
//     - path: KernelBench/level2/1_Conv2D_ReLU_BiasAdd.py
//       settings: {preset: deep, accepted: [fp32, tf32]}
// Threading: pure but for reading. Errors: InvalidArgument names the file, the field and the remedy.
#ifndef WARPSMITH_CLI_PROBLEM_MANIFEST_H_
#define WARPSMITH_CLI_PROBLEM_MANIFEST_H_

#include <string>
#include <vector>

#include "common/status.h"
#include "warpsmith/v1/batch.pb.h"

namespace warpsmith::cli {

struct ManifestEntry {
  std::string path;
  v1::SearchSettings settings;
};

struct ProblemManifest {
  std::string name;
  std::string owner;
  v1::BatchLimits limits;
  v1::SearchSettings settings;
  std::vector<ManifestEntry> problems;
};

bool IsManifest(const std::string& path);  // by its extension
absl::StatusOr<ProblemManifest> ReadManifest(const std::string& path);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_PROBLEM_MANIFEST_H_
