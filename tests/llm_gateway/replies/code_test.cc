#include "llm_gateway/replies/code.h"

#include <catch2/catch.hpp>

#include "llm_gateway/replies/fenced_blocks.h"
#include "llm_gateway/replies/source_scan.h"
#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

using Catch::Matchers::Contains;

const std::string kPlan =
    R"({"version": 1, "steps": [{"kernel": "f", "grid": [1], "block": [32], "args": ["x", "output"]}]})";
const std::string kKernel =
    "extern \"C\" __global__ void f(const float* x, float* output) {\n  if (x[0] < 1.0f && x[1] > 2.0f) output[0] = "
    "x[0];\n}\n";
const std::string kFile = "/* warpsmith-plan\n" + kPlan + "\n*/\n" + kKernel;
const std::string kOther = "/* warpsmith-plan\n" + kPlan + "\n*/\n// the other file\n" + kKernel;
const std::string kPython =
    "import torch\nimport torch.nn as nn\nclass ModelNew(nn.Module):\n  def forward(self, x):\n    return x\n";
const std::string kExtension =
    "#include <torch/extension.h>\n__global__ void f(float* x) {}\ntorch::Tensor run(torch::Tensor x) { f<<<1, "
    "32>>>(x.data_ptr<float>()); return x; }\n";

std::string Fence(const std::string& language, const std::string& text) {
  return "```" + language + "\n" + text + "```\n";
}

std::string Replace(std::string text, const std::string& what, const std::string& with) {
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

std::string Html(std::string text) {
  return Replace(Replace(Replace(Replace(std::move(text), "&", "&amp;"), "<", "&lt;"), ">", "&gt;"), "\"", "&quot;");
}

std::string JsonString(const std::string& text) {
  return Replace(Replace(Replace(text, "\\", "\\\\"), "\"", "\\\""), "\n", "\\n");
}

struct Shape {
  const char* name;
  std::string reply;
  bool cut = false;
  std::string status = "ok";
  std::string source = kFile;  // exactly, where status is ok
};

std::vector<Shape> Shapes() {
  const std::string half = kFile.substr(0, kFile.size() - 20);
  return {
      {"one block", Fence("cuda", kFile)},
      {"text around", "Here it is:\n\n" + Fence("cuda", kFile) + "\nI used one warp. Note `f`."},
      {"no language tag", Fence("", kFile)},
      {"wrong language tag", Fence("python", kFile)},
      {"upper-case tag with attributes", Fence("CUDA {.numberLines}", kFile)},
      {"tildes", "~~~cpp\n" + kFile + "~~~\n"},
      {"four backticks", "````cuda\n" + kFile + "````\n"},
      {"indented block", "1. The file:\n\n   ```cuda\n" + kFile + "   ```\n"},
      {"CR LF", Replace("Text\n" + Fence("cuda", kFile) + "End", "\n", "\r\n")},
      {"byte order mark", "\xEF\xBB\xBF" + Fence("cuda", kFile)},
      {"no fence at all", kFile},
      {"no fence, text around", "Sure, the file:\n\n" + kFile + "\nThis kernel copies one element."},
      {"closing fence only", kFile + "```\nThat is all."},
      {"missing closing fence", "```cuda\n" + kFile},
      {"thinking before", "<think>Maybe\n" + Fence("cuda", kOther) + "</think>\n" + Fence("cuda", kFile)},
      {"thinking without its opening tag", "Maybe " + Fence("cuda", kOther) + "</think>\n" + Fence("cuda", kFile)},
      {"thinking after", Fence("cuda", kFile) + "<think>" + Fence("cuda", kOther) + "</think>"},
      {"nested thinking", "<think>a<think>b</think>" + Fence("cuda", kOther) + "</think>" + Fence("cuda", kFile)},
      {"only in thinking", "<think>" + Fence("cuda", kFile) + "</think> Done.", false, "no_code"},
      {"thinking that never ends", "<think>" + Fence("cuda", kFile), false, "truncated"},
      {"thinking cut by the limit", "<think>hmm", true, "truncated"},
      {"two files, the last counts", Fence("cuda", kOther) + "Better:\n" + Fence("cuda", kFile)},
      {"two files in one block", Fence("cuda", kOther + "\n" + kFile)},
      {"last file cut, the one before whole", Fence("cuda", kFile) + "Better:\n```cuda\n" + kOther.substr(0, 120),
       true},
      {"a draft in text, then the file",
       Fence("text", "load, then add") + Fence("cuda", kFile) + Fence("bash", "nvcc x.cu")},
      {"plan in a JSON block before", Fence("json", kPlan + "\n") + Fence("cuda", kKernel)},
      {"plan in a JSON block after", Fence("cuda", kKernel) + "The plan:\n" + Fence("json", kPlan + "\n")},
      {"plan block without a tag", Fence("", kPlan + "\n") + Fence("", kKernel)},
      {"plan comment in a block of its own",
       Fence("c", "/* warpsmith-plan\n" + kPlan + "\n*/\n") + Fence("cuda", kKernel), false, "ok",
       "/* warpsmith-plan\n" + kPlan + "\n*/\n\n" + kKernel},
      {"a file name before the plan", Fence("cuda", "candidate.cu\n" + kFile)},
      {"a remark before the plan", Fence("cuda", "// candidate.cu\n" + kFile)},
      {"an include before the plan", Fence("cuda", "#include <cuda_fp16.h>\n" + kFile), false, "ok",
       "/* warpsmith-plan\n" + kPlan + "\n*/\n#include <cuda_fp16.h>\n" + kKernel},
      {"HTML escapes", Fence("cuda", Html(kFile))},
      {"HTML escapes without a fence", Html(kFile)},
      {"nested fences", "```markdown\nThe answer:\n```cuda\n" + kFile + "```\n```\n"},
      {"a quoted block", Fence("cuda", kFile) + "> ```\n> not code\n> ```\n"},
      {"code in a JSON string", "{\"code\": \"" + JsonString(kFile) + "\"}"},
      {"code in a JSON block", Fence("json", "{\"answer\": {\"file\": \"" + JsonString(kFile) + "\"}}\n")},
      {"tags instead of a fence", "<file name=\"a.cu\">\n" + kFile + "</file>"},
      {"a plan of copies alone",
       Fence("cuda", "/* warpsmith-plan\n{\"version\": 1, \"steps\": [{\"copy\": \"x\", \"to\": \"output\"}]}\n*/\n"),
       false, "ok", "/* warpsmith-plan\n{\"version\": 1, \"steps\": [{\"copy\": \"x\", \"to\": \"output\"}]}\n*/\n"},
      {"<<< in a comment", Fence("cuda", kFile + "// no f<<<1, 2>>>() here\n"), false, "ok",
       kFile + "// no f<<<1, 2>>>() here\n"},
      {"whole block, but the reply ran into its limit afterwards", Fence("cuda", kFile) + "And so I", true},

      {"cut by the limit", "```cuda\n" + half, true, "truncated"},
      {"cut by the limit where brackets are even", "```cuda\n" + kFile, true, "truncated"},
      {"broken off", "```cuda\n" + half, false, "truncated"},
      {"broken off in a comment", "```cuda\n" + kFile + "/* and now", false, "truncated"},
      {"broken off in the plan", "```cuda\n/* warpsmith-plan\n{\"version\"", false, "truncated"},
      {"cut without a fence", half, true, "truncated"},
      {"empty", "", false, "no_code"},
      {"prose", "I would use shared memory here.", false, "no_code"},
      {"no plan anywhere", Fence("cuda", kKernel), false, "no_code"},
      {"a plan without kernels", Fence("cuda", "/* warpsmith-plan\n" + kPlan + "\n*/\n"), false, "no_code"},
      {"a diff", Fence("diff", "--- a.cu\n+++ b.cu\n@@ -1 +1 @@\n-" + kKernel + "+" + kKernel), false, "no_code"},
      {"a diff of a whole file", Fence("cuda", "@@ -1,4 +1,4 @@\n " + kFile + "+  added\n"), false, "no_code"},
      {"a Python module", Fence("python", kPython), false, "host_code"},
      {"a Python module without a fence", kPython, false, "host_code"},
      {"a PyTorch extension", Fence("cpp", kExtension), false, "host_code"},
      {"host launches beside a plan", Fence("cuda", kFile + "void run() { f<<<1, 32>>>(0, 0); }\n"), false,
       "host_code"},
      {"main beside a kernel", Fence("cuda", kKernel + "int main() { return 0; }\n"), false, "host_code"},
      {"a Python module beside a file", Fence("python", kPython) + Fence("cuda", kFile)},
      {"a file over a mebibyte", Fence("cuda", kFile + "//" + std::string(1 << 20, 'x') + "\n"), false, "no_code"},
  };
}

TEST_CASE("every shape of reply", "[unit]") {
  std::vector<Shape> shapes = Shapes();
  CHECK(shapes.size() >= 55);
  for (const Shape& shape : shapes) {
    INFO(shape.name);
    CodeReply code = ReadCode(shape.reply, shape.cut);
    CHECK(code.status == shape.status);
    if (shape.status == "ok") {
      CHECK(code.source == shape.source);
      CHECK(code.message.empty());
    } else {
      CHECK(code.source.empty());
      CHECK_FALSE(code.message.empty());
    }
  }
}

TEST_CASE("a reply cut anywhere by its limit is never taken for whole", "[unit]") {
  const std::string reply = "Here:\n```cuda\n" + kFile + "```\n";
  for (size_t length = 0; length < reply.size() - 4; ++length) {
    CodeReply code = ReadCode(reply.substr(0, length), true);
    INFO(length);
    REQUIRE(code.status == "truncated");
  }
  CHECK(ReadCode(reply, true).status == "ok");
}

TEST_CASE("hostile replies cost little and never crash", "[unit]") {
  std::string brackets(1 << 20, '{'), fences, comments, quotes(200000, '"'), thinks;
  for (int i = 0; i < 50000; ++i) {
    fences += "```\n";
    comments += "/* warpsmith-plan ";
    thinks += "<think></think>";
  }
  for (const std::string& reply :
       {brackets, fences, comments, quotes, thinks, "```json\n" + brackets + "\n```", std::string(1000, '\0'),
        std::string("\xFF\xFE```cuda\n\x80\n```"), Replace(std::string(1000, '<'), "<", "<think>")}) {
    CHECK(ReadCode(reply, false).status != "ok");
  }
}

TEST_CASE("text from outside becomes valid and bounded", "[unit]") {
  CHECK(ValidText("a\xC3\xA9\xF0\x9F\x98\x80") == "a\xC3\xA9\xF0\x9F\x98\x80");
  CHECK(ValidText(std::string("a\0b", 3)) ==
        "a\xEF\xBF\xBD"
        "b");
  CHECK(ValidText("\xC0\xAF\xED\xA0\x80\xF5\xFF") == Replace("xxxxxxx", "x", "\xEF\xBF\xBD"));
  CHECK(ValidText("\xE2\x82") == "\xEF\xBF\xBD\xEF\xBF\xBD");
  std::string cut = Bounded(std::string(99, 'a') + "\xC3\xA9" + std::string(100, 'b'), 140);
  CHECK(ValidText(cut) == cut);
  CHECK(cut.size() <= 140);
  CHECK_THAT(cut, Contains("bytes cut"));
  CHECK(OneLine(" a\r\n\t b\x01 c ", 100) == "a b c");
}

}  // namespace
}  // namespace warpsmith::gateway
