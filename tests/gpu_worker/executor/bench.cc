#include "tests/gpu_worker/executor/bench.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <sstream>

#include "common/hash.h"
#include "common/run_child.h"

namespace warpsmith::executor {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kGuard = 64 << 10;

const fs::path kHeaders = fs::path(WARPSMITH_SOURCE_DIR) / "gpu_worker/device/emulated/include";

const fs::path& WorkFolder() {
  static const TemporaryDirectory& folder = *new TemporaryDirectory(*TemporaryDirectory::Create("executor-test"));
  static const struct Cleaner {
    ~Cleaner() {
      std::error_code ignored;
      fs::remove_all(folder.path(), ignored);
    }
  } cleaner;
  return folder.path();
}

std::vector<std::string> Command(const fs::path& unit, const fs::path& target) {
  // clang-format off
  std::vector<std::string> command = {
      "g++", "-std=c++20", "-O2", "-w", "-fPIC", "-shared", "-nostartfiles", "-nodefaultlibs", "-fvisibility=hidden",
      "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", "-fno-asynchronous-unwind-tables", "-fwrapv",
      "-fno-strict-aliasing", "-fno-stack-protector", "-ffp-contract=fast", "-Wl,-z,now", "-Wl,-z,relro",
      "-I" + kHeaders.string(), "-o", target.string()};
  // clang-format on
  std::istringstream flags(*ReadFile(kHeaders / "compile_flags.txt"));
  for (std::string line; std::getline(flags, line);) {
    if (!line.empty() && line[0] == '-') command.push_back(line);
  }
  for (const std::string& last : {unit.string(), std::string("-lm"), std::string("-lc"), std::string("-lgcc")}) {
    command.push_back(last);
  }
  return command;
}

struct Built {
  fs::path object;
  std::string errors;
};

Built Compile(const std::string& code, const std::vector<std::string>& kernels) {
  std::string unit = "#include \"warpsmith_emulated.h\"\n#line 1 \"candidate.cu\"\n" + code + "\n";
  for (size_t i = 0; i < kernels.size(); ++i) {
    unit += fmt::format("WARPSMITH_EMULATED_KERNEL({}, {})\n", i, kernels[i]);
  }
  Built built;
  std::string stem = Sha256Hex(unit).substr(0, 16);
  built.object = WorkFolder() / (stem + ".so");
  if (fs::exists(built.object)) return built;
  REQUIRE(WriteFileAtomically(WorkFolder() / (stem + ".cc"), unit).ok());
  ChildOptions options;
  options.arguments = Command(WorkFolder() / (stem + ".cc"), built.object);
  options.merge_stderr = true;
  absl::StatusOr<ChildExit> exit = RunChild(options, "", std::chrono::seconds(60));
  REQUIRE(exit.ok());
  if (exit->exit_code != 0 || exit->signaled) built.errors = exit->Describe() + "\n" + exit->standard_output;
  return built;
}

// Different for every byte and buffer, finite as a float.
char GuardByte(uint32_t buffer, int64_t at) {
  return static_cast<char>((static_cast<uint64_t>(at) * 2654435761u + buffer * 97u) >> 13 & 0x3f);
}

}  // namespace

std::string Build(const std::string& code, const std::vector<std::string>& kernels) {
  Built built = Compile(code, kernels);
  INFO(built.errors);
  REQUIRE(built.errors.empty());
  return built.object.string();
}

std::string BuildErrors(const std::string& code, const std::vector<std::string>& kernels) {
  return Compile(code, kernels).errors;
}

ExecutorFactory& Factory() {
  static ProcessExecutorFactory factory(std::string(WARPSMITH_BINARY_DIR) + "/bin/warpsmith-executor",
                                        RefillLimits{1, 1, true});
  return factory;
}

Bench::Bench(const std::string& code, const std::vector<std::string>& kernels)
    : folder_(*TemporaryDirectory::Create("warpsmith-bench", "/dev/shm")), artifact_(Build(code, kernels)) {
  for (size_t i = 0; i < kernels.size(); ++i) plan_.add_kernel_symbols(fmt::format("warpsmith_invoke_{}", i));
}

Bench::~Bench() = default;

uint32_t Bench::AddBytes(const char* data, size_t bytes) {
  auto index = static_cast<uint32_t>(contents_.size());
  contents_.emplace_back(data, bytes);
  v1::ExecutionBuffer* buffer = plan_.add_buffers();
  buffer->set_name(fmt::format("b{}", index));
  buffer->set_bytes(static_cast<int64_t>(bytes));
  buffer->set_kind(v1::BUFFER_KIND_OUTPUT);
  return index;
}

std::string Bench::Path(uint32_t buffer, int slot) const {
  return (folder_.path() / fmt::format("{}.{}", buffer, slot)).string();
}

Bench::Argument Bench::Tensor(uint32_t buffer, int64_t offset_bytes) {
  Argument argument;
  argument.value.mutable_view()->set_buffer(buffer);
  argument.value.mutable_view()->set_offset_bytes(offset_bytes);
  return argument;
}

v1::KernelLaunch& Bench::Launch(uint32_t kernel, uint32_t grid, uint32_t block,
                                const std::vector<Argument>& arguments) {
  v1::KernelLaunch& launch = *plan_.add_steps()->mutable_kernel();
  launch.set_kernel(kernel);
  launch.set_grid_x(grid);
  launch.set_grid_y(1);
  launch.set_grid_z(1);
  launch.set_block_x(block);
  launch.set_block_y(1);
  launch.set_block_z(1);
  for (const Argument& argument : arguments) *launch.add_arguments() = argument.value;
  return launch;
}

Executor& Bench::executor() {
  if (executor_ != nullptr) return *executor_;
  ExecutorSpec spec;
  spec.artifact_path = artifact_;
  spec.plan = plan_;
  spec.address_space_bytes = address_space_;
  for (int s = 0; s < slots_; ++s) {
    std::vector<SharedBuffer>& slot = spec.slots.emplace_back();
    for (uint32_t b = 0; b < contents_.size(); ++b) {
      std::string file(static_cast<size_t>(kGuard), '\0');
      file += contents_[b] + std::string(static_cast<size_t>(kGuard), '\0');
      for (int64_t i = 0; i < kGuard; ++i) {
        file[static_cast<size_t>(i)] = GuardByte(b, i);
        file[file.size() - 1 - static_cast<size_t>(i)] = GuardByte(b, -i);
      }
      REQUIRE(WriteFileAtomically(Path(b, s), file).ok());
      SharedBuffer& buffer = slot.emplace_back();
      buffer.path = Path(b, s);
      buffer.payload_offset = kGuard;
      buffer.payload_bytes = static_cast<int64_t>(contents_[b].size());
    }
  }
  absl::StatusOr<std::unique_ptr<Executor>> started = Factory().Start(spec);
  INFO(Message(started.status()));
  REQUIRE(started.ok());
  executor_ = std::move(*started);
  return *executor_;
}

RunReport Bench::Run(const RunRequest& request) { return executor().Run(request); }

std::string Bench::ReadBytes(uint32_t buffer, int slot) const {
  return ReadFile(Path(buffer, slot))->substr(static_cast<size_t>(kGuard), contents_[buffer].size());
}

bool Bench::GuardsIntact(uint32_t buffer, int slot) const {
  std::string file = *ReadFile(Path(buffer, slot));
  for (int64_t i = 0; i < kGuard; ++i) {
    if (file[static_cast<size_t>(i)] != GuardByte(buffer, i)) return false;
    if (file[file.size() - 1 - static_cast<size_t>(i)] != GuardByte(buffer, -i)) return false;
  }
  return true;
}

}  // namespace warpsmith::executor
