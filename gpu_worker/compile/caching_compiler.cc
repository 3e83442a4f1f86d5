#include "gpu_worker/compile/caching_compiler.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "common/clock.h"
#include "common/file.h"
#include "common/hash.h"
#include "gpu_worker/compile/compile.pb.h"
#include "gpu_worker/compile/report.h"

namespace warpsmith::compile {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHeader = "warpsmith-compile-1\n";
constexpr size_t kHashLength = 64;
constexpr size_t kMaxEntryBytes = 512u << 20;

void Append(std::string& key, std::string_view part) { key += fmt::format("{}:{}", part.size(), part); }

wire::Report FromResult(const CompileResult& result) {
  wire::Report report;
  report.set_outcome(result.outcome);
  report.set_reason(result.reason);
  report.set_message(result.message);
  report.set_log(result.log);
  for (const plan::KernelInterface& kernel : result.kernels) {
    wire::Kernel* out = report.add_kernels();
    out->set_plan_name(kernel.plan_name);
    out->set_symbol(kernel.symbol);
    for (const plan::KernelParameter& parameter : kernel.parameters) {
      wire::Parameter* to = out->add_parameters();
      to->set_kind(static_cast<int>(parameter.kind));
      to->set_size(parameter.size);
      to->set_offset(parameter.offset);
    }
    out->set_max_threads_per_block(kernel.max_threads_per_block);
    out->set_static_shared_bytes(kernel.static_shared_bytes);
    out->set_registers(kernel.registers);
    out->set_local_bytes(kernel.local_bytes);
  }
  report.set_artifact(result.artifact);
  for (const auto& [architecture, cubin] : result.cubins) (*report.mutable_cubins())[architecture] = cubin;
  report.set_nvrtc_version(result.nvrtc_version);
  report.set_toolkit_checked(result.toolkit_checked);
  return report;
}

bool MayDiffer(const CompileResult& result) {
  return result.outcome == v1::OUTCOME_INFRA_ERROR || result.outcome == v1::OUTCOME_UNSPECIFIED ||
         result.reason == "time" || result.reason == "memory";
}

std::optional<CompileResult> Load(const fs::path& path, const CompileRequest& request) {
  absl::StatusOr<std::string> data = ReadFile(path, kMaxEntryBytes);
  if (!data.ok() || data->size() < kHeader.size() + kHashLength) return std::nullopt;
  std::string_view view = *data;
  std::string_view payload = view.substr(kHeader.size() + kHashLength);
  wire::Report report;
  if (view.substr(0, kHeader.size()) != kHeader || view.substr(kHeader.size(), kHashLength) != Sha256Hex(payload) ||
      !report.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
    return std::nullopt;
  }
  absl::StatusOr<CompileResult> result = ToResult(report, request);
  if (!result.ok()) return std::nullopt;
  return std::move(*result);
}

}  // namespace

std::string CachingCompiler::Key(const CompileRequest& request) {
  std::string key;
  {
    std::lock_guard lock(mutex_);
    if (fingerprint_.empty()) fingerprint_ = inner_.Fingerprint();
    Append(key, fingerprint_);
  }
  Append(key, request.code);
  for (const auto* list : {&request.kernel_names, &request.options, &request.architectures}) {
    Append(key, fmt::format("{}", list->size()));
    for (const std::string& text : *list) Append(key, text);
  }
  Append(key, fmt::format("{} {}", request.emulated, request.budget_module_bytes));
  return Sha256Hex(key);
}

absl::StatusOr<CompileResult> CachingCompiler::Compile(const CompileRequest& request) {
  TimePoint started = RealClock().Now();
  std::string key = Key(request);
  fs::path path = folder_ / "compiled" / key.substr(0, 2) / key;
  if (std::optional<CompileResult> found = Load(path, request)) {
    std::error_code ignored;
    fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
    found->cached = true;
    found->seconds = ToSeconds(RealClock().Now() - started);
    return std::move(*found);
  }
  WARPSMITH_ASSIGN_OR_RETURN(CompileResult result, inner_.Compile(request));
  if (!MayDiffer(result)) Store(path, result);
  return result;
}

void CachingCompiler::Store(const fs::path& path, const CompileResult& result) {
  std::string payload;
  if (!FromResult(result).SerializeToString(&payload) || payload.size() > kMaxEntryBytes) return;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  absl::Status status = WriteFileAtomically(path, fmt::format("{}{}{}", kHeader, Sha256Hex(payload), payload));
  // A full disk costs time, not correctness.
  if (!status.ok()) spdlog::warn("compile cache: {}", Message(status));
  std::lock_guard lock(mutex_);
  written_since_sweep_ += payload.size();
  if (swept_ && written_since_sweep_ < max_bytes_ / 10) return;
  swept_ = true;
  written_since_sweep_ = 0;
  MakeRoom();
}

void CachingCompiler::MakeRoom() {
  struct Entry {
    fs::file_time_type used;
    uint64_t bytes;
    fs::path path;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder_ / "compiled", error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;
    if (!entry->is_regular_file(gone)) continue;
    Entry found{entry->last_write_time(gone), entry->file_size(gone), entry->path()};
    if (gone) continue;
    total += found.bytes;
    entries.push_back(std::move(found));
  }
  if (total <= max_bytes_) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (total <= max_bytes_ / 10 * 9) break;
    std::error_code gone;
    if (fs::remove(entry.path, gone)) total -= entry.bytes;
  }
}

}  // namespace warpsmith::compile
