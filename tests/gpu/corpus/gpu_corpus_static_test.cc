// What of tests/corpus/gpu is decided before a device is reached, checked without one: every file that must run on a
// GPU parses, compiles for sm_89 and sm_90 and has a plan that fits its kernels and its problem; every file whose end
// comes before that ends as the manifest says. Needs NVRTC, and PyTorch for the problems' shapes.
#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include "common/file.h"
#include "common/json.h"
#include "gpu_worker/compile/caching_compiler.h"
#include "gpu_worker/compile/child_compiler.h"
#include "gpu_worker/plan/candidate.h"

namespace warpsmith {
namespace {

const std::filesystem::path kSource = WARPSMITH_SOURCE_DIR;
const std::filesystem::path kCorpus = kSource / "tests" / "corpus" / "gpu";

struct Verdict {
  std::string outcome;  // empty: a device has to say
  std::string reason;
  std::string text;  // message and log
};

const Json& Manifest() {
  static const Json manifest = [] {
    auto text = ReadFile(kCorpus / "manifest.json");
    REQUIRE(text.ok());
    auto parsed = ParseStrictJson(*text);
    INFO(Message(parsed.status()));
    REQUIRE(parsed.ok());
    return *parsed;
  }();
  return manifest;
}

std::string Lower(std::string name) {
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name.rfind("outcome_", 0) == 0 ? name.substr(8) : name;
}

// By the manifest's names of problems; empty where there is no PyTorch.
std::map<std::string, v1::ProblemSignature> Signatures() {
  std::set<std::string> names;
  for (const Json& entry : Manifest()) names.insert(entry["problem"].get<std::string>());
  const char* python = std::getenv("WARPSMITH_PYTHON");
  std::string command = fmt::format("'{}' '{}'", python && *python ? python : "/usr/bin/python3",
                                    (kSource / "tests/gpu/corpus/signatures.py").string());
  for (const std::string& name : names) {
    command += fmt::format(" '{}={}'", name, (kSource / "tests/problems" / (name + ".py")).string());
  }
  std::string output;
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> chunk;
  while (size_t size = fread(chunk.data(), 1, chunk.size(), pipe)) output.append(chunk.data(), size);
  std::map<std::string, v1::ProblemSignature> signatures;
  if (pclose(pipe) != 0) return signatures;
  auto parsed = ParseStrictJson(output);
  REQUIRE(parsed.ok());
  for (const auto& [name, json] : parsed->items()) {
    REQUIRE(google::protobuf::util::JsonStringToMessage(json.dump(), &signatures[name]).ok());
  }
  return signatures;
}

Verdict FromPlan(const absl::Status& status) {
  return {Lower(v1::Outcome_Name(plan::PlanErrorOutcome(status))), plan::PlanErrorReason(status), Message(status)};
}

Verdict CheckVariant(const plan::Candidate& candidate, const plan::TuneAssignment& tune,
                     const v1::ProblemSignature& signature, compile::Compiler& compiler) {
  const plan::DeviceLimits limits = plan::DeviceLimits::ForArchitecture(90);
  if (auto status = plan::CheckPlan(candidate.plan, signature, limits, tune); !status.ok()) return FromPlan(status);
  compile::CompileRequest request;
  request.code = candidate.code;
  request.kernel_names = plan::KernelNames(candidate.plan);
  request.options = plan::CompilerOptions(candidate.plan, tune);
  const int least = candidate.plan.min_arch ? candidate.plan.min_arch->number : 0;
  for (int capability : {89, 90}) {
    if (least <= capability) request.architectures.push_back(plan::CompileArchitecture(candidate.plan, capability));
  }
  if (request.architectures.empty()) return {"plan_error", "min_arch", "above every device"};
  auto compiled = compiler.Compile(request);
  if (!compiled.ok()) return {"infra_error", "", Message(compiled.status())};
  if (compiled->outcome != v1::OUTCOME_OK) {
    return {Lower(v1::Outcome_Name(compiled->outcome)), compiled->reason, compiled->message + "\n" + compiled->log};
  }
  for (int capability : {90, 89}) {
    if (least > capability) continue;
    auto expanded = plan::Expand(candidate.plan, signature, compiled->kernels,
                                 plan::DeviceLimits::ForArchitecture(capability), tune);
    if (!expanded.ok()) return FromPlan(expanded.status());
    CHECK(expanded->steps_size() > 0);
  }
  return {};
}

Verdict CheckFile(const std::string& source, const v1::ProblemSignature& signature, compile::Compiler& compiler) {
  auto candidate = plan::ParseCandidate(source);
  if (!candidate.ok()) return FromPlan(candidate.status());
  Verdict verdict;
  for (const plan::TuneAssignment& tune : plan::TuneVariants(candidate->plan, 4)) {
    verdict = CheckVariant(*candidate, tune, signature, compiler);
    if (!verdict.outcome.empty()) break;
  }
  return verdict;
}

void Check(const Json& entry, const v1::ProblemSignature& signature, compile::Compiler& compiler) {
  const std::string file = entry["file"];
  auto source = ReadFile(kCorpus / file);
  REQUIRE(source.ok());
  Verdict verdict = CheckFile(*source, signature, compiler);
  INFO(file << ": " << entry.value("note", "") << "\n"
            << verdict.outcome << " " << verdict.reason << "\n"
            << verdict.text.substr(0, 2000));
  if (entry.value("decided", "") != "static") {
    CHECK(verdict.outcome.empty());
    return;
  }
  std::set<std::string> allowed = {entry["expected_outcome"]}, reasons;
  for (const Json& more : entry.value("also_allowed", Json::array())) allowed.insert(more.get<std::string>());
  CHECK(allowed.count(verdict.outcome) == 1);
  if (entry.contains("expected_reason")) reasons.insert(entry["expected_reason"].get<std::string>());
  for (const Json& more : entry.value("also_reasons", Json::array())) reasons.insert(more.get<std::string>());
  if (!reasons.empty() && verdict.outcome == entry["expected_outcome"]) CHECK(reasons.count(verdict.reason) == 1);
  for (const Json& secret : entry.value("must_not_appear", Json::array())) {
    CHECK(verdict.text.find(secret.get<std::string>()) == std::string::npos);
  }
}

TEST_CASE("every file stands in the manifest, and there are enough", "[unit]") {
  std::map<std::string, int> groups;
  std::set<std::string> listed, present;
  for (const Json& entry : Manifest()) {
    std::string file = entry["file"];
    CHECK(listed.insert(file).second);
    ++groups[file.substr(0, file.find('/'))];
    CHECK(std::filesystem::exists(kSource / "tests/problems" / (entry["problem"].get<std::string>() + ".py")));
    if (entry.contains("time_not_below_of")) CHECK(std::filesystem::exists(kCorpus / entry["time_not_below_of"][0]));
  }
  for (const char* group : {"honest", "hostile"}) {
    for (const auto& file : std::filesystem::directory_iterator(kCorpus / group)) {
      present.insert(fmt::format("{}/{}", group, file.path().filename().string()));
    }
  }
  CHECK(listed == present);
  CHECK(groups["hostile"] >= 45);
  CHECK(groups["honest"] >= 20);
}

TEST_CASE("files compile and fit, or end as they must", "[corpus]") {
  compile::ChildCompiler child;
  if (child.NvrtcVersion().empty()) {
    WARN("no NVRTC on this machine: the GPU corpora cannot be compiled, left out");
    return;
  }
  std::map<std::string, v1::ProblemSignature> signatures = Signatures();
  if (signatures.empty()) {
    WARN("no PyTorch on this machine: the problems' shapes are not known, left out");
    return;
  }
  auto cache = TemporaryDirectory::Create("gpu-corpus");
  REQUIRE(cache.ok());
  compile::CachingCompiler compiler(child, cache->path());  // some files differ in their plan only
  for (const Json& entry : Manifest()) Check(entry, signatures.at(entry["problem"]), compiler);
}

}  // namespace
}  // namespace warpsmith
