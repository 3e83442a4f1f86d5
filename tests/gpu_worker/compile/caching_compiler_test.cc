#include "gpu_worker/compile/caching_compiler.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/gpu_worker/compile/testing.h"

namespace warpsmith::compile {
namespace {

namespace fs = std::filesystem;

// Answers at once and counts.
class FakeCompiler final : public Compiler {
 public:
  absl::StatusOr<CompileResult> Compile(const CompileRequest& request) override {
    ++calls;
    CompileResult result;
    result.outcome = outcome;
    result.reason = reason;
    if (outcome == v1::OUTCOME_OK) {
      result.artifact = request.code + std::string(artifact_bytes, 'x');
      for (const std::string& name : request.kernel_names) result.kernels.push_back({name, name, {{}}, 256, 16, 32, 8});
      result.cubins["sm_89"] = result.artifact;
    }
    return result;
  }
  std::string Fingerprint() override { return fingerprint; }

  int calls = 0;
  v1::Outcome outcome = v1::OUTCOME_OK;
  std::string reason;
  std::string fingerprint = "1";
  size_t artifact_bytes = 10;
};

std::vector<fs::path> Files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  return files;
}

TEST_CASE("the same request is compiled once, any difference again", "[unit]") {
  auto folder = TemporaryDirectory::Create("warpsmith-test");
  REQUIRE(folder.ok());
  FakeCompiler inner;
  CachingCompiler cache(inner, folder->path());
  CompileRequest request = ForGpu("code", {"f"});
  auto first = cache.Compile(request);
  auto second = cache.Compile(request);
  REQUIRE(first.ok());
  REQUIRE(second.ok());
  CHECK(inner.calls == 1);
  CHECK(!first->cached);
  CHECK(second->cached);
  CHECK(second->artifact == first->artifact);
  CHECK(second->cubins == first->cubins);
  REQUIRE(second->kernels.size() == 1);
  CHECK(second->kernels[0].max_threads_per_block == 256);
  CHECK(second->kernels[0].parameters.size() == 1);
  std::vector<CompileRequest> others(6, request);
  others[0].code = "code2";
  others[1].kernel_names = {"f", "g"};
  others[2].options = {"-DA"};
  others[3].architectures = {"sm_90"};
  others[4].emulated = true;
  others[5].budget_module_bytes = 5;
  for (const CompileRequest& other : others) CHECK(!cache.Compile(other)->cached);
  CHECK(inner.calls == 7);
  FakeCompiler newer;
  newer.fingerprint = "2";
  CachingCompiler after(newer, folder->path());
  CHECK(!after.Compile(request)->cached);
}

TEST_CASE("damaged entries and other requests' entries are ignored", "[unit]") {
  auto folder = TemporaryDirectory::Create("warpsmith-test");
  REQUIRE(folder.ok());
  FakeCompiler inner;
  CachingCompiler cache(inner, folder->path());
  CompileRequest request = ForGpu("code", {"f"});
  REQUIRE(cache.Compile(request).ok());
  std::vector<fs::path> files = Files(folder->path());
  REQUIRE(files.size() == 1);
  std::string whole = *ReadFile(files[0]);
  for (std::string damaged : {whole.substr(0, whole.size() / 2), std::string(), whole.substr(0, whole.size() - 1) + "!",
                              std::string("garbage"), whole + "more"}) {
    REQUIRE(WriteFileAtomically(files[0], damaged).ok());
    auto result = cache.Compile(request);
    REQUIRE(result.ok());
    CHECK(!result->cached);
    CHECK(result->outcome == v1::OUTCOME_OK);
  }
  CHECK(cache.Compile(request)->cached);
}

TEST_CASE("what may differ next time is not kept, refusals are", "[unit]") {
  auto folder = TemporaryDirectory::Create("warpsmith-test");
  REQUIRE(folder.ok());
  FakeCompiler inner;
  CachingCompiler cache(inner, folder->path());
  auto twice = [&](v1::Outcome outcome, const std::string& reason) {
    inner.outcome = outcome;
    inner.reason = reason;
    CompileRequest request = ForGpu("code" + reason + std::to_string(outcome), {"f"});
    REQUIRE(cache.Compile(request).ok());
    return cache.Compile(request)->cached;
  };
  CHECK(!twice(v1::OUTCOME_INFRA_ERROR, "compiler"));
  CHECK(!twice(v1::OUTCOME_COMPILE_ERROR, "time"));
  CHECK(!twice(v1::OUTCOME_COMPILE_ERROR, "memory"));
  CHECK(twice(v1::OUTCOME_COMPILE_ERROR, "source"));
  CHECK(twice(v1::OUTCOME_PLAN_ERROR, "module_state"));
}

TEST_CASE("the folder stays within its bound and keeps what was used last", "[unit]") {
  auto folder = TemporaryDirectory::Create("warpsmith-test");
  REQUIRE(folder.ok());
  FakeCompiler inner;
  inner.artifact_bytes = 10000;
  CachingCompiler cache(inner, folder->path(), 200000);
  for (int i = 0; i < 40; ++i) REQUIRE(cache.Compile(ForGpu("code" + std::to_string(i), {"f"})).ok());
  uint64_t total = 0;
  for (const fs::path& file : Files(folder->path())) total += fs::file_size(file);
  CHECK(total <= 240000);
  CHECK(cache.Compile(ForGpu("code39", {"f"}))->cached);
  CHECK(!cache.Compile(ForGpu("code0", {"f"}))->cached);
}

TEST_CASE("a real compile is found again, faster", "[host]") {
  auto folder = TemporaryDirectory::Create("warpsmith-test");
  REQUIRE(folder.ok());
  CachingCompiler cache(WithoutToolkit(), folder->path());
  CompileRequest request = Emulated("__global__ void f(float* x) { x[0] = 1; }", {"f"});
  auto first = cache.Compile(request);
  auto second = cache.Compile(request);
  REQUIRE(second.ok());
  REQUIRE(first->outcome == v1::OUTCOME_OK);
  CHECK(second->cached);
  CHECK(second->artifact == first->artifact);
  CHECK(second->seconds < first->seconds);
}

}  // namespace
}  // namespace warpsmith::compile
