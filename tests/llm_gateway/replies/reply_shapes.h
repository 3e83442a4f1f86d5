// Replies of models with the code they hold: one small file, ways to wrap it, and what is read from a reply.
// Threading: pure.
#ifndef WARPSMITH_TESTS_LLM_GATEWAY_REPLIES_REPLY_SHAPES_H_
#define WARPSMITH_TESTS_LLM_GATEWAY_REPLIES_REPLY_SHAPES_H_

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "llm_gateway/replies/code.h"

namespace warpsmith::gateway {

inline const std::string kPlanJson =
    R"({"version": 1, "steps": [{"kernel": "scale", "grid": [4], "block": [128], "args": ["x", "output", {"i32": 512}]}]})";
inline const std::string kPlan = "/* warpsmith-plan\n" + kPlanJson + "\n*/\n";
inline const std::string kKernel =
    "extern \"C\" __global__ void scale(const float* x, float* output, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n && x[i] > 0.0f) output[i] = 2.0f * x[i];\n"
    "}\n";
inline const std::string kFile = kPlan + kKernel;
inline const std::string kOld = kPlan + "// the parent\n" + kKernel;

inline std::string Fenced(const std::string& text, const std::string& info = "cuda", const std::string& marks = "```") {
  return marks + info + "\n" + text + marks + "\n";
}

inline std::string Replaced(std::string text, const std::string& what, const std::string& with) {
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

inline std::string Escaped(const std::string& text) {
  return Replaced(Replaced(Replaced(text, "&", "&amp;"), "<", "&lt;"), ">", "&gt;");
}

inline std::string JsonText(const std::string& text) {
  return "\"" + Replaced(Replaced(Replaced(Replaced(text, "\\", "\\\\"), "\"", "\\\""), "\n", "\\n"), "\r", "\\r") +
         "\"";
}

// A reply and the one right outcome of reading it.
struct Shape {
  const char* name;
  std::string reply;
  std::string status = "ok";
  std::string source = kFile;  // exactly, where status is ok; empty: put together
  bool cut = false;
};

inline void CheckShapes(const std::vector<Shape>& shapes) {
  for (const Shape& shape : shapes) {
    CodeReply code = ReadCode(shape.reply, shape.cut);
    INFO(shape.name << ": " << code.message);
    CHECK(code.status == shape.status);
    if (shape.status != "ok") {
      CHECK(code.source.empty());
      CHECK_FALSE(code.message.empty());
    } else if (!shape.source.empty()) {
      CHECK(code.source == shape.source);
      CHECK(code.message.empty());
    } else {  // put together: the plan may be written otherwise
      CHECK(code.source.rfind("/* warpsmith-plan\n{", 0) == 0);
      CHECK(code.source.find("\"kernel\"") < code.source.find("*/"));
      CHECK(code.source.substr(code.source.find("*/") + 3) == kKernel);
    }
  }
}

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_TESTS_LLM_GATEWAY_REPLIES_REPLY_SHAPES_H_
