// The bank's archive: a text file of one JSON object a line (a header, kernels, an end with a checksum), read as what a
// stranger sent. docs/bank.md describes it.
// Threading: an object belongs to one thread. Errors: InvalidArgument and ResourceExhausted name the line and the
// field.
#ifndef WARPSMITH_COORDINATOR_BANK_ARCHIVE_H_
#define WARPSMITH_COORDINATOR_BANK_ARCHIVE_H_

#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "warpsmith/v1/bank.pb.h"

namespace warpsmith::bank {

inline constexpr char kArchiveFormat[] = "warpsmith-bank";
inline constexpr int kArchiveVersion = 1;
inline constexpr size_t kMaxArchiveBytes = 256u << 20;
inline constexpr size_t kMaxLineBytes = 16u << 20;
inline constexpr int kMaxArchivedKernels = 20000;

// What SubmitSearch makes a problem's id of.
std::string ProblemId(const std::string& source, const v1::IntakeSettings& intake);

v1::ArchivedKernel Archive(const v1::KernelDetail& detail);

class ArchiveWriter {
 public:
  std::string Header(int64_t now_us);
  std::string Kernel(const v1::ArchivedKernel& kernel);
  std::string End();
  int kernels() const { return kernels_; }

 private:
  std::string Add(const v1::ArchiveLine& line);
  std::string chain_;
  int kernels_ = 0;
};

class ArchiveReader {
 public:
  // Any pieces of the file, in order.
  absl::Status Take(std::string_view data);
  // After the last piece: all kernels, each checked by itself, of an archive that is whole.
  absl::StatusOr<std::vector<v1::ArchivedKernel>> Finish();

 private:
  absl::Status TakeLine(std::string_view line);
  absl::Status TakeParsed(const v1::ArchiveLine& line, std::string_view text);

  std::string rest_;  // of a line whose end has not come
  std::string chain_;
  std::vector<v1::ArchivedKernel> kernels_;
  size_t bytes_ = 0;
  int lines_ = 0;
  bool ended_ = false;
};

}  // namespace warpsmith::bank

#endif  // WARPSMITH_COORDINATOR_BANK_ARCHIVE_H_
