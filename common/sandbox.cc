#include "common/sandbox.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace warpsmith {
namespace {

// Landlock's kernel interface, by number: the distribution's headers are older than many kernels.
constexpr int kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446;
constexpr uint64_t kExecute = 1, kWriteFile = 2, kReadFile = 4, kReadDir = 8, kAllAbi1 = (1 << 13) - 1,
                   kRefer = 1 << 13, kTruncate = 1 << 14, kIoctlDevice = 1 << 15;
constexpr uint64_t kBindTcp = 1, kConnectTcp = 2;
constexpr uint64_t kScopeAbstractSocket = 1, kScopeSignal = 2;
constexpr int kRulePathBeneath = 1;

struct RulesetAttributes {
  uint64_t handled_files;
  uint64_t handled_network;
  uint64_t scoped;
};

struct __attribute__((packed)) PathBeneath {
  uint64_t allowed;
  int32_t parent;
};

absl::Status AddPath(int ruleset, const std::string& path, uint64_t allowed) {
  int parent = open(path.c_str(), O_PATH | O_CLOEXEC);
  if (parent < 0) return FailedPrecondition(ErrnoMessage(fmt::format("sandbox: cannot open {}", path), errno));
  struct stat information;
  if (fstat(parent, &information) == 0 && !S_ISDIR(information.st_mode)) {
    allowed &= kExecute | kWriteFile | kReadFile | kTruncate | kIoctlDevice;
  }
  PathBeneath rule{allowed, parent};
  long result = syscall(kAddRule, ruleset, kRulePathBeneath, &rule, 0);
  int error = errno;
  close(parent);
  if (result != 0) return FailedPrecondition(ErrnoMessage(fmt::format("sandbox: Landlock rule for {}", path), error));
  return absl::OkStatus();
}

absl::Status Restrict(const SandboxOptions& options) {
  int abi = LandlockAbi();
  if (abi < 1) {
    return FailedPrecondition(
        "this kernel has no Landlock, and nothing that a model wrote runs without it; use Linux 5.13 or later with "
        "landlock among its security modules");
  }
  RulesetAttributes attributes{};
  attributes.handled_files = kAllAbi1;
  if (abi >= 2) attributes.handled_files |= kRefer;
  if (abi >= 3) attributes.handled_files |= kTruncate;
  if (abi >= 4 && options.no_network) attributes.handled_network = kBindTcp | kConnectTcp;
  if (abi >= 5) attributes.handled_files |= kIoctlDevice;
  if (abi >= 6) attributes.scoped = kScopeSignal;
  // CUDA shares memory between processes over abstract sockets.
  const bool driver = options.syscalls == SyscallPolicy::kDevice || options.syscalls == SyscallPolicy::kHostCode;
  if (abi >= 6 && !driver) attributes.scoped |= kScopeAbstractSocket;
  size_t size =
      abi >= 6 ? sizeof attributes : (abi >= 4 ? offsetof(RulesetAttributes, scoped) : sizeof attributes.handled_files);
  int ruleset = static_cast<int>(syscall(kCreateRuleset, &attributes, size, 0));
  if (ruleset < 0) return FailedPrecondition(ErrnoMessage("sandbox: cannot create a Landlock ruleset", errno));
  uint64_t read = kReadFile | kReadDir | (options.allow_execute ? kExecute : 0);
  uint64_t write = attributes.handled_files & ~(options.allow_execute ? 0 : kExecute) & ~kIoctlDevice;
  absl::Status status;
  for (const std::string& path : options.read_paths) {
    if (status.ok()) status = AddPath(ruleset, path, read);
  }
  for (const std::string& path : options.write_paths) {
    if (status.ok()) status = AddPath(ruleset, path, write);
  }
  for (const std::string& path : options.device_paths) {
    if (status.ok())
      status = AddPath(ruleset, path, (kReadFile | kWriteFile | kIoctlDevice) & attributes.handled_files);
  }
  if (status.ok() && syscall(kRestrictSelf, ruleset, 0) != 0) {
    status = FailedPrecondition(ErrnoMessage("sandbox: Landlock refused to restrict this process", errno));
  }
  close(ruleset);
  return status;
}

absl::Status SetLimit(__rlimit_resource resource, uint64_t value, std::string_view name) {
  if (value == 0) return absl::OkStatus();
  rlimit limit{value, value};
  if (setrlimit(resource, &limit) != 0)
    return FailedPrecondition(ErrnoMessage(fmt::format("sandbox: {}", name), errno));
  return absl::OkStatus();
}

absl::Status SetLimits(const SandboxOptions& options) {
  rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  WARPSMITH_RETURN_IF_ERROR(SetLimit(RLIMIT_CPU, options.cpu_seconds, "RLIMIT_CPU"));
  WARPSMITH_RETURN_IF_ERROR(SetLimit(RLIMIT_AS, options.address_space_bytes, "RLIMIT_AS"));
  WARPSMITH_RETURN_IF_ERROR(SetLimit(RLIMIT_FSIZE, options.file_bytes, "RLIMIT_FSIZE"));
  WARPSMITH_RETURN_IF_ERROR(SetLimit(RLIMIT_NPROC, options.processes, "RLIMIT_NPROC"));
  return SetLimit(RLIMIT_NOFILE, options.open_files, "RLIMIT_NOFILE");
}

}  // namespace

int LandlockAbi() {
  long abi = syscall(kCreateRuleset, nullptr, 0, 1 /* LANDLOCK_CREATE_RULESET_VERSION */);
  return abi < 0 ? 0 : static_cast<int>(abi);
}

absl::Status RestrictFiles(const SandboxOptions& options) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return FailedPrecondition(ErrnoMessage("sandbox: no_new_privs", errno));
  }
  return Restrict(options);
}

absl::Status RestrictCalls(const SandboxOptions& options) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return FailedPrecondition(ErrnoMessage("sandbox: no_new_privs", errno));
  }
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  WARPSMITH_RETURN_IF_ERROR(SetLimits(options));
  return FilterCalls(options.syscalls);
}

absl::Status EnterSandbox(const SandboxOptions& options) {
  WARPSMITH_RETURN_IF_ERROR(RestrictFiles(options));
  return RestrictCalls(options);
}

}  // namespace warpsmith
