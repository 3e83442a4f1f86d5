// The problems that an operator names for a batch: files, folders of files in KernelBench's format, a list of paths, or
// a manifest (problem_manifest.h). A folder is one level (level1), or a folder with levels in it, or a checkout of
// KernelBench. Names and ids follow KernelBench: {id}_{Name}.py, the id being the number before the first underscore,
// the level that of the folder's name.
// Threading: pure but for reading. Errors: InvalidArgument names the file and the remedy.
#ifndef WARPSMITH_CLI_PROBLEM_SET_H_
#define WARPSMITH_CLI_PROBLEM_SET_H_

#include <string>
#include <vector>

#include "common/status.h"
#include "warpsmith/v1/batch.pb.h"

namespace warpsmith::cli {

struct NamedProblem {
  std::string file;
  v1::ProblemSource source;
};

class ProblemSet {
 public:
  // A file or a folder; `settings` are those of all problems in it.
  absl::Status Add(const std::string& path, const v1::SearchSettings& settings);
  // A text file with a path in each line, relative to it; what follows a # is a comment.
  absl::Status AddList(const std::string& path, const v1::SearchSettings& settings);

  // By level, id and name.
  std::vector<NamedProblem> Sorted() const;
  // What cannot be searched, each with its file, the reason and the remedy.
  const std::vector<std::string>& bad() const { return bad_; }

 private:
  void AddFile(const std::string& path, const v1::SearchSettings& settings);
  void AddFilesOf(const std::string& folder, const v1::SearchSettings& settings);

  std::vector<NamedProblem> problems_;
  std::vector<std::string> bad_;
};

// Fields that are set in `over` replace those of `base`; lists are replaced whole.
void OverlaySettings(const v1::SearchSettings& over, v1::SearchSettings* base);

}  // namespace warpsmith::cli

#endif  // WARPSMITH_CLI_PROBLEM_SET_H_
