// More shapes of replies, as models and the servers between write them: each with the one right outcome.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "common/json.h"
#include "llm_gateway/replies/source_scan.h"
#include "llm_gateway/replies/text.h"
#include "tests/llm_gateway/replies/reply_shapes.h"

namespace warpsmith::gateway {
namespace {

const std::string kHost =
    "#include <cuda_runtime.h>\nint main() {\n  float* x;\n  cudaMalloc(&x, 2048);\n  scale<<<4, 128>>>(x, x, "
    "512);\n}\n";
const std::string kInline =
    "import torch\nfrom torch.utils.cpp_extension import load_inline\n\nsource = '''\n" + kKernel +
    "torch::Tensor run(torch::Tensor x) {\n  auto y = torch::empty_like(x);\n  scale<<<4, 128>>>(x.data_ptr<float>(), "
    "y.data_ptr<float>(), 512);\n  return y;\n}\n'''\nmodule = load_inline(name='m', cuda_sources=source)\n\nclass "
    "ModelNew(torch.nn.Module):\n  def forward(self, x):\n    return module.run(x)\n";

// Every line with something before it.
std::string Indented(const std::string& text, const std::string& before) {
  std::string out;
  for (std::string_view line : SplitLines(text)) out += before + std::string(line) + "\n";
  return out;
}

std::vector<Shape> Wrappings() {
  const std::string joined = kPlan + kKernel;
  return {
      {"a command, a file, a test program", Fenced("nvcc a.cu\n", "bash") + Fenced(kFile) + Fenced(kHost, "cpp")},
      {"a test program first", Fenced(kHost, "cpp") + Fenced(kFile)},
      {"the parent quoted, then the file", "The parent was\n" + Fenced(kOld) + "I change it to\n" + Fenced(kFile)},
      {"a fragment quoted, then the file", "In\n" + Fenced("if (i < n) {\n", "c") + "I add a test.\n" + Fenced(kFile)},
      {"a fragment after the file", Fenced(kFile) + "The key line is\n" + Fenced("output[i] = 2.0f * x[i];\n", "c")},
      {"two languages on the fence", Fenced(kFile, "c++ title=\"a.cu\"")},
      {"a language that is none", Fenced(kFile, "warpsmith")},
      {"a colon and a file name", Fenced(kFile, "cuda:candidate.cu")},
      {"long fences", Fenced(kFile, "cuda", "``````")},
      {"tildes around backticks", "~~~markdown\n" + Fenced(kFile) + "~~~\n", "ok", kFile},
      {"backticks around tildes", "```markdown\n" + Fenced(kFile, "cuda", "~~~") + "```\n", "ok", kFile},
      {"Markdown in a longer fence", Fenced("# Answer\n" + Fenced(kFile), "markdown", "````"), "ok", kFile},
      {"an item of a list, indented with its fence",
       "1. First\n2. The file:\n\n" + Indented(Fenced(kFile), "    ") + "3. Done\n"},
      {"indented by tabs", Indented(Fenced(kFile), "\t")},
      {"quoted", Indented(Fenced(kFile), "> ")},
      {"quoted twice", Indented(Fenced(kFile), ">> ")},
      {"a closing fence behind the last brace", "```cuda\n" + kFile.substr(0, kFile.size() - 1) + "```\nDone."},
      {"an opening fence behind words", "Here you are: ```cuda\n" + kFile + "```\n"},
      {"words behind the closing fence", "```cuda\n" + kFile + "``` and that is all."},
      {"half a closing fence", "```cuda\n" + kFile + "``"},
      {"a fence that was forgotten before the next", "```cuda\n" + kFile + "```python\nprint(1)\n```\n"},
      {"an empty block before", Fenced("") + Fenced(kFile)},
      {"inline code around", "Use ```scale``` and `x`:\n" + Fenced(kFile)},
      {"the language on a line of its own, no fence", "cuda\n" + kFile},
      {"a heading and stars, no fence", "**candidate.cu**\n\n" + kFile + "\n---\n**Why:** it is fast; I hope so.\n"},
      {"an explanation with a bracket too many, no fence", kFile + "\n1) one thread an element; 2) no more.\n"},
      {"an explanation with semicolons, no fence", kFile + "\nFirst it loads; then it stores; then it ends.\n"},
      {"code tags", "<code>\n" + kFile + "</code>\nDone; really.\n"},
      {"code tags around a fence", "<answer>\n" + Fenced(kFile) + "</answer>\n"},
      {"an XML file with CDATA", "<file><![CDATA[" + kFile + "]]></file>"},
      {"tags that were closed, then the limit", "<kernel>\n" + kFile + "</kernel>\nThe end is", "ok", kFile, true},
      {"pre and code with escapes", "<pre><code class=\"cuda\">" + Escaped(kFile) + "</code></pre>"},
      {"escapes with hexadecimal apostrophes", Fenced(Escaped(kPlan) + "// it&#x27;s\n" + Escaped(kKernel)), "ok",
       kPlan + "// it's\n" + kKernel},
      {"escaped twice", Fenced(Escaped(Escaped(kFile)))},
      {"no-break spaces", Fenced(Replaced(kFile, "  ", "\u00A0\u00A0"))},
      {"zero-width spaces and a mark in the middle", Fenced("\uFEFF" + Replaced(kFile, "if", "\u200Bif"))},
      {"CR LF in a fence with LF around", "Text\n```cuda\r\n" + Replaced(kFile, "\n", "\r\n") + "```\r\n"},
      {"CR alone", Replaced(Fenced(kFile), "\n", "\r")},
      {"a mark at the very front", "\xEF\xBB\xBF" + kFile},
      {"JSON", "{\"code\": " + JsonText(kFile) + ", \"notes\": \"fast\"}"},
      {"JSON with CR LF and a mark in its string",
       "{\"code\": \"\\ufeff" + JsonText(Replaced(kFile, "\n", "\r\n")).substr(1) + "}"},
      {"JSON in a list", "[{\"file\": " + JsonText(kFile) + "}]"},
      {"JSON with a fence in its string", "{\"code\": " + JsonText(Fenced(kFile)) + "}"},
      {"JSON with line ends in its string", "{\"code\": \"" + Replaced(kFile, "\"", "\\\"") + "\"}"},
      {"JSON in a fence", Fenced("{\"code\": " + JsonText(kFile) + "}\n", "json")},
      {"JSON after words", "My answer: {\"code\": " + JsonText(kFile) + "}"},
      {"JSON with a comma too many", "{\"code\": " + JsonText(kFile) + ",}"},
      {"JSON with the plan beside the code", "{\"plan\": " + kPlanJson + ", \"code\": " + JsonText(kKernel) + "}", "ok",
       ""},
      {"the plan as JSON in the prose", "The plan is " + kPlanJson + ".\n" + Fenced(kKernel), "ok", ""},
      {"the plan as JSON in the prose after", Fenced(kKernel) + "with " + kPlanJson, "ok", ""},
      {"the plan in a block of its own, the kernels in two",
       Fenced(kPlan) + Fenced("__device__ float half(float x);\n") + Fenced(kKernel), "ok", kPlan + "\n" + kKernel},
      {"two plans, the first without kernels", Fenced(kPlan) + Fenced(kFile)},
      {"two plans in one block, the second without kernels", Fenced(kFile + kPlan)},
      {"the old plan once more after the file", Fenced(kFile) + "Before it was\n" + Fenced(kPlan)},
      {"typographic quotes in the plan",
       Fenced(Replaced(Replaced(kPlan, "\"version\"", "\u201Cversion\u201D"), "\"", "\u201D") + kKernel)},
      {"a plan comment by another name", Fenced("/* launch plan\n" + kPlanJson + "\n*/\n" + kKernel), "ok",
       "/* warpsmith-plan\n" + Json::parse(kPlanJson).dump() + "\n*/\n/* launch plan\n" + kPlanJson + "\n*/\n" +
           kKernel},
      {"a comment that begins tightly", Fenced("/*warpsmith-plan " + kPlanJson + "*/\n" + kKernel), "ok",
       "/*warpsmith-plan " + kPlanJson + "*/\n" + kKernel},
      {"a diff, then the file", Fenced("@@ -1,2 +1,2 @@\n-a\n+b\n", "diff") + Fenced(kFile)},
      {"a very long line", Fenced(kFile + "// " + std::string(700'000, 'x') + "\n"), "ok",
       kFile + "// " + std::string(700'000, 'x') + "\n"},
      {"bytes that are no UTF-8, in a comment", Fenced(kFile + "// \xFF\xC3\n"), "ok",
       kFile + "// \xEF\xBF\xBD\xEF\xBF\xBD\n"},
      {"a NUL in a comment", Fenced(kFile + std::string("// \0\n", 5)), "ok", kFile + "// \xEF\xBF\xBD\n"},
      {"brackets in strings and comments", "```cuda\n" + kFile + "// :-( {\n__constant__ char c = '{';\n", "ok",
       kFile + "// :-( {\n__constant__ char c = '{';\n"},
  };
}

std::vector<Shape> Thoughts() {
  const std::string old = Fenced(kOld), file = Fenced(kFile);
  return {
      {"upper-case tags", "<THINK>" + old + "</THINK>" + file},
      {"tags with attributes", "<think time=\"3 s\">" + old + "</think>" + file},
      {"tags in square brackets", "[THINK]" + old + "[/THINK]\n" + file},
      {"tags in triangles", "\u25C1think\u25B7" + old + "\u25C1/think\u25B7" + file},
      {"seed's tags", "<seed:think>" + old + "</seed:think>" + file},
      {"a scratchpad", "<scratchpad>" + old + "</scratchpad>" + file},
      {"channels", "<|channel|>analysis<|message|>" + old + "<|end|><|start|>assistant<|channel|>final<|message|>" +
                       file + "<|return|>"},
      {"channels without a final one", "<|channel|>analysis<|message|>" + old, "truncated"},
      {"one kind of thinking after the other", "<think>" + old + "</think><reasoning>" + old + "</reasoning>" + file},
      {"tags that are only named", "I need no `<think>` tags.\n" + file},
      {"names that only begin alike", "<thinker> says\n" + file},
      {"thinking that begins again and never ends", file + "<think>wait,\n" + old},
      {"only thinking, never ended", "<think>\n" + file, "truncated"},
      {"only thinking, ended", "<think>\n" + file + "</think>\n", "no_code"},
      {"an empty thought", "<think></think>\n" + file},
  };
}

std::vector<Shape> Refusals() {
  const std::string opened = "```cuda\n";
  return {
      {"nothing", "", "no_code"},
      {"white space", " \n\t\n", "no_code"},
      {"a refusal", "I'm sorry, but I can't help with writing CUDA code.", "no_code"},
      {"a question", "Which GPU do you have? Please tell me its compute capability.", "no_code"},
      {"the comment only spoken of", "A file begins with a /* warpsmith-plan { … } */ comment; I have none.",
       "no_code"},
      {"the comment only spoken of, with JSON in it", "Put it as /* warpsmith-plan {\"version\": 1} */ first.",
       "no_code"},
      {"a plan alone, as JSON", kPlanJson, "no_code"},
      {"a plan alone, in its comment", kPlan, "no_code"},
      {"kernels without a plan", Fenced(kKernel), "no_code"},
      {"a diff without a fence", "--- a.cu\n+++ b.cu\n@@ -1,9 +1,9 @@\n" + Indented(kFile, "+"), "no_code"},
      {"a patch command", "*** Begin Patch\n*** Update File: a.cu\n" + Indented(kFile, "+") + "*** End Patch\n",
       "no_code"},
      {"conflict markers", Fenced("<<<<<<< SEARCH\n" + kOld + "=======\n" + kFile + ">>>>>>> REPLACE\n"), "no_code"},
      {"a PyTorch file with load_inline", Fenced(kInline, "python"), "host_code"},
      {"a PyTorch file without a fence", kInline, "host_code"},
      {"a launch in the file", Fenced(kFile + "void run(float* x) { scale<<<4, 128>>>(x, x, 512); }\n"), "host_code"},
      {"a program without a plan", Fenced(kKernel + kHost, "cpp"), "host_code"},
      {"a plan beside host code, the kernels in a block of their own",
       Fenced(kPlan + "// load_inline(name='m')\n") + Fenced(kKernel), "host_code"},
      {"a module that binds", Fenced(kFile + "PYBIND11_MODULE(a, m) {}\n"), "host_code"},
      {"cut in the plan", opened + kFile.substr(0, 60), "truncated", "", true},
      {"cut in the plan, and nobody said so", opened + kFile.substr(0, 60), "truncated"},
      {"cut behind the plan", opened + kPlan, "truncated", "", true},
      {"cut in the code", opened + kFile.substr(0, kFile.size() - 30), "truncated", "", true},
      {"cut in the code, and nobody said so", opened + kFile.substr(0, kFile.size() - 30), "truncated"},
      {"cut in the code, no fence", kFile.substr(0, kFile.size() - 30), "truncated"},
      {"cut before the closing fence", opened + kFile, "truncated", "", true},
      {"cut in the closing fence", opened + kFile + "``", "truncated", "", true},
      {"cut in a JSON string", "{\"code\": " + JsonText(kFile).substr(0, 300), "truncated"},
      {"cut in a JSON string where brackets are even",
       "{\"code\": " + JsonText(kFile).substr(0, JsonText(kFile).size() - 1), "truncated"},
      {"cut in a tag's file", "<code>\n" + kFile.substr(0, kFile.size() - 30), "truncated", "", true},
      {"cut in a second file, the first without its plan", Fenced(kKernel) + opened + kFile.substr(0, 100), "truncated",
       "", true},
      {"a kernel cut within a comment", opened + kFile + "/* and then", "truncated"},
  };
}

TEST_CASE("files in whatever they are wrapped", "[unit]") {
  CHECK(Wrappings().size() >= 50);
  CheckShapes(Wrappings());
}

TEST_CASE("files beside thinking of every kind", "[unit]") { CheckShapes(Thoughts()); }

TEST_CASE("replies without a file, or with half a one", "[unit]") { CheckShapes(Refusals()); }

TEST_CASE("however a reply is wrapped, cut by its limit it is never taken before it is whole", "[unit]") {
  for (const Shape& shape : Wrappings()) {
    if (shape.reply.size() > 4000 || shape.cut) continue;
    INFO(shape.name);
    for (size_t length = 0; length < shape.reply.size(); length += 7) {
      CodeReply code = ReadCode(shape.reply.substr(0, length), true);
      INFO(length << ": " << code.source);
      if (code.status == "ok") {
        // Then a whole file stood in what was left.
        bool whole = code.source.find("2.0f * x[i];\n}\n") != code.source.npos;
        REQUIRE(whole);
      }
    }
  }
}

TEST_CASE("long hostile replies are read in little time", "[unit]") {
  auto many = [](const std::string& text, size_t bytes) {
    std::string out;
    while (out.size() < bytes) out += text;
    return out;
  };
  for (const char* text :
       {"<think ", "[think ", "</a", "> > > > ", "```\n", "~~~a\n", "/* warpsmith-plan\\n", "{\"steps\":", "<<<<<<< \n",
        "&amp;", "\u201C", "<|channel|>final<|message|>", "/* warpsmith-plan {\"steps\":[]}*/ ",
        "__global__ {\"steps\": [", "\"code\": \"/* warpsmith-plan\\n"}) {
    INFO(text);
    CHECK(ReadCode(many(text, 1 << 20), false).source.size() < (2u << 20));
    CHECK(ReadCode("__global__\n```cuda\n" + many(text, 1 << 20), true).status != "ok");
  }
}

}  // namespace
}  // namespace warpsmith::gateway
