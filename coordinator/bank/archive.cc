#include "coordinator/bank/archive.h"

#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>

#include "common/hash.h"
#include "common/json.h"
#include "common/version.h"
#include "coordinator/bank/archive_check.h"

namespace warpsmith::bank {
namespace {

constexpr int kDepth = 16;

std::string ToJson(const v1::ArchiveLine& line) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(line, &json, options).ok()) json.clear();
  return json;
}

}  // namespace

std::string ProblemId(const std::string& source, const v1::IntakeSettings& intake) {
  return Sha256Hex(source + '\0' + intake.SerializeAsString());
}

v1::ArchivedKernel Archive(const v1::KernelDetail& detail) {
  const v1::BankKernel& kernel = detail.kernel();
  v1::ArchivedKernel archived;
  archived.mutable_problem()->set_id(detail.problem().id());
  archived.mutable_problem()->set_name(detail.problem().name());
  archived.mutable_problem()->set_source(detail.problem().source());
  archived.set_problem_sha256(Sha256Hex(detail.problem().source()));
  *archived.mutable_intake() = detail.intake();
  archived.set_source(detail.source());
  archived.set_source_sha256(Sha256Hex(detail.source()));
  archived.set_operator_family(kernel.operator_family());
  archived.set_device_class(kernel.device_class());
  archived.set_emulated(kernel.emulated());
  archived.set_precision_class(kernel.precision_class());
  *archived.mutable_accepted() = detail.accepted();
  archived.set_frozen_weights(detail.frozen_weights());
  archived.set_title(kernel.idea_title());
  archived.set_median_ms(kernel.median_ms());
  archived.set_ratio_to_reference(kernel.ratio_to_reference());
  archived.set_ratio_low(kernel.ratio_low());
  archived.set_ratio_high(kernel.ratio_high());
  archived.set_harness_rev(kernel.harness_rev());
  archived.set_judge_rev(kernel.judge_rev());
  for (const v1::KernelProvenance& provenance : detail.provenance()) {
    if (archived.provenance_size() == kMaxProvenance) break;
    *archived.add_provenance() = provenance;
  }
  return archived;
}

std::string ArchiveWriter::Add(const v1::ArchiveLine& line) {
  const std::string text = ToJson(line);
  chain_ = Sha256Hex(chain_ + text);
  return text + "\n";
}

std::string ArchiveWriter::Header(int64_t now_us) {
  v1::ArchiveLine line;
  line.mutable_header()->set_format(kArchiveFormat);
  line.mutable_header()->set_version(kArchiveVersion);
  line.mutable_header()->set_written_at_us(now_us);
  line.mutable_header()->set_written_by(std::string("warpsmith ") + kVersion);
  return Add(line);
}

std::string ArchiveWriter::Kernel(const v1::ArchivedKernel& kernel) {
  v1::ArchiveLine line;
  *line.mutable_kernel() = kernel;
  ++kernels_;
  return Add(line);
}

std::string ArchiveWriter::End() {
  v1::ArchiveLine line;
  line.mutable_end()->set_kernels(kernels_);
  line.mutable_end()->set_sha256(chain_);
  return ToJson(line) + "\n";
}

absl::Status ArchiveReader::Take(std::string_view data) {
  bytes_ += data.size();
  if (bytes_ > kMaxArchiveBytes) {
    return ResourceExhausted(fmt::format("line {}: the archive is larger than {} MiB; export and import it in parts",
                                         lines_ + 1, kMaxArchiveBytes >> 20));
  }
  while (!data.empty()) {
    const size_t end = data.find('\n');
    const std::string_view piece = data.substr(0, end);
    if (rest_.size() + piece.size() > kMaxLineBytes) {
      return ResourceExhausted(fmt::format("line {}: it is longer than {} MiB, the most that one kernel may take",
                                           lines_ + 1, kMaxLineBytes >> 20));
    }
    rest_.append(piece);
    if (end == std::string_view::npos) break;
    std::string line;
    line.swap(rest_);
    ++lines_;
    WARPSMITH_RETURN_IF_ERROR(Annotate(TakeLine(line), fmt::format("line {}", lines_)));
    data.remove_prefix(end + 1);
  }
  return absl::OkStatus();
}

absl::Status ArchiveReader::TakeLine(std::string_view text) {
  if (ended_) return InvalidArgument("there is something behind the archive's end; take it away");
  auto json = ParseStrictJson(text, {kDepth, kMaxLineBytes});
  if (!json.ok()) {
    // A line of the archive is the parser's line 1.
    std::string message = Message(json.status());
    if (const size_t at = message.find("line 1, "); at != std::string::npos) message.erase(at, 8);
    return InvalidArgument(message);
  }
  if (!json->is_object() || json->size() != 1) {
    return InvalidArgument("it must be an object with one field: header, kernel or end");
  }
  WARPSMITH_RETURN_IF_ERROR(CheckShape(*json));
  v1::ArchiveLine line;
  const auto parsed =
      google::protobuf::util::JsonStringToMessage(google::protobuf::StringPiece(text.data(), text.size()), &line);
  if (!parsed.ok()) return InvalidArgument(std::string(parsed.message().data(), parsed.message().size()));
  return TakeParsed(line, text);
}

absl::Status ArchiveReader::TakeParsed(const v1::ArchiveLine& line, std::string_view text) {
  if (line.has_header() != (lines_ == 1)) {
    return InvalidArgument(lines_ == 1 ? "an archive begins with its header" : "header: an archive has one, in line 1");
  }
  if (line.has_header()) {
    if (line.header().format() != kArchiveFormat) {
      return InvalidArgument(fmt::format("header.format must be \"{}\": this is no archive of a bank", kArchiveFormat));
    }
    if (line.header().version() != kArchiveVersion) {
      return InvalidArgument(
          fmt::format("header.version is {}; this warpsmith reads version {}: use the one that wrote it",
                      line.header().version(), kArchiveVersion));
    }
  } else if (line.has_kernel()) {
    if (static_cast<int>(kernels_.size()) == kMaxArchivedKernels) {
      return ResourceExhausted(fmt::format("there are more than {} kernels; import it in parts", kMaxArchivedKernels));
    }
    WARPSMITH_RETURN_IF_ERROR(CheckKernel(line.kernel()));
    kernels_.push_back(line.kernel());
  } else if (line.has_end()) {
    if (line.end().kernels() != static_cast<int>(kernels_.size())) {
      return InvalidArgument(fmt::format("end.kernels is {}, but {} were read", line.end().kernels(), kernels_.size()));
    }
    if (line.end().sha256() != chain_) {
      return InvalidArgument("end.sha256 is not that of the lines before it: the archive was changed or damaged");
    }
    ended_ = true;
    return absl::OkStatus();
  } else {
    return InvalidArgument("it must be an object with one field: header, kernel or end");
  }
  chain_ = Sha256Hex(chain_ + std::string(text));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<v1::ArchivedKernel>> ArchiveReader::Finish() {
  if (!rest_.empty() || !ended_) {
    return InvalidArgument(
        fmt::format("line {}: the archive breaks off before its end; copy it again", lines_ + (rest_.empty() ? 0 : 1)));
  }
  return std::move(kernels_);
}

}  // namespace warpsmith::bank
