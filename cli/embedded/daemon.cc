#include "cli/embedded/daemon.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <vector>

#include "cli/embedded/process_record.h"
#include "cli/text.h"

namespace warpsmith::cli {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kMaxLogBytes = 16u << 20;

}  // namespace

std::string LogEnd(const fs::path& log, int lines) {
  std::ifstream in(log, std::ios::binary | std::ios::ate);
  const std::streamoff size = in ? static_cast<std::streamoff>(in.tellg()) : 0;
  const std::streamoff taken = std::min<std::streamoff>(size, 16 << 10);
  std::string text(static_cast<size_t>(std::max<std::streamoff>(0, taken)), 0);
  in.seekg(size - taken);
  in.read(text.data(), taken);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  size_t from = text.size();
  for (int i = 0; i < lines && from != std::string::npos && from > 0; ++i) from = text.rfind('\n', from - 1);
  if (from != std::string::npos && from < text.size()) text.erase(0, from + 1);
  return text.empty() ? "    (empty)" : Indent(text, "    ");
}

absl::StatusOr<std::unique_ptr<Daemon>> Daemon::Start(const DaemonOptions& options) {
  std::error_code ignored;
  if (const uintmax_t size = fs::file_size(options.log, ignored); !ignored && size > kMaxLogBytes) {
    fs::rename(options.log, options.log.string() + ".1", ignored);
  }
  const int log = open(options.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (log < 0) return FailedPrecondition(ErrnoMessage(fmt::format("cannot write {}", options.log.string()), errno));
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  std::unique_ptr<Daemon> daemon(new Daemon(options));
  ChildOptions child = options.child;
  child.inherited_descriptors = {{null, 0}, {log, 1}, {log, 2}};
  child.die_with_parent = !options.stays;
  child.new_session = true;
  auto started = ChildProcess::Start(child);
  close(log);
  if (null >= 0) close(null);
  if (!started.ok()) return Annotate(started.status(), options.name);
  daemon->child_ = std::move(started).value();
  daemon->child_->CloseInput();
  // A process that has ended by now has no record; its owner finds out by Running.
  if (auto record = DescribeProcess(options.name, daemon->pid())) {
    WARPSMITH_RETURN_IF_ERROR(WriteRecord(options.records, *record));
  }
  return daemon;
}

Daemon::~Daemon() {
  if (!over_) Stop();
}

absl::Status Daemon::Ended() {
  const auto exit = child_->Wait(Duration(0));
  return FailedPrecondition(fmt::format("{} ended ({}); its log {} ends with\n{}", options_.name,
                                        exit ? exit->Describe() : "still running", options_.log.string(),
                                        LogEnd(options_.log)));
}

void Daemon::Stop() {
  over_ = true;
  if (child_ == nullptr) return;
  if (child_->Running()) {
    // The signal is for the process itself: it knows how to end what it started.
    kill(child_->pid(), options_.stop_signal);
    if (!child_->Wait(options_.grace)) child_->Stop(Duration(0));
  }
  RemoveRecord(options_.records, options_.name);
}

void Daemon::LeaveRunning() {
  over_ = true;
  if (child_ != nullptr) child_->Detach();
}

}  // namespace warpsmith::cli
