// What of the catalog's recipes is decided without a device: for every problem that they are for, of even and odd sizes
// and of the well-known ones, ideas with their settings expand, parse, have a plan that fits their
// kernels and their problem, and compile for sm_89 and sm_90 as far as they are for them. Needs NVRTC, and PyTorch for
// the problems' shapes.
#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>

#include "common/file.h"
#include "common/json.h"
#include "gpu_worker/compile/caching_compiler.h"
#include "gpu_worker/compile/child_compiler.h"
#include "gpu_worker/plan/candidate.h"
#include "llm_gateway/catalog/recipe_match.h"

namespace warpsmith {
namespace {

const std::filesystem::path kRoot = WARPSMITH_SOURCE_DIR;

v1::Problem ProblemOf(const Json& json) {
  v1::Problem problem;
  REQUIRE(google::protobuf::util::JsonStringToMessage(json.dump(), &problem).ok());
  return problem;
}

// The well-known problems, and some in half precision, which are too large or not possible to be run on every machine
// for their shapes. These therefore stand in a file.
std::vector<v1::Problem> ListedProblems() {
  auto text = ReadFile(kRoot / "tests/gpu/catalog/shapes.json");
  REQUIRE(text.ok());
  auto list = ParseStrictJson(*text);
  REQUIRE(list.ok());
  std::vector<v1::Problem> problems;
  for (const Json& entry : *list) {
    problems.push_back(ProblemOf(entry));
    if (!problems.back().source().empty()) continue;
    auto source = ReadFile(kRoot / "tests/problems/headline" / (problems.back().name() + ".py"));
    REQUIRE(source.ok());
    problems.back().set_source(*source);
  }
  return problems;
}

// Empty where there is no PyTorch.
std::vector<v1::Problem> SmallProblems() {
  const char* python = std::getenv("WARPSMITH_PYTHON");
  std::string command = fmt::format("'{}' -B '{}'", python && *python ? python : "/usr/bin/python3",
                                    (kRoot / "tests/gpu/catalog/describe.py").string());
  std::set<std::string> files;
  for (const auto& file : std::filesystem::directory_iterator(kRoot / "tests/problems/catalog")) {
    if (file.path().extension() == ".py") files.insert(file.path().string());
  }
  for (const char* name : {"softmax", "softmax_odd", "layer_norm", "matmul", "matmul_odd", "conv2d_bias",
                           "conv2d_bias_strided", "gelu", "sum_dimension", "sum_dimension_last"}) {
    files.insert((kRoot / "tests/problems" / fmt::format("{}.py", name)).string());
  }
  for (const std::string& file : files) command += fmt::format(" '{}'", file);
  std::string output;
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> chunk;
  while (size_t size = fread(chunk.data(), 1, chunk.size(), pipe)) output.append(chunk.data(), size);
  std::vector<v1::Problem> problems;
  if (pclose(pipe) != 0) return problems;
  JsonLimits limits;
  limits.max_bytes = 64u << 20;
  auto list = ParseStrictJson(output, limits);
  REQUIRE(list.ok());
  REQUIRE(list->size() == files.size());
  for (const Json& entry : *list) problems.push_back(ProblemOf(entry["problem"]));
  return problems;
}

// Empty, or what is wrong.
std::string WrongWith(const std::string& source, const v1::Problem& problem, int capability,
                      compile::Compiler& compiler) {
  auto candidate = plan::ParseCandidate(source);
  if (!candidate.ok()) return Message(candidate.status());
  const plan::DeviceLimits limits = plan::DeviceLimits::ForArchitecture(capability);
  const plan::TuneAssignment untuned;
  if (auto status = plan::CheckPlan(candidate->plan, problem.signature(), limits, untuned); !status.ok()) {
    return Message(status);
  }
  compile::CompileRequest request;
  request.code = candidate->code;
  request.kernel_names = plan::KernelNames(candidate->plan);
  request.options = plan::CompilerOptions(candidate->plan, untuned);
  request.architectures = {plan::CompileArchitecture(candidate->plan, capability)};
  auto compiled = compiler.Compile(request);
  if (!compiled.ok()) return Message(compiled.status());
  if (compiled->outcome != v1::OUTCOME_OK) return compiled->message + "\n" + compiled->log;
  auto expanded = plan::Expand(candidate->plan, problem.signature(), compiled->kernels, limits, untuned);
  return expanded.ok() ? "" : Message(expanded.status());
}

struct Tried {
  int candidates = 0;
  std::set<std::string> recipes;
  std::set<std::string> ideas;
};

// Quick: one setting of every idea that needs a GPU and of each recipe's first one, once, for sm_90; the emulated
// device compiles the others in their own tests. Else all of it.
void CheckProblem(const v1::Problem& problem, const std::vector<gateway::Recipe>& recipes, bool quick,
                  compile::Compiler& compiler, Tried& tried) {
  const std::vector<int> capabilities = quick ? std::vector<int>{90} : std::vector<int>{90, 89};
  bool any = false;
  for (const gateway::Recipe& recipe : recipes) {
    auto matched = gateway::MatchRecipe(recipe, problem);
    if (!matched.ok()) continue;
    any = true;
    const bool first_time = tried.recipes.insert(recipe.name).second;
    for (int capability : capabilities) {
      v1::DeviceDescription device;
      device.set_compute_capability(capability);
      for (const gateway::RecipeIdea& idea : recipe.ideas) {
        const bool first_idea = &idea == &recipe.ideas.front();
        if (quick && !idea.needs_gpu && !(first_time && first_idea)) continue;
        std::vector<gateway::RecipeValues> fitting = gateway::FittingSettings(idea, *matched, device);
        if (fitting.empty() || (quick && !tried.ideas.insert(idea.idea.catalog_key()).second)) continue;
        if (quick) fitting.resize(1);
        for (const gateway::RecipeValues& values : fitting) {
          auto source = idea.source.Expand(values);
          REQUIRE(source.ok());
          const std::string wrong = WrongWith(*source, problem, capability, compiler);
          ++tried.candidates;
          if (wrong.empty()) continue;
          FAIL_CHECK(fmt::format("{} with {} on sm_{}, setting {}: {}", problem.name(), idea.idea.catalog_key(),
                                 capability, &values - fitting.data(), wrong.substr(0, 1500)));
        }
      }
    }
  }
  INFO(problem.name());
  CHECK(any);
}

void CheckAll(bool quick) {
  auto recipes = gateway::LoadRecipes(kRoot / "llm_gateway/catalog/recipes");
  INFO(Message(recipes.status()));
  REQUIRE(recipes.ok());
  compile::ChildCompiler child;
  if (child.NvrtcVersion().empty()) {
    WARN("no NVRTC on this machine: the recipes cannot be compiled, left out");
    return;
  }
  std::vector<v1::Problem> problems = ListedProblems();
  std::vector<v1::Problem> small = SmallProblems();
  if (small.empty()) WARN("no PyTorch on this machine: only the well-known problems are tried");
  problems.insert(problems.end(), small.begin(), small.end());
  auto cache = TemporaryDirectory::Create("catalog-static");
  REQUIRE(cache.ok());
  compile::CachingCompiler compiler(child, cache->path());  // some settings differ in their plan only
  Tried tried;
  for (const v1::Problem& problem : problems) CheckProblem(problem, *recipes, quick, compiler, tried);
  std::cout << fmt::format("{} candidates of {} recipes\n", tried.candidates, tried.recipes.size());
  if (!small.empty()) CHECK(tried.recipes.size() == recipes->size());
}

TEST_CASE("ideas that need a GPU, and one of every recipe, compile and fit", "[unit]") { CheckAll(true); }

TEST_CASE("every idea with every setting compiles and fits, for every problem", "[.slow]") { CheckAll(false); }

}  // namespace
}  // namespace warpsmith
