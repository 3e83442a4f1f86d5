#include "llm_gateway/replies/code.h"

#include <catch2/catch.hpp>

#include "llm_gateway/replies/code_pieces.h"
#include "llm_gateway/replies/fenced_blocks.h"
#include "llm_gateway/replies/source_scan.h"
#include "llm_gateway/replies/text.h"
#include "tests/llm_gateway/replies/reply_shapes.h"

namespace warpsmith::gateway {
namespace {

using Catch::Matchers::Contains;

const std::string kPython =
    "import torch\nimport torch.nn as nn\nclass ModelNew(nn.Module):\n  def forward(self, x):\n    return x\n";
const std::string kExtension =
    "#include <torch/extension.h>\n__global__ void f(float* x) {}\ntorch::Tensor run(torch::Tensor x) { f<<<1, "
    "32>>>(x.data_ptr<float>()); return x; }\n";

std::string Html(const std::string& text) { return Replaced(Escaped(text), "\"", "&quot;"); }

std::vector<Shape> Shapes() {
  const std::string half = kFile.substr(0, kFile.size() - 20);
  return {
      {"one block", Fenced(kFile)},
      {"text around", "Here it is:\n\n" + Fenced(kFile) + "\nI used one warp. Note `f`."},
      {"no language tag", Fenced(kFile, "")},
      {"wrong language tag", Fenced(kFile, "python")},
      {"upper-case tag with attributes", Fenced(kFile, "CUDA {.numberLines}")},
      {"tildes", "~~~cpp\n" + kFile + "~~~\n"},
      {"four backticks", "````cuda\n" + kFile + "````\n"},
      {"indented block", "1. The file:\n\n   ```cuda\n" + kFile + "   ```\n"},
      {"CR LF", Replaced("Text\n" + Fenced(kFile) + "End", "\n", "\r\n")},
      {"byte order mark", "\xEF\xBB\xBF" + Fenced(kFile)},
      {"no fence at all", kFile},
      {"no fence, text around", "Sure, the file:\n\n" + kFile + "\nThis kernel copies one element."},
      {"closing fence only", kFile + "```\nThat is all."},
      {"missing closing fence", "```cuda\n" + kFile},
      {"thinking before", "<think>Maybe\n" + Fenced(kOld) + "</think>\n" + Fenced(kFile)},
      {"thinking without its opening tag", "Maybe " + Fenced(kOld) + "</think>\n" + Fenced(kFile)},
      {"thinking after", Fenced(kFile) + "<think>" + Fenced(kOld) + "</think>"},
      {"nested thinking", "<think>a<think>b</think>" + Fenced(kOld) + "</think>" + Fenced(kFile)},
      {"only in thinking", "<think>" + Fenced(kFile) + "</think> Done.", "no_code"},
      {"thinking that never ends", "<think>" + Fenced(kFile), "truncated"},
      {"thinking cut by the limit", "<think>hmm", "truncated", "", true},
      {"two files, the last counts", Fenced(kOld) + "Better:\n" + Fenced(kFile)},
      {"two files in one block", Fenced(kOld + "\n" + kFile)},
      {"last file cut, the one before whole", Fenced(kFile) + "Better:\n```cuda\n" + kOld.substr(0, kPlan.size() + 2),
       "ok", kFile, true},
      {"a draft in text, then the file",
       Fenced("load, then add", "text") + Fenced(kFile) + Fenced("nvcc x.cu", "bash")},
      {"plan in a JSON block before", Fenced(kPlanJson + "\n", "json") + Fenced(kKernel)},
      {"plan in a JSON block after", Fenced(kKernel) + "The plan:\n" + Fenced(kPlanJson + "\n", "json")},
      {"plan block without a tag", Fenced(kPlanJson + "\n", "") + Fenced(kKernel, "")},
      {"plan comment in a block of its own", Fenced(kPlan, "c") + Fenced(kKernel), "ok", kPlan + "\n" + kKernel},
      {"a file name before the plan", Fenced("candidate.cu\n" + kFile)},
      {"a remark before the plan", Fenced("// candidate.cu\n" + kFile)},
      {"an include before the plan", Fenced("#include <cuda_fp16.h>\n" + kFile), "ok",
       kPlan + "#include <cuda_fp16.h>\n" + kKernel},
      {"HTML escapes", Fenced(Html(kFile))},
      {"HTML escapes without a fence", Html(kFile)},
      {"nested fences", "```markdown\nThe answer:\n```cuda\n" + kFile + "```\n```\n"},
      {"a quoted block", Fenced(kFile) + "> ```\n> not code\n> ```\n"},
      {"code in a JSON string", "{\"code\": " + JsonText(kFile) + "}"},
      {"code in a JSON block", Fenced("{\"answer\": {\"file\": " + JsonText(kFile) + "}}\n", "json")},
      {"tags instead of a fence", "<file name=\"a.cu\">\n" + kFile + "</file>"},
      {"a plan of copies alone",
       Fenced("/* warpsmith-plan\n{\"version\": 1, \"steps\": [{\"copy\": \"x\", \"to\": \"output\"}]}\n*/\n"), "ok",
       "/* warpsmith-plan\n{\"version\": 1, \"steps\": [{\"copy\": \"x\", \"to\": \"output\"}]}\n*/\n"},
      {"<<< in a comment", Fenced(kFile + "// no f<<<1, 2>>>() here\n"), "ok", kFile + "// no f<<<1, 2>>>() here\n"},
      {"whole block, but the reply ran into its limit afterwards", Fenced(kFile) + "And so I", "ok", kFile, true},

      {"cut by the limit", "```cuda\n" + half, "truncated", "", true},
      {"cut by the limit where brackets are even", "```cuda\n" + kFile, "truncated", "", true},
      {"broken off", "```cuda\n" + half, "truncated"},
      {"broken off in a comment", "```cuda\n" + kFile + "/* and now", "truncated"},
      {"broken off in the plan", "```cuda\n/* warpsmith-plan\n{\"version\"", "truncated"},
      {"cut without a fence", half, "truncated", "", true},
      {"empty", "", "no_code"},
      {"prose", "I would use shared memory here.", "no_code"},
      {"no plan anywhere", Fenced(kKernel), "no_code"},
      {"a plan without kernels", Fenced(kPlan), "no_code"},
      {"a diff", Fenced("--- a.cu\n+++ b.cu\n@@ -1 +1 @@\n-" + kKernel + "+" + kKernel, "diff"), "no_code"},
      {"a diff of a whole file", Fenced("@@ -1,4 +1,4 @@\n " + kFile + "+  added\n"), "no_code"},
      {"a Python module", Fenced(kPython, "python"), "host_code"},
      {"a Python module without a fence", kPython, "host_code"},
      {"a PyTorch extension", Fenced(kExtension, "cpp"), "host_code"},
      {"host launches beside a plan", Fenced(kFile + "void run() { f<<<1, 32>>>(0, 0); }\n"), "host_code"},
      {"main beside a kernel", Fenced(kKernel + "int main() { return 0; }\n"), "host_code"},
      {"a Python module beside a file", Fenced(kPython, "python") + Fenced(kFile)},
      {"a file over a mebibyte", Fenced(kFile + "//" + std::string(1 << 20, 'x') + "\n"), "no_code"},
  };
}

TEST_CASE("every shape of reply", "[unit]") {
  std::vector<Shape> shapes = Shapes();
  CHECK(shapes.size() >= 55);
  CheckShapes(shapes);
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
        std::string("\xFF\xFE```cuda\n\x80\n```"), Replaced(std::string(1000, '<'), "<", "<think>")}) {
    CHECK(ReadCode(reply, false).status != "ok");
  }
}

TEST_CASE("text from outside becomes valid and bounded", "[unit]") {
  CHECK(ValidText("a\xC3\xA9\xF0\x9F\x98\x80") == "a\xC3\xA9\xF0\x9F\x98\x80");
  CHECK(ValidText(std::string("a\0b", 3)) ==
        "a\xEF\xBF\xBD"
        "b");
  CHECK(ValidText("\xC0\xAF\xED\xA0\x80\xF5\xFF") == Replaced("xxxxxxx", "x", "\xEF\xBF\xBD"));
  // Wherever among plain characters something else stands.
  for (size_t at = 0; at < 40; ++at) {
    const std::string before(at, 'a'), after(40 - at, '\x01');
    CHECK(PlainPrefix(before + after) == 40);
    for (const std::string& other : {std::string(1, '\0'), std::string("\x80"), std::string("\xFF")}) {
      CHECK(PlainPrefix(before + other + after) == at);
      CHECK(ValidText(before + other + after) == before + "\xEF\xBF\xBD" + after);
    }
    CHECK(ValidText(before + "\xC3\xA9" + after) == before + "\xC3\xA9" + after);
    CHECK(CleanText(before + "\r\n" + after) == before + "\n" + after);
  }
  CHECK(ValidText("\xE2\x82") == "\xEF\xBF\xBD\xEF\xBF\xBD");
  std::string cut = Bounded(std::string(99, 'a') + "\xC3\xA9" + std::string(100, 'b'), 140);
  CHECK(ValidText(cut) == cut);
  CHECK(cut.size() <= 140);
  CHECK_THAT(cut, Contains("bytes cut"));
  CHECK(OneLine(" a\r\n\t b\x01 c ", 100) == "a b c");
}

}  // namespace
}  // namespace warpsmith::gateway
