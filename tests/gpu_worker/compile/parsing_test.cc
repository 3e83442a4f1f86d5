// The parsers of hostile bytes and text: names, logs, PTX, ELF.
#include <catch2/catch.hpp>
#include <filesystem>
#include <random>

#include "gpu_worker/compile/child_job.h"
#include "gpu_worker/compile/cubin.h"
#include "gpu_worker/compile/elf_reader.h"
#include "gpu_worker/compile/host_object.h"
#include "gpu_worker/compile/kernel_name.h"
#include "gpu_worker/compile/log_text.h"
#include "gpu_worker/compile/ptx.h"
#include "tests/gpu_worker/compile/testing.h"

namespace warpsmith::compile {
namespace {

TEST_CASE("kernel names", "[unit]") {
  for (const char* good : {"f", "_f1", "a::b", "g<1>", "g<128,4>", "g< 128 , true >", "g<float>", "g<unsigned int, -1>",
                           "g<const float*>", "n::g<a::T<1, 2>, 0x10u>", "g<1>::h"}) {
    INFO(good);
    CHECK(CheckKernelName(good).ok());
  }
  for (const char* bad : {"",      " f",    "1f",  "f g",   "f;",     "f(1)",  "f<",  "f<>", "f<1",    "f>",
                          "f<1,>", "a::",   "::a", "f\n",   "f\"",    "f/*",   "f//", "f#",  "f<1+1>", "f<sizeof(int)>",
                          "f,g",   "f<-a>", "f\\", "f<1>)", "f<{1}>", "f<'a'>"}) {
    INFO(bad);
    CHECK(!CheckKernelName(bad).ok());
  }
  CHECK(!CheckKernelName(std::string(600, 'a')).ok());
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "a<";
  CHECK(!CheckKernelName(deep + "1" + std::string(100, '>')).ok());
}

TEST_CASE("logs are cleaned", "[unit]") {
  std::string log = CleanLog("/opt/x/include/a.h(1): error: \x1b[31m b\xff\xc3\xa9\n/opt/x/y",
                             {{"/opt/x", "X"}, {"/opt/x/include", "cuda"}});
  CHECK(log == "cuda/a.h(1): error: [31m b?\xc3\xa9\nX/y");
  std::string large = CleanLog(std::string(5 << 20, 'a'), {});
  CHECK(large.size() <= kMaxLogBytes);
  CHECK(Holds(large, "left out"));
  std::string wide;
  for (int i = 0; i < 20000; ++i) wide += "\xe2\x82\xac";
  std::string cut = CleanLog(wide, {});
  CHECK(cut.size() <= kMaxLogBytes);
  CHECK(!Holds(cut, "?"));
  auto error = ParseErrorLine("candidate.cu(12): error: no");
  REQUIRE(error);
  CHECK(error->file == "candidate.cu");
  CHECK(error->line == 12);
  error = ParseErrorLine("candidate.cu:7:3: error: no");
  REQUIRE(error);
  CHECK(error->line == 7);
  CHECK(error->text == "no");
  CHECK(!ParseErrorLine("candidate.cu:7:3: warning: no"));
  CHECK(FirstErrors("a: warning: x\ncandidate.cu(1): error: one\n  line\n\ncandidate.cu(2): error: two\n") ==
        "candidate.cu(1): error: one\n  line\ncandidate.cu(2): error: two");
}

constexpr char kPtxHead[] =
    ".version 9.0\n.target sm_89\n.address_size 64\n.global .align 4 .b8 v[16];\n.global .u32 w = 3;\n";

std::vector<std::string> Writes(const std::string& body) {
  return ReadPtx(std::string(kPtxHead) + ".visible .entry f(.param .u64 f_param_0)\n{\n.reg .b64 %rd<9>;\n" + body +
                 "\nret;\n}\n")
      .writable_variables;
}

TEST_CASE("PTX: loads are not writes, everything else is", "[unit]") {
  using Names = std::vector<std::string>;
  CHECK(Writes("").empty());
  CHECK(Writes("ld.global.u32 %r1, [v+4];\nld.global.nc.u32 %r2, [w];").empty());
  CHECK(Writes("mov.u64 %rd1, v;\nadd.s64 %rd2, %rd1, 4;\nld.global.f32 %f1, [%rd2];\nsetp.ne.s64 %p1, %rd2, "
               "%rd3;\n@%p1 bra $L;\n$L:")
            .empty());
  CHECK(Writes("st.global.u32 [v], %r1;") == Names{"v"});
  CHECK(Writes("@%p1 st.global.u32 [w+0], %r1;") == Names{"w"});
  CHECK(Writes("mov.u64 %rd1, v;\nL1: add.s64 %rd2, %rd1, 4;\nst.global.f32 [%rd2], %f1;") == Names{"v"});
  CHECK(Writes("atom.global.add.u32 %r1, [w], 1;") == Names{"w"});
  CHECK(Writes("red.global.add.u32 [w], 1;") == Names{"w"});
  CHECK(Writes("mov.u64 %rd1, v; st.global.u64 [%rd5], %rd1;") == Names{"v"});
  // Order does not hide a write: the register is set further down, in a loop.
  CHECK(Writes("$T: st.global.u32 [%rd2], 1; add.u64 %rd2, %rd1, 0; mov.u64 %rd1, w; bra $T;") == Names{"w"});
  CHECK(Writes("mov.b64 {%r1, %r2}, v; mov.b64 %rd1, {%r1, %r2}; st.u32 [%rd1], 1;") == Names{"v"});
  CHECK(Writes("mov.u64 %rd1, v; some.future.instruction %rd1;") == Names{"v"});
  CHECK(Writes("mov.u64 %rd1, v; { .param .b64 param0; st.param.b64 [param0+0], %rd1; call.uni (retval0), vprintf, "
               "(param0, param1); }")
            .empty());
  CHECK(Writes("mov.u64 %rd1, v; { .param .b64 param0; st.param.b64 [param0+0], %rd1; call.uni other, (param0); }") ==
        Names{"v"});
  // A value left for the caller is not excused by a later printf.
  CHECK(
      Writes(
          "mov.u64 %rd1, v; st.param.b64 [func_retval0+0], %rd1; { call.uni (retval0), vprintf, (param0, param1); }") ==
      Names{"v"});
  CHECK(Writes("cp.async.ca.shared.global [%r1], [v], 16;").empty());
  CHECK(Writes("cp.async.bulk.global.shared::cta.bulk_group [v], [%r1], 16;") == Names{"v"});
  CHECK(Writes("// st.global.u32 [v], 1;\n/* st.global.u32 [w], 1; */").empty());
  CHECK(Writes(".global .u32 local_one; st.global.u32 [local_one], 1;") == Names{"local_one"});
}

TEST_CASE("PTX: addresses in constant memory, and functions that are only declared", "[unit]") {
  // Loads of a table that holds an address are not followed.
  CHECK(ReadPtx(".global .u32 v;\n.const .u64 p = v;").writable_variables.size() == 1);
  CHECK(ReadPtx(".global .u32 v;\n.global .u64 p = generic(v);").writable_variables.size() == 1);
  std::string call =
      ".visible .entry f() { mov.u64 %rd1, v; st.param.b64 [param0+0], %rd1; call.uni __assertfail, (param0); }";
  CHECK(ReadPtx(".extern .func __assertfail (.param .b64 a);\n.const .u32 c = 1;\n.global .u32 v;\n" + call)
            .writable_variables.empty());
  CHECK(ReadPtx(".func __assertfail (.param .b64 a) { ret; }\n.global .u32 v;\n" + call).writable_variables.size() ==
        1);
}

std::vector<std::string> ConstantWrites(const std::string& body) {
  return ReadPtx(
             ".version 9.0\n.target sm_90\n.address_size 64\n"
             ".const .align 4 .b8 k[16] = {1, 0, 0, 0, 2};\n.visible .const .f32 slope = 0f3F800000;\n"
             ".visible .entry f(.param .u64 f_param_0, .param .u64 .ptr .const .align 4 f_param_1)\n"
             "{\n.reg .b64 %rd<9>;\n" +
             body + "\nret;\n}\n")
      .writable_variables;
}

TEST_CASE("PTX: constants are read, and written only through addresses", "[unit]") {
  using Names = std::vector<std::string>;
  CHECK(ConstantWrites("").empty());
  CHECK(ConstantWrites("ld.const.f32 %f1, [slope]; ld.const.u32 %r1, [k+4];").empty());
  // A table with an index, by constant, generic and global addresses.
  CHECK(ConstantWrites("mov.u64 %rd1, k; add.s64 %rd2, %rd1, %rd3; ld.const.u32 %r1, [%rd2];").empty());
  CHECK(ConstantWrites("mov.u64 %rd1, k; cvta.const.u64 %rd2, %rd1; mad.wide.u32 %rd3, %r1, 4, %rd2; "
                       "ld.u32 %r2, [%rd3]; st.global.u32 [%rd5], %r2;")
            .empty());
  // Stores and atomics by a generic address.
  CHECK(ConstantWrites("mov.u64 %rd1, k; cvta.const.u64 %rd2, %rd1; st.u32 [%rd2], 1;") == Names{"k"});
  CHECK(ConstantWrites("mov.u64 %rd1, k; cvta.const.u64 %rd2, %rd1; st.volatile.u32 [%rd2+4], %r1;") == Names{"k"});
  CHECK(ConstantWrites("cvta.const.u64 %rd2, slope; red.add.f32 [%rd2], 0f3F800000;") == Names{"slope"});
  CHECK(ConstantWrites("cvta.const.u64 %rd2, k; atom.add.u32 %r1, [%rd2], 1;") == Names{"k"});
  // By an address that is passed off as one of global memory.
  CHECK(ConstantWrites("mov.u64 %rd1, k; st.global.u32 [%rd1], 1;") == Names{"k"});
  CHECK(ConstantWrites("mov.u64 %rd1, k; cvta.const.u64 %rd2, %rd1; cvta.to.global.u64 %rd3, %rd2; "
                       "st.global.u32 [%rd3], 1;") == Names{"k"});
  CHECK(ConstantWrites("mov.u64 %rd1, generic(k); st.u32 [%rd1], 1;") == Names{"k"});
  // In pieces, in any order, by a copy and through a call.
  CHECK(ConstantWrites("$T: st.u32 [%rd4], 1; cvta.const.u64 %rd3, %rd1; mov.b64 {%r1, %r2}, %rd3; "
                       "mov.b64 %rd4, {%r1, %r2}; mov.u64 %rd1, k; bra $T;") == Names{"k"});
  CHECK(ConstantWrites("mov.u64 %rd1, k; cvta.const.u64 %rd2, %rd1; "
                       "cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r1], 16;") == Names{"k"});
  CHECK(ConstantWrites("mov.u64 %rd1, k; cvta.const.u64 %rd2, %rd1; { .param .b64 param0; "
                       "st.param.b64 [param0+0], %rd2; call.uni write, (param0); }") == Names{"k"});
  CHECK(ConstantWrites("mov.u64 %rd1, k; st.global.u64 [%rd5], %rd1;") == Names{"k"});  // for another launch to find
  // Declared where inline PTX may declare, in the old form too, and found by a table's address.
  CHECK(ConstantWrites(".const .u32 own; mov.u64 %rd1, own; st.global.u32 [%rd1], 1;") == Names{"own"});
  CHECK(ReadPtx(".const[2] .u32 old = 1;\n.visible .entry f() { mov.u64 %rd1, old; st.u32 [%rd1], 1; }")
            .writable_variables == Names{"old"});
  CHECK(ReadPtx(".const .u32 k = 1;\n.const .u64 p = generic(k);").writable_variables == Names{"k"});
}

TEST_CASE("PTX: hostile text ends", "[unit]") {
  std::mt19937 random(7);
  std::string text =
      std::string(kPtxHead) +
      ".visible .entry f(.param .u64 f_param_0, .param .align 8 .b8 q[16])\n{ mov.u64 %rd1, v; st.u32 [%rd1], {1,2}; }";
  for (int i = 0; i < 3000; ++i) {
    std::string broken = text;
    for (int n = 0; n < 6; ++n) broken[random() % broken.size()] = "{}[]();,.\"/*@ \n\\"[random() % 17];
    ReadPtx(broken);
    ReadPtx(broken.substr(0, random() % broken.size()));
  }
  ReadPtx(std::string(100000, '{'));
  ReadPtx("@");
  ReadPtx("@!");
}

void Fuzz(const std::string& file, unsigned seed) {
  std::mt19937 random(seed);
  for (size_t length = 0; length < file.size(); length += 1 + length / 50) {
    (void)ReadCubin(file.substr(0, length));
    (void)ReadHostObject(file.substr(0, length), 1);
  }
  for (int i = 0; i < 4000; ++i) {
    std::string broken = file;
    for (int n = 0; n < 8; ++n) {
      // Half of the blows hit the header and the tables at the end, where offsets and sizes are.
      size_t at = random() % 2 ? random() % 64
                               : (random() % 2 ? broken.size() - 1 - random() % 2000 : random() % broken.size());
      broken[at] = static_cast<char>(random() % 4 == 0 ? 0xff : random());
    }
    (void)ReadCubin(broken);
    (void)ReadHostObject(broken, 1);
  }
}

TEST_CASE("ELF: broken files are errors and never reads outside", "[unit]") {
  CHECK(!ElfFile::Parse("").ok());
  CHECK(!ElfFile::Parse("\x7f"
                        "ELF")
             .ok());
  auto object = WithoutToolkit().Compile(Emulated("__global__ void f(float* x) { x[0] = 1; }", {"f"}));
  REQUIRE(object.ok());
  REQUIRE(object->outcome == v1::OUTCOME_OK);
  REQUIRE(ReadHostObject(object->artifact, 1).ok());
  CHECK(!ReadHostObject(object->artifact, 2).ok());
  Fuzz(object->artifact, 1);
  if (!HaveToolkit("cubin fuzz")) return;
  auto cubin = WithToolkit().Compile(
      ForGpu("__device__ const int t[3] = {1,2,3}; __global__ void f(float* x, int n) { x[0] = t[n]; }", {"f"}));
  REQUIRE(cubin.ok());
  REQUIRE(cubin->outcome == v1::OUTCOME_OK);
  REQUIRE(ReadCubin(cubin->artifact).ok());
  Fuzz(cubin->artifact, 2);
}

TEST_CASE("toolkits are found in a toolkit's and in the wheels' layout", "[unit]") {
  namespace fs = std::filesystem;
  auto folder = TemporaryDirectory::Create("warpsmith-test");
  REQUIRE(folder.ok());
  auto put = [&](const std::string& name) {
    fs::create_directories((folder->path() / name).parent_path());
    REQUIRE(WriteFileAtomically(folder->path() / name, "x").ok());
  };
  CHECK(!ToolkitIn(folder->path() / "none"));
  put("a/lib64/libnvrtc.so.12");
  CHECK(!ToolkitIn(folder->path() / "a"));  // no headers
  put("a/include/cuda_fp16.h");
  put("a/lib64/libnvrtc-builtins.so.12.4");
  auto toolkit = ToolkitIn(folder->path() / "a");
  REQUIRE(toolkit);
  CHECK(toolkit->nvrtc.filename() == "libnvrtc.so.12");
  CHECK(toolkit->builtins.filename() == "libnvrtc-builtins.so.12.4");
  CHECK(toolkit->include_folders.size() == 1);
  put("b/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  put("b/nvidia/cuda_runtime/include/cuda_fp16.h");
  CHECK(ToolkitIn(folder->path() / "b"));
  put("c/nvidia/cu13/lib/libnvrtc.so.13");
  put("c/nvidia/cu13/include/cuda_fp16.h");
  put("c/nvidia/cu13/include/cccl/cuda/std/limits");
  toolkit = ToolkitIn(folder->path() / "c");
  REQUIRE(toolkit);
  CHECK(toolkit->include_folders.size() == 2);
}

TEST_CASE("frames", "[unit]") {
  std::string binary("a\0b\xff", 4);
  auto back = Unframe(Frame(binary));
  REQUIRE(back.ok());
  CHECK(*back == binary);
  CHECK(!Unframe("").ok());
  CHECK(!Unframe(Frame(binary) + "x").ok());
  CHECK(!Unframe(Frame(binary).substr(0, 14)).ok());
}

}  // namespace
}  // namespace warpsmith::compile
