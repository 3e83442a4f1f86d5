#include "coordinator/bank/archive_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "common/hash.h"
#include "coordinator/bank/archive.h"
#include "coordinator/store/blob_store.h"
#include "coordinator/store/text.h"

namespace warpsmith::bank {
namespace {

constexpr size_t kMaxProvenanceBytes = 1u << 20;

absl::Status CheckLineField(const char* field, const std::string& value, size_t most, bool may_be_empty) {
  if ((value.empty() && !may_be_empty) || value.size() > most || store::CleanLine(value, most) != value) {
    return InvalidArgument(fmt::format("kernel.{} must be one line of {}at most {} printable characters", field,
                                       may_be_empty ? "" : "at least one and ", most));
  }
  return absl::OkStatus();
}

// It becomes the name of files that operators write.
absl::Status CheckName(const char* field, const std::string& value) {
  WARPSMITH_RETURN_IF_ERROR(CheckLineField(field, value, 200, false));
  if (value.find_first_of("/\\") != std::string::npos || value.front() == '.') {
    return InvalidArgument(fmt::format("kernel.{} is a path; it must be a plain name", field));
  }
  return absl::OkStatus();
}

absl::Status CheckText(const char* field, const std::string& text, const std::string& sha256) {
  if (text.empty()) return InvalidArgument(fmt::format("kernel.{} is empty", field));
  if (text.size() > store::kMaxSourceBytes) {
    return InvalidArgument(
        fmt::format("kernel.{} has {} bytes; a file has at most {}", field, text.size(), store::kMaxSourceBytes));
  }
  if (text.find('\0') != std::string::npos) return InvalidArgument(fmt::format("kernel.{} holds a NUL byte", field));
  if (Sha256Hex(text) != sha256) {
    return InvalidArgument(fmt::format("kernel.{} does not have the SHA-256 that the archive says", field));
  }
  return absl::OkStatus();
}

absl::Status CheckNumber(const char* field, double value) {
  if (std::isfinite(value) && value >= 0 && value < 1e12) return absl::OkStatus();
  return InvalidArgument(fmt::format("kernel.{} must be a number from 0", field));
}

absl::Status CheckId(const char* field, const std::string& id) {
  const bool plain = std::all_of(id.begin(), id.end(),
                                 [](unsigned char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'); });
  if (!id.empty() && id.size() <= 64 && plain) return absl::OkStatus();
  return InvalidArgument(fmt::format("kernel.{} must be an id of at most 64 small letters and digits", field));
}

absl::Status CheckProvenance(const v1::KernelProvenance& provenance) {
  WARPSMITH_RETURN_IF_ERROR(CheckId("provenance.search_id", provenance.search_id()));
  WARPSMITH_RETURN_IF_ERROR(CheckId("provenance.candidate_id", provenance.candidate_id()));
  if (provenance.ByteSizeLong() > kMaxProvenanceBytes) {
    return InvalidArgument(fmt::format("kernel.provenance has more than {} bytes", kMaxProvenanceBytes));
  }
  for (const std::string& flag : provenance.flags()) {
    if (flag == "host_code" || flag == "suspicious") {
      return InvalidArgument(fmt::format("kernel.provenance.flags has {}: such kernels are never banked", flag));
    }
  }
  return absl::OkStatus();
}

// "candidateId" and "candidate_id" are one field.
std::string Folded(const std::string& key) {
  std::string folded;
  for (char c : key) {
    if (c != '_') folded += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  return folded;
}

}  // namespace

absl::Status CheckShape(const Json& line) {
  if (line.is_object()) {
    std::set<std::string> keys;
    for (const auto& [key, value] : line.items()) {
      if (!keys.insert(Folded(key)).second) {
        return InvalidArgument(
            fmt::format("the field \"{}\" stands twice, spelled in two ways", store::CleanLine(key, 80)));
      }
      // Names of tuning values are their author's.
      if (key != "tune") WARPSMITH_RETURN_IF_ERROR(CheckShape(value));
    }
  } else if (line.is_array()) {
    for (const Json& value : line) WARPSMITH_RETURN_IF_ERROR(CheckShape(value));
  }
  return absl::OkStatus();
}

absl::Status CheckKernel(const v1::ArchivedKernel& kernel) {
  WARPSMITH_RETURN_IF_ERROR(CheckName("problem.name", kernel.problem().name()));
  WARPSMITH_RETURN_IF_ERROR(CheckText("problem.source", kernel.problem().source(), kernel.problem_sha256()));
  const double tolerance = kernel.intake().tolerance();
  if (!std::isfinite(tolerance) || tolerance < 0 || tolerance > 1) {
    return InvalidArgument("kernel.intake.tolerance must lie between 0 (default) and 1");
  }
  if (kernel.problem().id() != ProblemId(kernel.problem().source(), kernel.intake())) {
    return InvalidArgument("kernel.problem.id is not the id of its source and intake settings");
  }
  WARPSMITH_RETURN_IF_ERROR(CheckText("source", kernel.source(), kernel.source_sha256()));
  WARPSMITH_RETURN_IF_ERROR(CheckLineField("operator_family", kernel.operator_family(), 80, true));
  WARPSMITH_RETURN_IF_ERROR(CheckLineField("device_class", kernel.device_class(), 200, false));
  WARPSMITH_RETURN_IF_ERROR(CheckLineField("title", kernel.title(), 200, true));
  WARPSMITH_RETURN_IF_ERROR(CheckLineField("harness_rev", kernel.harness_rev(), 40, true));
  WARPSMITH_RETURN_IF_ERROR(CheckLineField("judge_rev", kernel.judge_rev(), 40, true));
  if (!v1::PrecisionClass_IsValid(kernel.precision_class())) {
    return InvalidArgument("kernel.precision_class is none that there is");
  }
  if (kernel.accepted().empty() || kernel.accepted_size() > 8) {
    return InvalidArgument("kernel.accepted must name the precision classes that it was judged for");
  }
  for (int accepted : kernel.accepted()) {
    if (!v1::PrecisionClass_IsValid(accepted) || accepted == v1::PRECISION_CLASS_UNSPECIFIED) {
      return InvalidArgument("kernel.accepted names a precision class that there is not");
    }
  }
  WARPSMITH_RETURN_IF_ERROR(CheckNumber("median_ms", kernel.median_ms()));
  WARPSMITH_RETURN_IF_ERROR(CheckNumber("ratio_to_reference", kernel.ratio_to_reference()));
  WARPSMITH_RETURN_IF_ERROR(CheckNumber("ratio_low", kernel.ratio_low()));
  WARPSMITH_RETURN_IF_ERROR(CheckNumber("ratio_high", kernel.ratio_high()));
  if (kernel.provenance_size() > kMaxProvenance) {
    return InvalidArgument(fmt::format("kernel.provenance has more than {} entries", kMaxProvenance));
  }
  for (const v1::KernelProvenance& provenance : kernel.provenance()) {
    WARPSMITH_RETURN_IF_ERROR(CheckProvenance(provenance));
  }
  return absl::OkStatus();
}

}  // namespace warpsmith::bank
