#include "gpu_worker/host_code/sandbox_paths.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>

namespace warpsmith::host_code {
namespace {

bool Holds(const std::vector<std::string>& list, const std::string& entry) {
  return std::find(list.begin(), list.end(), entry) != list.end();
}

}  // namespace

TEST_CASE("an interpreter tells its folders, and never the root", "[unit]") {
  const auto folders = PythonFolders("/usr/bin/python3");
  REQUIRE(folders.ok());
  CHECK(std::any_of(folders->begin(), folders->end(),
                    [](const std::string& entry) { return entry.find("python3") != std::string::npos; }));
  CHECK(!Holds(*folders, "/"));
  CHECK(!PythonFolders("/bin/false").ok());
}

TEST_CASE("without a GPU nothing of the machine can be written to but devices", "[unit]") {
  const SandboxPaths paths = MachinePaths(false, {"/no/such/folder"});
  CHECK(paths.write.empty());
  CHECK(Holds(paths.read, "/usr"));
  CHECK(!Holds(paths.read, "/proc"));
  CHECK(!Holds(paths.read, "/etc"));
  CHECK(!Holds(paths.read, "/no/such/folder"));
  CHECK(Holds(paths.data, "/dev/null"));
}

TEST_CASE("with a GPU other processes' entries and disks stay out of reach", "[unit]") {
  const SandboxPaths paths = MachinePaths(true, {});
  for (const std::vector<std::string>* list : {&paths.read, &paths.write, &paths.data}) {
    CHECK(!Holds(*list, "/proc"));
    CHECK(!Holds(*list, "/dev"));
    CHECK(!Holds(*list, "/etc"));
  }
  CHECK(Holds(paths.read, "/proc/self"));
  CHECK(Holds(paths.write, "/dev/shm"));
}

TEST_CASE("folders of a search path are added where they are there", "[unit]") {
  SandboxPaths paths;
  AddFolders("/usr/lib::/no/such/folder:relative:/:/usr/share", paths);
  CHECK(paths.read == std::vector<std::string>{"/usr/lib", "/usr/share"});
}

TEST_CASE("a child's environment holds nothing of ours", "[unit]") {
  setenv("WARPSMITH_TEST_TOKEN", "a secret", 1);
  const auto environment = HostCodeEnvironment("/usr/bin/python3", "/folder", 2);
  for (const auto& [name, value] : environment) {
    CHECK(name.find("WARPSMITH") == std::string::npos);
    CHECK(value.find("secret") == std::string::npos);
  }
  CHECK(environment.at("HOME") == "/folder");
  CHECK(environment.at("PATH").starts_with("/usr/bin"));
  CHECK(environment.at("TORCH_EXTENSIONS_DIR").starts_with("/folder"));
}

}  // namespace warpsmith::host_code
