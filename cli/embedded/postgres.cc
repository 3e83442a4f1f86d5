#include "cli/embedded/postgres.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <sstream>
#include <vector>

#include "cli/embedded/process_record.h"
#include "cli/text.h"
#include "common/file.h"
#include "common/run_child.h"

namespace warpsmith::cli {
namespace {

namespace fs = std::filesystem;

constexpr Duration kInitLimit = std::chrono::seconds(120);
constexpr Duration kStartLimit = std::chrono::seconds(180);  // after a crash it first replays its log

bool HasPrograms(const fs::path& folder) {
  return access((folder / "initdb").c_str(), X_OK) == 0 && access((folder / "postgres").c_str(), X_OK) == 0;
}

// "15" of "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)"; empty where it does not say.
std::string MajorOf(const fs::path& folder) {
  ChildOptions child;
  child.arguments = {(folder / "postgres").string(), "--version"};
  const auto exit = RunChild(child, "", std::chrono::seconds(10));
  if (!exit.ok()) return "";
  const std::string& text = exit->standard_output;
  const size_t from = std::min(text.find_first_of("0123456789"), text.size());
  return text.substr(from, text.find_first_not_of("0123456789", from) - from);
}

std::map<std::string, std::string> Environment(const fs::path& home) {
  return {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"LC_ALL", "C"}, {"HOME", home.string()}, {"PGTZ", "UTC"}};
}

absl::Status WriteAs(const ServiceUser& user, const fs::path& file, const std::string& text) {
  WARPSMITH_RETURN_IF_ERROR(WriteFileAtomically(file, text));
  if (chmod(file.c_str(), 0600) != 0 || (user.other && lchown(file.c_str(), user.uid, user.gid) != 0)) {
    return FailedPrecondition(ErrnoMessage(file.string(), errno));
  }
  return absl::OkStatus();
}

absl::Status InitialiseFiles(const fs::path& programs, const fs::path& database, const ServiceUser& user) {
  const fs::path unfinished = database / "new";
  std::error_code ignored;
  fs::remove_all(unfinished, ignored);  // of a run that was killed
  ChildOptions child;
  child.arguments = {(programs / "initdb").string(),
                     "--pgdata=" + unfinished.string(),
                     "--username=warpsmith",
                     "--encoding=UTF8",
                     "--no-locale",
                     "--auth-local=peer",
                     "--auth-host=reject",
                     "--no-instructions",
                     "--no-sync"};
  child.environment = Environment(database);
  child.working_directory = database.string();
  child.merge_stderr = true;
  RunAs(user, &child);
  WARPSMITH_ASSIGN_OR_RETURN(const ChildExit exit, RunChild(child, "", kInitLimit));
  if (exit.signaled || exit.exit_code != 0) {
    return FailedPrecondition(fmt::format("{}: initdb failed ({}):\n{}", database.string(), exit.Describe(),
                                          Indent(exit.standard_output, "    ")));
  }
  // One flush of the file system is much faster than initdb's own of a thousand files; before the rename, so that files
  // of that name are whole.
  const int descriptor = open(unfinished.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool flushed = descriptor >= 0 && syncfs(descriptor) == 0;
  const int flush_error = errno;
  if (descriptor >= 0) close(descriptor);
  if (!flushed)
    return FailedPrecondition(ErrnoMessage(fmt::format("cannot flush {}", unfinished.string()), flush_error));
  std::error_code error;
  fs::rename(unfinished, database / "files", error);
  if (error) return FailedPrecondition(fmt::format("{}: {}", database.string(), error.message()));
  return absl::OkStatus();
}

// Who may connect may change from run to run, so these are written each time.
absl::Status WriteAccessRules(const fs::path& files, const ServiceUser& user) {
  const std::string me = user.other ? "root" : user.name;
  // A user without a name (an arbitrary id in a container) has no peer name; the socket's folder is closed to others.
  const std::string rule = me.empty() ? "local all all trust\n" : "local all all peer map=operator\n";
  WARPSMITH_RETURN_IF_ERROR(WriteAs(user, files / "pg_hba.conf", rule));
  return WriteAs(user, files / "pg_ident.conf", me.empty() ? "" : fmt::format("operator \"{}\" warpsmith\n", me));
}

// Line 1 of postmaster.pid is the process, line 8 its state.
struct PostmasterFile {
  pid_t pid = 0;
  std::string state;
};

PostmasterFile ReadPostmaster(const fs::path& files) {
  PostmasterFile file;
  auto text = ReadFile(files / "postmaster.pid", 4096);
  if (!text.ok()) return file;
  std::istringstream lines(*text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (number == 1) file.pid = static_cast<pid_t>(std::strtol(line.c_str(), nullptr, 10));
    if (number == 8) file.state = line.substr(0, line.find(' '));
  }
  return file;
}

}  // namespace

absl::StatusOr<fs::path> FindPostgres(const std::string& major) {
  std::vector<fs::path> folders;
  if (const char* given = std::getenv("WARPSMITH_POSTGRES_BIN"); given != nullptr && *given != 0) {
    if (!HasPrograms(given)) {
      return FailedPrecondition(
          fmt::format("WARPSMITH_POSTGRES_BIN: {} has no initdb and postgres; name the folder that "
                      "has them",
                      given));
    }
    if (!major.empty() && MajorOf(given) != major) {
      return FailedPrecondition(
          fmt::format("WARPSMITH_POSTGRES_BIN: {} is not PostgreSQL {}, which made this database; "
                      "name that version's folder, or give another --data-dir",
                      given, major));
    }
    return fs::path(given);
  }
  std::error_code error;
  std::vector<std::pair<int, fs::path>> debian;
  // A bundle with services carries its own.
  for (const fs::path& root : {fs::path("/"), ProgramFolder().parent_path()}) {
    for (const fs::directory_entry& entry : fs::directory_iterator(root / "usr/lib/postgresql", error)) {
      const std::string version = entry.path().filename().string();
      if (major.empty() || version == major) debian.emplace_back(std::atoi(version.c_str()), entry.path() / "bin");
    }
  }
  std::sort(debian.rbegin(), debian.rend());
  folders.reserve(debian.size());
  for (const auto& [version, folder] : debian) folders.push_back(folder);
  std::istringstream path(std::getenv("PATH") != nullptr ? std::getenv("PATH") : "");
  std::string folder;
  while (std::getline(path, folder, ':')) folders.emplace_back(folder);
  for (const fs::path& candidate : folders) {
    if (HasPrograms(candidate) && (major.empty() || MajorOf(candidate) == major)) return candidate;
  }
  return FailedPrecondition(
      fmt::format("PostgreSQL{}{} is not installed; install it (Debian: apt-get install "
                  "postgresql{}{}), or name its programs' folder in WARPSMITH_POSTGRES_BIN",
                  major.empty() ? "" : " ", major, major.empty() ? "" : "-", major));
}

absl::Status ClearPostmaster(const fs::path& files, const fs::path& sockets) {
  const PostmasterFile file = ReadPostmaster(files);
  const auto record = file.pid > 0 ? DescribeProcess("postgres", file.pid) : std::nullopt;
  std::error_code error;
  const fs::path where = record ? fs::read_symlink(fmt::format("/proc/{}/cwd", file.pid), error) : fs::path();
  std::error_code same_error;
  if (record && !error && fs::equivalent(where, files, same_error) &&
      !StopProcess(*record, SIGINT, std::chrono::seconds(30))) {
    return FailedPrecondition(fmt::format(
        "{}: the PostgreSQL of an earlier run (process {}) does not stop; end it by hand", files.string(), file.pid));
  }
  // PostgreSQL asks only whether a process of that id exists: a zombie, or a stranger, would keep it from starting.
  for (const fs::path& stale : {files / "postmaster.pid", sockets / ".s.PGSQL.5432.lock", sockets / ".s.PGSQL.5432"}) {
    fs::remove(stale, error);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Postgres>> Postgres::Start(const DataDirectory& directory, bool stays,
                                                          const std::function<bool()>& interrupted) {
  WARPSMITH_ASSIGN_OR_RETURN(const ServiceUser user, ChooseServiceUser());
  const fs::path database = directory.database();
  const fs::path sockets = directory.socket_folder() / "database";
  for (const fs::path& folder : {database, sockets}) {
    WARPSMITH_RETURN_IF_ERROR(
        MakeReachable(folder, folder == database ? directory.path() : directory.socket_folder(), user));
    WARPSMITH_RETURN_IF_ERROR(MakeOwnFolder(folder, user));
  }
  const fs::path files = database / "files";
  std::string major;
  if (auto version = ReadFile(files / "PG_VERSION", 64); version.ok()) major = version->substr(0, version->find('\n'));
  WARPSMITH_ASSIGN_OR_RETURN(const fs::path programs, FindPostgres(major));
  if (major.empty()) WARPSMITH_RETURN_IF_ERROR(InitialiseFiles(programs, database, user));
  WARPSMITH_RETURN_IF_ERROR(ClearPostmaster(files, sockets));
  WARPSMITH_RETURN_IF_ERROR(WriteAccessRules(files, user));

  DaemonOptions options;
  options.name = "postgres";
  options.log = directory.log("postgres");
  options.records = directory.run_folder();
  options.child.arguments = {(programs / "postgres").string(),
                             "-D",
                             files.string(),
                             "-k",
                             sockets.string(),
                             "-c",
                             "listen_addresses=",
                             "-c",
                             "unix_socket_permissions=0700",
                             "-c",
                             "max_connections=60",
                             "-c",
                             "shared_buffers=64MB",
                             "-c",
                             "log_timezone=UTC"};
  options.child.environment = Environment(database);
  options.child.working_directory = database.string();
  RunAs(user, &options.child);
  options.stays = stays;
  options.stop_signal = SIGINT;  // PostgreSQL's "fast": ends sessions, writes everything
  options.grace = std::chrono::seconds(30);

  std::unique_ptr<Postgres> postgres(new Postgres());
  postgres->connection_ = fmt::format("host={} port=5432 user=warpsmith dbname=postgres", sockets.string());
  // After SIGKILL the old postmaster's children need a moment to let go of the shared memory.
  constexpr int kTries = 4;
  for (int attempt = 1;; ++attempt) {
    WARPSMITH_ASSIGN_OR_RETURN(postgres->daemon_, Daemon::Start(options));
    const TimePoint deadline = RealClock().Now() + kStartLimit;
    while (postgres->daemon_->Running()) {
      const PostmasterFile file = ReadPostmaster(files);
      if (file.pid == postgres->daemon_->pid() && file.state == "ready") return postgres;
      if (interrupted()) return Cancelled("interrupted while PostgreSQL was starting");
      if (RealClock().Now() >= deadline) {
        return DeadlineExceeded(fmt::format("PostgreSQL did not start within {}; its log {} ends with\n{}",
                                            FormatSeconds(ToSeconds(kStartLimit)), options.log.string(),
                                            LogEnd(options.log)));
      }
      RealClock().SleepFor(std::chrono::milliseconds(20));
    }
    if (attempt == kTries) return postgres->daemon_->Ended();
    RealClock().SleepFor(std::chrono::milliseconds(500));
  }
}

}  // namespace warpsmith::cli
