// A text file of one JSON value a line, written as rows come; it has its name only once it is whole.
// Threading: one thread. Errors: name the file.
#ifndef WARPSMITH_CLI_TRANSFER_JSON_LINES_FILE_H_
#define WARPSMITH_CLI_TRANSFER_JSON_LINES_FILE_H_

#include <cstdio>
#include <string>

#include "common/json.h"
#include "common/status.h"

namespace warpsmith::transfer {

class JsonLinesFile {
 public:
  static absl::StatusOr<JsonLinesFile> Create(const std::string& path);
  ~JsonLinesFile();  // what was not finished is removed
  JsonLinesFile(JsonLinesFile&& other) noexcept;
  JsonLinesFile& operator=(JsonLinesFile&&) = delete;

  // What is no UTF-8 becomes U+FFFD.
  absl::Status Add(const Json& row);
  absl::Status Finish();

 private:
  JsonLinesFile(std::string path, std::string partial, FILE* file)
      : path_(std::move(path)), partial_(std::move(partial)), file_(file) {}
  std::string path_, partial_;
  FILE* file_;  // null: finished
};

}  // namespace warpsmith::transfer

#endif  // WARPSMITH_CLI_TRANSFER_JSON_LINES_FILE_H_
