#include "gpu_worker/compile/host_toolchain.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <set>

#include "common/file.h"
#include "common/hash.h"
#include "common/run_child.h"
#include "gpu_worker/compile/glue.h"

namespace warpsmith::compile {
namespace {

namespace fs = std::filesystem;

constexpr Duration kToolDeadline = std::chrono::seconds(30);
constexpr size_t kMaxHeaderBytes = 1u << 30;
constexpr char kFlagsFile[] = "compile_flags.txt";
constexpr Duration kHeaderDeadline = std::chrono::seconds(120);

// The compiler's own environment: no folder of the user's may change where it looks.
std::map<std::string, std::string> ToolEnvironment() { return {{"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C"}}; }

absl::StatusOr<std::string> RunTool(const std::vector<std::string>& arguments, Duration deadline) {
  ChildOptions options;
  options.arguments = arguments;
  options.environment = ToolEnvironment();
  WARPSMITH_ASSIGN_OR_RETURN(ChildExit exit, RunChild(options, "", deadline));
  if (exit.timed_out || exit.signaled || exit.exit_code != 0) {
    return FailedPrecondition(fmt::format("{} {}: {}: {}", arguments[0], arguments.size() > 1 ? arguments[1] : "",
                                          exit.Describe(), exit.standard_error.substr(0, 2000)));
  }
  return exit.standard_output;
}

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

void AddIfThere(const fs::path& path, std::set<std::string>& paths) {
  std::error_code error;
  fs::path real = fs::canonical(path, error);
  if (!error) paths.insert(real.string());
}

fs::path InPath(const fs::path& program) {
  if (program.has_parent_path()) return program;
  for (const char* folder : {"/usr/local/bin", "/usr/bin", "/bin"}) {
    fs::path path = fs::path(folder) / program;
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

// Everything that compiling and linking read, found by asking the compiler.
absl::StatusOr<std::set<std::string>> ReadPaths(const std::string& compiler) {
  std::set<std::string> paths;
  AddIfThere(compiler, paths);
  for (const char* program : {"cc1plus", "collect2", "as", "ld"}) {
    WARPSMITH_ASSIGN_OR_RETURN(std::string found,
                               RunTool({compiler, fmt::format("-print-prog-name={}", program)}, kToolDeadline));
    fs::path path = InPath(FirstLine(found));
    if (path.empty()) return NotFound(fmt::format("g++'s `{}` is missing; install g++ and binutils", program));
    AddIfThere(path, paths);
  }
  for (const char* file : {"libgcc.a", "libc.so.6", "libc.so", "libm.so.6", "ld-linux-x86-64.so.2", "libstdc++.so.6"}) {
    WARPSMITH_ASSIGN_OR_RETURN(std::string found,
                               RunTool({compiler, fmt::format("-print-file-name={}", file)}, kToolDeadline));
    fs::path path = FirstLine(found);
    if (path.has_parent_path()) AddIfThere(path.parent_path(), paths);
  }
  // cc1plus's folder also holds the linker plug-in; header folders stand in the -v output.
  WARPSMITH_ASSIGN_OR_RETURN(std::string plugin,
                             RunTool({compiler, "-print-file-name=liblto_plugin.so"}, kToolDeadline));
  AddIfThere(fs::path(FirstLine(plugin)).parent_path(), paths);
  for (const char* path : {"/usr/include", "/lib64", "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu",
                           "/usr/lib/bfd-plugins", "/etc/ld.so.cache", "/dev/null"}) {
    AddIfThere(path, paths);
  }
  return paths;
}

std::vector<std::string> Flags(const fs::path& header_folder) {
  // What the kernels' form needs; a GPU's compiler promises none of what the last four let g++ assume.
  std::vector<std::string> flags = {"-O2",
                                    "-w",
                                    "-fPIC",
                                    "-fvisibility=hidden",
                                    "-fno-ident",
                                    "-fcf-protection=none",
                                    "-fno-stack-protector",
                                    "-fno-asynchronous-unwind-tables",
                                    "-fno-threadsafe-statics",
                                    "-fno-exceptions",
                                    "-fno-rtti",
                                    "-fno-strict-aliasing",
                                    "-fwrapv"};
  // A fused multiply-add in one instruction, as a GPU's, and half precision conversions; not whatever else this CPU
  // has.
  __builtin_cpu_init();
  // Every processor with AVX2 converts half precision too.
  if (__builtin_cpu_supports("avx2")) flags.insert(flags.end(), {"-mavx2", "-mf16c"});
  if (__builtin_cpu_supports("fma")) flags.emplace_back("-mfma");
  // What the emulation headers themselves ask for, one flag a line.
  if (absl::StatusOr<std::string> more = ReadFile(header_folder / kFlagsFile, 65536); more.ok()) {
    for (size_t at = 0; at < more->size();) {
      size_t end = std::min(more->find('\n', at), more->size());
      std::string line = more->substr(at, end - at);
      if (!line.empty() && line[0] == '-') flags.push_back(line.substr(0, line.find_first_of(" \r\t")));
      at = end + 1;
    }
  }
  return flags;
}

absl::StatusOr<std::string> HashFolder(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->is_regular_file()) files.push_back(entry->path());
  }
  std::sort(files.begin(), files.end());
  std::string all;
  for (const fs::path& file : files) {
    WARPSMITH_ASSIGN_OR_RETURN(std::string content, ReadFile(file));
    all += fmt::format("{}\n{}\n", fs::relative(file, folder, error).string(), Sha256Hex(content));
  }
  return Sha256Hex(all);
}

// Holds an advisory lock on a file while it lives.
class FileLock {
 public:
  explicit FileLock(const fs::path& path) : descriptor_(open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600)) {
    while (descriptor_ >= 0 && flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~FileLock() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  bool held() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

}  // namespace

std::vector<std::string> HostMacros(std::string_view macro_definitions) {
  // Macros of the C library's and libstdc++'s headers that tell where one is.
  std::vector<std::string> macros = {"__GLIBC__", "__GLIBC_MINOR__", "__GLIBCXX__", "_GLIBCXX_RELEASE"};
  static constexpr std::array kHeads = {"__x86_64",
                                        "__amd64",
                                        "__k8",
                                        "__SSE",
                                        "__SSSE",
                                        "__AVX",
                                        "__MMX",
                                        "__FMA",
                                        "__F16C",
                                        "__BMI",
                                        "__FXSR",
                                        "__XSAVE",
                                        "__SEG_",
                                        "__code_model_",
                                        "__linux",
                                        "linux",
                                        "__unix",
                                        "unix",
                                        "__gnu_linux__",
                                        "__ELF__",
                                        "__pic__",
                                        "__PIC__",
                                        "__GNUC",
                                        "__GNUG__",
                                        "__VERSION__",
                                        "__GXX_",
                                        "__OPTIMIZE__",
                                        "_GNU_SOURCE",
                                        "__REGISTER_PREFIX__",
                                        "__USER_LABEL_PREFIX__",
                                        "__CET__",
                                        "__SANITIZE"};
  constexpr std::string_view kDefine = "#define ";
  for (size_t at = 0; at < macro_definitions.size();) {
    size_t end = std::min(macro_definitions.find('\n', at), macro_definitions.size());
    std::string_view line = macro_definitions.substr(at, end - at);
    at = end + 1;
    if (line.substr(0, kDefine.size()) != kDefine) continue;
    std::string_view name = line.substr(kDefine.size());
    name = name.substr(0, name.find_first_of(" ("));
    bool host = std::any_of(kHeads.begin(), kHeads.end(),
                            [&](std::string_view head) { return name.substr(0, head.size()) == head; });
    if (host) macros.emplace_back(name);
  }
  return macros;
}

absl::StatusOr<HostToolchain> FindHostToolchain(const std::string& compiler, const fs::path& header_folder) {
  fs::path found = InPath(compiler);
  if (found.empty() || access(found.c_str(), X_OK) != 0) {
    return NotFound(fmt::format(
        "the emulated device needs the compiler {}, which is not installed; install it (Debian: apt-get install g++)",
        compiler));
  }
  HostToolchain toolchain;
  std::error_code error;
  fs::path headers = fs::canonical(header_folder, error);
  if (error || access((headers / kEmulationHeader).c_str(), R_OK) != 0) {
    return NotFound(
        fmt::format("the emulated device's header {} is missing", (header_folder / kEmulationHeader).string()));
  }
  WARPSMITH_ASSIGN_OR_RETURN(std::string version, RunTool({found.string(), "--version"}, kToolDeadline));
  toolchain.version = FirstLine(version);
  WARPSMITH_ASSIGN_OR_RETURN(toolchain.headers_sha, HashFolder(headers));
  WARPSMITH_ASSIGN_OR_RETURN(std::set<std::string> paths, ReadPaths(found.string()));
  std::vector<std::string> flags = Flags(headers);
  std::vector<std::string> macro_run = {found.string(), "-x", "c++", "-dM", "-E", "/dev/null"};
  macro_run.insert(macro_run.end(), flags.begin(), flags.end());
  WARPSMITH_ASSIGN_OR_RETURN(std::string definitions, RunTool(macro_run, kToolDeadline));
  wire::HostTools& tools = toolchain.tools;
  tools.set_compiler(found.string());
  for (const std::string& path : paths) tools.add_read_paths(path);
  tools.add_read_paths(headers.string());
  for (std::string& flag : flags) tools.add_flags(std::move(flag));
  tools.set_header_folder(headers.string());
  std::string prelude;
  for (const std::string& macro : HostMacros(definitions)) prelude += fmt::format("#undef {}\n", macro);
  tools.set_prelude(prelude);
  return toolchain;
}

absl::Status AddPrecompiledHeader(const fs::path& cache_folder, HostToolchain& toolchain) {
  wire::HostTools& tools = toolchain.tools;
  std::string standard = DefaultStandardFlag();
  std::string key = standard + toolchain.version + toolchain.headers_sha + tools.compiler() + tools.header_folder();
  for (const std::string& flag : tools.flags()) key += " " + flag;
  fs::path folder = cache_folder / ("precompiled-" + Sha256Hex(key).substr(0, 24));
  fs::path header = folder / (std::string(kEmulationHeader) + ".gch");
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return FailedPrecondition(fmt::format("cannot make the folder {}: {}", folder.string(), error.message()));
  FileLock lock(folder / "lock");
  if (!lock.held()) return FailedPrecondition(fmt::format("cannot lock {}", (folder / "lock").string()));
  if (!fs::exists(header, error)) {
    fs::path temporary = folder / fmt::format("{}.tmp", getpid());
    std::vector<std::string> arguments = {tools.compiler(), standard};
    arguments.insert(arguments.end(), tools.flags().begin(), tools.flags().end());
    for (const char* argument : {"-x", "c++-header", "-I"}) arguments.emplace_back(argument);
    arguments.insert(arguments.end(),
                     {tools.header_folder(), tools.header_folder() + "/" + kEmulationHeader, "-o", temporary.string()});
    absl::StatusOr<std::string> built = RunTool(arguments, kHeaderDeadline);
    if (!built.ok()) {
      fs::remove(temporary, error);
      return Annotate(built.status(), "the emulated device's header does not compile");
    }
    // Copied and synchronised before it gets its name: half of a header would fail every candidate.
    absl::StatusOr<std::string> bytes = ReadFile(temporary, kMaxHeaderBytes);
    fs::remove(temporary, error);
    if (!bytes.ok()) return bytes.status();
    WARPSMITH_RETURN_IF_ERROR(WriteFileAtomically(header, *bytes));
  }
  std::string real = fs::canonical(folder, error).string();
  tools.set_precompiled_folder(real);
  tools.add_read_paths(real);
  return absl::OkStatus();
}

}  // namespace warpsmith::compile
