// Sources that try to read this machine's files or to exhaust it, on both paths.
#include <catch2/catch.hpp>
#include <chrono>

#include "tests/gpu_worker/compile/testing.h"

namespace warpsmith::compile {
namespace {

// Every path that this machine has: without NVRTC, with it, and to a cubin.
std::vector<std::pair<ChildCompiler*, bool>> Paths(const char* test) {
  std::vector<std::pair<ChildCompiler*, bool>> paths = {{&WithoutToolkit(), true}};
  if (HaveToolkit(test)) {
    paths.push_back({&WithToolkit(), true});
    paths.push_back({&WithToolkit(), false});
  }
  return paths;
}

CompileResult Run(ChildCompiler& compiler, bool emulated, const std::string& code) {
  auto result = compiler.Compile(emulated ? Emulated(code, {"f"}) : ForGpu(code, {"f"}));
  REQUIRE(result.ok());
  return *result;
}

bool Leaks(const CompileResult& result) {
  std::string all = result.log + result.message + result.artifact;
  for (const auto& [name, cubin] : result.cubins) all += cubin;
  return Holds(all, "root:x:0:0") || Holds(all, "/bin/bash") || Holds(all, "PATH=/usr/local") || Holds(all, "HOME=");
}

constexpr char kKernel[] = "\n__global__ void f(float* x) { x[0] = 1; }\n";

TEST_CASE("no file of this machine gets into a log or an artifact", "[hostile]") {
  const std::vector<std::string> sources = {
      std::string("#include \"/etc/passwd\"") + kKernel,
      std::string("#include \"/proc/self/environ\"") + kKernel,
      std::string("#include \"../../../../../../etc/passwd\"") + kKernel,
      std::string("#include </etc/passwd>") + kKernel,
      std::string("#define P \"/etc/passwd\"\n#include P") + kKernel,
      std::string("%:include \"/etc/passwd\"") + kKernel,
      std::string("#inc\\\nlude \"/etc/passwd\"") + kKernel,
      std::string("const char text[] = {\n#embed \"/etc/passwd\"\n};") + kKernel,
      std::string("asm(\".incbin \\\"/etc/passwd\\\"\");") + kKernel,
      "__global__ void f(float* x) { asm volatile(\".incbin \\\"/etc/passwd\\\"\"); x[0] = 1; }",
      "__global__ void f(float* x) { __asm__ volatile(\".incbin \\\"/etc/passwd\\\"\"); x[0] = 1; }",
      std::string("#undef asm\nasm(\".incbin \\\"/etc/passwd\\\"\");") + kKernel,
      std::string("#undef asm\nasm(\".section .rodata\\n.incbin \\\"/proc/self/environ\\\"\\n.text\");") + kKernel,
      std::string("#undef asm\nasm(\".include \\\"/etc/passwd\\\"\");") + kKernel,
      std::string("__attribute__((section(\".rodata\\\"; .incbin \\\"/etc/passwd\\\"; #\"))) int y = 1;") + kKernel,
      std::string("#pragma GCC dependency \"/etc/passwd\"") + kKernel,
      std::string("#pragma GCC pch_preprocess \"/etc/passwd\"") + kKernel,
      std::string("#line 1 \"/etc/passwd\"\nint 5;") + kKernel};
  for (auto [compiler, emulated] : Paths("file leaks")) {
    for (const std::string& source : sources) {
      CompileResult result = Run(*compiler, emulated, source);
      INFO(source << "\n" << result.log);
      CHECK(!Leaks(result));
      CHECK(result.outcome != v1::OUTCOME_INFRA_ERROR);
      CHECK(result.outcome != v1::OUTCOME_UNSPECIFIED);
    }
  }
}

TEST_CASE("__has_include shows nothing of a file, and a log does not tell which exist", "[hostile]") {
  for (auto [compiler, emulated] : Paths("__has_include")) {
    CompileResult result =
        Run(*compiler, emulated, std::string("#if __has_include(\"/etc/passwd\")\n#error seen\n#endif") + kKernel);
    INFO(result.log);
    CHECK(!Holds(result.log, "#error seen"));
    CHECK(!Holds(result.log, "#error directive: seen"));
    CHECK(!Leaks(result));
    std::string there = Run(*compiler, emulated, std::string("#include \"/etc/shadow\"") + kKernel).log;
    std::string absent = Run(*compiler, emulated, std::string("#include \"/etc/nadow0\"") + kKernel).log;
    for (size_t at; (at = there.find("shadow")) != std::string::npos;) there.replace(at, 6, "nadow0");
    CHECK(there == absent);
  }
}

TEST_CASE("templates without end stop with reason time", "[hostile]") {
  ChildCompilerOptions options = Options(true);
  options.cpu_seconds = 2;
  std::string code =
      "template <int D, int N> struct B { static constexpr long v = B<D - 1, 2 * N>::v + B<D - 1, 2 * N + 1>::v; };\n"
      "template <int N> struct B<0, N> { static constexpr long v = N; };\n"
      "__global__ void f(long* x) { x[0] = B<24, 0>::v; }";
  for (auto [shared, emulated] : Paths("template bomb")) {
    options.use_toolkit = shared == &WithToolkit();
    ChildCompiler compiler(options);
    auto started = std::chrono::steady_clock::now();
    CompileResult result = Run(compiler, emulated, code);
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
    INFO(result.message);
    CHECK(result.outcome == v1::OUTCOME_COMPILE_ERROR);
    CHECK(result.reason == "time");
    CHECK(seconds.count() < 70);  // two stages' walls, on a busy machine
  }
}

TEST_CASE("a source that eats memory stops with reason memory", "[hostile]") {
  ChildCompilerOptions options = Options(true);
  options.memory_bytes = 400u << 20;
  std::string code =
      "template <int D, int N> struct B { char c[16]; static constexpr long v = B<D - 1, 2 * N>::v + B<D - 1, 2 * N + "
      "1>::v;\n"
      "  template <int K> struct C { long a, b, c, d; C<K>* next() { return this; } }; C<N> inner; };\n"
      "template <int N> struct B<0, N> { static constexpr long v = N; };\n"
      "__global__ void f(long* x) { x[0] = B<21, 0>::v; }";
  for (auto [shared, emulated] : Paths("memory bomb")) {
    options.use_toolkit = shared == &WithToolkit();
    ChildCompiler compiler(options);
    CompileResult result = Run(compiler, emulated, code);
    INFO(result.message << "\n" << result.log);
    CHECK(result.outcome == v1::OUTCOME_COMPILE_ERROR);
    CHECK(result.reason == "memory");
  }
}

TEST_CASE("a flood of errors gives a bounded log and message", "[hostile]") {
  std::string code = kKernel;
  for (int i = 0; i < 4000; ++i)
    code += "int " + std::string(200, 'x') + std::to_string(i) + " = nothing_of_that_name;\n";
  for (auto [compiler, emulated] : Paths("log flood")) {
    CompileResult result = Run(*compiler, emulated, code);
    CHECK(result.outcome == v1::OUTCOME_COMPILE_ERROR);
    CHECK(result.log.size() <= 16384);
    CHECK(result.message.size() <= 2048);
    CHECK(Holds(result.log, "candidate.cu"));
  }
}

TEST_CASE("an enormous artifact stops with reason size or out_of_memory", "[hostile]") {
  ChildCompilerOptions options = Options(false);
  options.artifact_bytes = 1 << 20;
  ChildCompiler compiler(options);
  CompileResult result =
      Run(compiler, true, "const int table[1 << 20] = {1, 2};\n__global__ void f(int* x) { x[0] = table[x[1]]; }");
  INFO(result.message << result.log);
  CHECK(result.outcome == v1::OUTCOME_COMPILE_ERROR);
  CHECK(result.reason == "size");
  CompileRequest request =
      Emulated("__shared__ char s[1 << 30]; __global__ void f(char* x) { s[x[1]] = x[0]; }", {"f"});
  request.budget_module_bytes = 64 << 20;
  auto large = WithoutToolkit().Compile(request);
  REQUIRE(large.ok());
  CHECK(large->outcome == v1::OUTCOME_OUT_OF_MEMORY);
}

TEST_CASE("sources that are no text are refused", "[hostile]") {
  for (auto [compiler, emulated] : Paths("no text")) {
    CHECK(Run(*compiler, emulated, std::string("__global__ void f() {}\0int", 26)).outcome ==
          v1::OUTCOME_COMPILE_ERROR);
    CHECK(Run(*compiler, emulated, std::string((1 << 20) + 1, ' ')).reason == "size");
    CHECK(Run(*compiler, emulated, "\xff\xfe\x80").outcome != v1::OUTCOME_OK);
  }
}

TEST_CASE("sources that crash a compiler are compile errors", "[hostile]") {
  ChildCompilerOptions options = Options(true);
  options.cpu_seconds = 3;
  std::string code =
      "__global__ void f(int* x) { x[0] = " + std::string(200000, '(') + "1" + std::string(200000, ')') + "; }";
  for (auto [shared, emulated] : Paths("compiler crash")) {
    options.use_toolkit = shared == &WithToolkit();
    ChildCompiler compiler(options);
    CompileResult result = Run(compiler, emulated, code);
    INFO(result.message);
    CHECK(result.outcome == v1::OUTCOME_COMPILE_ERROR);
  }
}

}  // namespace
}  // namespace warpsmith::compile
