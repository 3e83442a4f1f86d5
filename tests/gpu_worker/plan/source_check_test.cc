#include "gpu_worker/plan/source_check.h"

#include <catch2/catch.hpp>

#include "gpu_worker/plan/source_lexer.h"
#include "tests/gpu_worker/plan/plan_fixture.h"

namespace warpsmith::plan {
namespace {

constexpr char kPlan[] = "/* warpsmith-plan {\"version\": 1} */\n";

std::string File(std::string_view code) { return kPlan + std::string(code); }

TEST_CASE("code that is accepted", "[unit]") {
  const std::string_view cases[] = {
      "",
      "__global__ void f(float* x) { x[0] = 1; }\n",
      "#include <cuda_fp16.h>\n#include <mma.h>\n#include \"cuda_bf16.h\"\n",
      "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n",
      "#include <cuda/std/array>\n#include <cuda/pipeline>\n",
      "  #  include\t<cuda_fp8.h> // why\n",
      "#/* here */include /* there */ <math_constants.h>\n",
      "#inc\\\nlude <cuda_fp16.h>\n",
      "#define TILE 64\n#undef TILE\n#if TILE > 3 && !defined(X)\n#elif 1\n#else\n#endif\n",
      "#pragma unroll 4\n#pragma once\n#pragma nv_diag_suppress 177\n#\n",
      "#ifdef __CUDACC__\nint a;\n#endif\n",
      "#if defined(__CUDACC__) && __CUDACC_VER_MAJOR__ >= 12\nint a;\n#endif\n",
      "#if __CUDA_ARCH__ >= 800\nint a;\n#else\nint b;\n#endif\n",
      "// #include </etc/passwd>\n",
      "/* #include </etc/passwd>\n __x86_64__ asm __has_include */\n",
      "// a comment that goes on \\\n#include </etc/passwd>\n",
      "const char* s = \"#include </etc/passwd> __x86_64__ /* warpsmith-plan */\";\n",
      "const char* s = \"a\\\"__linux__\";\n",
      "const char* s = R\"x(\n#include </etc/passwd>\n)\" __linux__ )x\";\n",
      "const char* s = u8R\"(__GNUC__)\";\n",
      "int a = 1'000'000; char c = '\\''; char d = '\"'; int e = 0x1'f;\n",
      "#if 0\nit's not a literal\n#endif\nint a;\n",
      "int R = 1; int x = R + 2; // R\"(\n",
      "// warpsmith-plan in a line comment is no plan\n",
      "/* about the warpsmith-plan above */\n",
      "/* warpsmith-planner */\n",
      "int linux_count = 1, x86 = 2;\n",
      "int a;\r\nint b;\r\n#define X \\\r\n  1\r\n",
      "// gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80\n",
      "int a = x ? y : z; // what??\n",
      "__device__ const float kTable[2] = {1, 2};\n",
  };
  for (std::string_view code : cases) {
    INFO(code);
    auto checked = CheckSource(File(code));
    INFO(Message(checked.status()));
    REQUIRE(checked.ok());
    CHECK(checked->code == File(code));
    CHECK(checked->plan_json == "{\"version\": 1}");
  }
}

TEST_CASE("code that is refused", "[unit]") {
  const Rejection cases[] = {
      {"#include <stdio.h>\n", "include", "line 2: #include of \"stdio.h\""},
      {"#include </etc/passwd>\n", "include", "\"/etc/passwd\""},
      {"#include \"/etc/passwd\"\n", "include", "\"/etc/passwd\""},
      {"\n\n#include <cuda_runtime.h>\n", "include", "line 4"},
      {"#include <cuda/../../../etc/passwd>\n", "include", "not allowed"},
      {"#include <cuda//etc>\n", "include", "not allowed"},
      {"#include <cuda/.hidden>\n", "include", "not allowed"},
      {"#include <cuda/>\n", "include", "not allowed"},
      {"#include <cuda/a\\b>\n", "include", "not allowed"},
      {"#include <cooperative_groups/../x>\n", "include", "not allowed"},
      {"#include <cuda_fp16.h\n", "include", "not allowed"},
      {"#include\n", "include", "needs a header's name"},
      {"#define H <stdio.h>\n#include H\n", "include", "line 3: #include needs"},
      {"#inc\\\nlude <stdio.h>\n", "include", "stdio.h"},
      {"#\\\r\ninclude <stdio.h>\r\n", "include", "stdio.h"},
      {"%:include <stdio.h>\n", "include", "stdio.h"},
      {"#/**/include<stdio.h>", "include", "stdio.h"},
      {"/* a */ #include <stdio.h>\n", "include", "stdio.h"},
      {"#if 0\n#include <stdio.h>\n#endif\n", "include", "stdio.h"},
      {"#include_next <cuda_fp16.h>\n", "include", "#include_next is not allowed"},
      {"#import <cuda_fp16.h>\n", "include", "#import is not allowed"},
      {"#embed \"x\"\n", "include", "#embed is not allowed"},
      {"#if __has_include(<x>)\n#endif\n", "include", "__has_include is not allowed"},
      {"#if __has_in\\\nclude(<x>)\n#endif\n", "include", "__has_include is not allowed"},
      {"int a = __has_embed(x);\n", "include", "__has_embed"},
      {"#line 3\n", "directive", "line 2: #line is not allowed"},
      {"# 3 \"x\"\n", "directive", "#3 is not allowed"},
      {"#ident \"x\"\n", "directive", "#ident"},
      {"#assert x(y)\n", "directive", "#assert"},
      {"#pragma GCC optimize(\"O3\")\n", "directive", "#pragma GCC"},
      {"#pragma clang loop\n", "directive", "#pragma clang"},
      {"#if defined(__x86_64__)\n#endif\n", "host_macro", "line 2: __x86_64__"},
      {"#ifdef __linux__\n#endif\n", "host_macro", "__linux__"},
      {"#ifndef __GNUC__\n#endif\n", "host_macro", "__GNUC__"},
      {"#if defined(__x86\\\n_64__)\n#endif\n", "host_macro", "__x86_64__"},
      {"#define HOST defined(__linux__)\n", "host_macro", "__linux__"},
      {"int a = __AVX2__;\n", "host_macro", "__AVX2__"},
      {"int a = __builtin_ia32_rdtsc();\n", "host_macro", "__builtin_ia32_rdtsc"},
      {"#if __has_builtin(x)\n#endif\n", "host_macro", "__has_builtin"},
      {"#ifdef WARPSMITH_EMULATED\n#endif\n", "host_macro", "WARPSMITH_EMULATED"},
      {"using namespace warpsmith;\n", "host_macro", "warpsmith"},
      {"#ifndef __CUDACC__\n#endif\n", "host_macro", "line 2: code for where"},
      {"#if !defined(__CUDACC__)\n#endif\n", "host_macro", "code for where"},
      {"#if not defined(__NVCC__)\n#endif\n", "host_macro", "code for where"},
      {"#if defined(__CUDACC_RTC__) == 0\n#endif\n", "host_macro", "code for where"},
      {"#if defined(__CUDACC__) ? 0 : 1\n#endif\n", "host_macro", "code for where"},
      {"#ifdef __CUDACC__\n#else\nint a;\n#endif\n", "host_macro", "line 3: code for where"},
      {"#ifdef __CUDACC_RTC__\n#elif 1\n#endif\n", "host_macro", "line 3"},
      {"#if 0\n#elif defined(__CUDACC__)\n#else\n#endif\n", "host_macro", "line 4"},
      {"#define DEVICE defined(__CUDACC__)\n", "host_macro", "__CUDACC__ may stand in a condition"},
      {"#undef __NVCC__\n", "host_macro", "__NVCC__ may stand in a condition"},
      {"int a = __CUDACC_RTC__;\n", "host_macro", "__CUDACC_RTC__ may stand in a condition"},
      {"/* warpsmith-plan {} */\n", "plan_comment", "line 2: a second plan comment"},
      {"int a; /*\n\n   warpsmith-plan*/\n", "plan_comment", "a second plan comment"},
      {"#define A /* warpsmith-plan {} */ 1\n", "plan_comment", "a second plan comment"},
      {"#if 1 /* warpsmith-plan {} */\n#endif\n", "plan_comment", "a second plan comment"},
      {"#/* warpsmith-plan {} */\n", "plan_comment", "a second plan comment"},
      {"/\\\n* warpsmith-plan {} */\n", "plan_comment", "a second plan comment"},
      {"const char* s = R\"x(a)y\" )x\"; int a = __linux__;\n", "host_macro", "__linux__"},
      {"char c = '\\\\'; int a = __linux__;\n", "host_macro", "__linux__"},
      {"int a = 1'0; int b = __linux__; // '\n", "host_macro", "__linux__"},
      {"const char* s = \"open\n; int a = __linux__;\n", "host_macro", "line 3"},
  };
  for (const Rejection& rejection : cases) CheckRejected(CheckSource(File(rejection.text)).status(), rejection);
}

TEST_CASE("bytes that compilers read differently are refused", "[unit]") {
  const std::string nul = File(std::string("int a;\0int b;", 13));
  const std::string large(kMaxFileBytes + 1, ' ');
  const std::pair<std::string, Rejection> cases[] = {
      {nul, {"NUL", "encoding", "line 2: a NUL byte"}},
      {File("a\xFF"), {"0xFF", "encoding", "line 2: byte 0xFF is not valid UTF-8"}},
      {File("\xC0\xAF"), {"overlong", "encoding", "byte 0xC0"}},
      {File("\xE0\x80\xAF"), {"overlong of three", "encoding", "byte 0xE0"}},
      {File("\xED\xA0\x80"), {"surrogate", "encoding", "byte 0xED"}},
      {File("\xF4\x90\x80\x80"), {"above U+10FFFF", "encoding", "byte 0xF4"}},
      {File("\xE2\x82"), {"cut off", "encoding", "byte 0xE2"}},
      {File("\x80"), {"stray", "encoding", "byte 0x80"}},
      {File("int a;\rint b;\n"), {"CR", "encoding", "carriage return"}},
      {File("int a;\r"), {"CR at the end", "encoding", "carriage return"}},
      {File("\?\?=include <stdio.h>\n"), {"trigraph", "encoding", "trigraph"}},
      {File("// \?\?/\nint a;\n"), {"trigraph splice", "encoding", "trigraph"}},
      {File("// a \\ \nint a;\n"), {"backslash space", "encoding", "line 2: a backslash followed by white space"}},
      {File("#inc\\\t\r\nlude <stdio.h>\n"), {"backslash tab", "encoding", "backslash"}},
      {large, {"large", "encoding", "the limit is 1048576"}},
      {"", {"empty", "plan_comment", "the file is empty"}},
      {" \n\t", {"blank", "plan_comment", "the file is empty"}},
      {"int a;\n", {"no plan", "plan_comment", "the file has no plan"}},
      {"int a;\n/* warpsmith-plan {} */\n", {"late", "plan_comment", "the first thing in the file"}},
      {"// x\n/* warpsmith-plan {} */\n", {"after a comment", "plan_comment", "the first thing in the file"}},
      {"/* warpsmith-plan {}", {"open", "plan_comment", "the first thing in the file"}},
      {"/* warpsmith-plan2 {} */", {"other word", "plan_comment", "warpsmith-plan"}},
      {"/* warpsmith-plan */", {"no JSON", "plan_comment", "line 1: the plan is empty"}},
      {"// warpsmith-plan {}\n", {"line comment", "plan_comment", "the first thing in the file"}},
      {"\xEF\xBB\xBF\xEF\xBB\xBF/* warpsmith-plan {} */", {"two marks", "plan_comment", "the first thing"}},
  };
  for (const auto& [file, rejection] : cases) CheckRejected(CheckSource(file).status(), rejection);
}

TEST_CASE("the plan comment is taken as it stands", "[unit]") {
  auto checked = CheckSource("\xEF\xBB\xBF \n\t/*\n\n warpsmith-plan\n {\"a\":\n1}\n\n*/int a;");
  REQUIRE(checked.ok());
  CHECK(checked->plan_json == "{\"a\":\n1}");
  CHECK(checked->plan_line == 5);
  CHECK(checked->code.substr(0, 2) == " \n");  // the byte order mark is gone, lines are the file's

  checked = CheckSource("/*warpsmith-plan{}*/");
  REQUIRE(checked.ok());
  CHECK(checked->plan_json == "{}");
  // The first end of a comment in the raw bytes ends it, in a JSON string, too.
  checked = CheckSource("/* warpsmith-plan {\"a\": \"*/\"} */");
  REQUIRE(checked.ok());
  CHECK(checked->plan_json == "{\"a\": \"");
}

TEST_CASE("includes are listed once", "[unit]") {
  auto checked = CheckSource(File("#include <mma.h>\n#include \"cuda_fp16.h\"\n#include <mma.h>\n"));
  REQUIRE(checked.ok());
  CHECK(checked->includes == std::vector<std::string>{"mma.h", "cuda_fp16.h"});
}

TEST_CASE("a file of the largest size is read in reasonable time", "[unit]") {
  for (const char* piece : {"/", "\\\n", "a ", "\"", "'", "#\n", "/*", "R\"(", "1'", "#if 1\n"}) {
    std::string file = kPlan;
    while (file.size() + 8 < kMaxFileBytes) file += piece;
    auto checked = CheckSource(file);
    INFO(piece);
    CHECK((checked.ok() || !Message(checked.status()).empty()));
  }
}

TEST_CASE("tokens keep their lines", "[unit]") {
  SourceLexer lexer("a /*\n*/ b\n\"\\\n\" c \\\n d\nR\"(\n\n)\" e");
  Token token;
  std::vector<std::pair<std::string, int>> words;
  while (lexer.Next(&token)) {
    if (token.kind == TokenKind::kIdentifier) words.emplace_back(token.text, token.line);
  }
  CHECK(words == std::vector<std::pair<std::string, int>>{{"a", 1}, {"b", 2}, {"c", 4}, {"d", 5}, {"e", 8}});
}

}  // namespace
}  // namespace warpsmith::plan
