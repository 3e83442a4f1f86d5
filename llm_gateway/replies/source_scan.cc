#include "llm_gateway/replies/source_scan.h"

#include <array>
#include <cctype>
#include <utility>

#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

bool InName(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// One past the literal that starts at `at`; a line end ends a broken one.
size_t LiteralEnd(std::string_view text, size_t at) {
  char quote = text[at];
  for (++at; at < text.size() && text[at] != quote && text[at] != '\n'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

bool ContainsWord(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    bool starts = at == 0 || !InName(text[at - 1]);
    bool ends = at + word.size() >= text.size() || !InName(text[at + word.size()]);
    if (starts && ends) return true;
  }
  return false;
}

}  // namespace

std::string CodeOnly(std::string_view source) {
  std::string out(source);
  auto blank = [&out](size_t from, size_t to) {
    for (size_t i = from; i < to && i < out.size(); ++i) {
      if (out[i] != '\n') out[i] = ' ';
    }
  };
  for (size_t i = 0; i < source.size();) {
    const char c = source[i];
    const char next = i + 1 < source.size() ? source[i + 1] : '\0';
    if (c == '/' && next == '/') {
      size_t end = std::min(source.find('\n', i), source.size());
      blank(i, end);
      i = end;
    } else if (c == '/' && next == '*') {
      size_t end = source.find("*/", i + 2);
      if (end == source.npos) {
        blank(i, source.size());
        break;
      }
      blank(i, end + 2);
      i = end + 2;
    } else if (c == '"' || (c == '\'' && (i == 0 || !InName(source[i - 1])))) {
      size_t end = LiteralEnd(source, i);
      blank(i, end);
      i = end;
    } else {
      ++i;
    }
  }
  return out;
}

Balance CheckBalance(std::string_view code_only, std::string_view source) {
  Balance balance;
  std::string closers;
  size_t last_brace = 0, last_semicolon = 0;
  for (size_t i = 0; i < code_only.size(); ++i) {
    char c = code_only[i];
    if (c == '{' || c == '(' || c == '[') closers += c == '{' ? '}' : c == '(' ? ')' : ']';
    if (c == '}' || c == ')' || c == ']') {
      if (closers.empty() || closers.back() != c) {
        balance.surplus = true;
        break;
      }
      closers.pop_back();
    }
    if (!closers.empty()) continue;
    if (c == '}') last_brace = i + 1;
    if (c == ';' && last_brace > 0 && TrimSpace(code_only.substr(last_brace, i - last_brace)).empty()) {
      last_brace = i + 1;
    }
    if (c == ';') last_semicolon = i + 1;
  }
  balance.last_top_end = last_brace > 0 ? last_brace : last_semicolon;
  // An unclosed comment leaves its opening in the source, after everything that CodeOnly kept.
  size_t open = source.rfind("/*");
  bool open_comment = open != source.npos && source.find("*/", open + 2) == source.npos &&
                      TrimSpace(code_only.substr(std::min(open, code_only.size()))).empty() && code_only[open] == ' ';
  balance.even = !balance.surplus && closers.empty() && !open_comment;
  return balance;
}

std::vector<size_t> FindPlanComments(std::string_view text) {
  std::vector<size_t> found;
  constexpr std::string_view kName = "warpsmith-plan";
  for (size_t at = text.find(kName); at != text.npos; at = text.find(kName, at + 1)) {
    size_t before = at;
    while (before > 0 && std::isspace(static_cast<unsigned char>(text[before - 1])) != 0) --before;
    if (before >= 2 && text.substr(before - 2, 2) == "/*") found.push_back(before - 2);
  }
  return found;
}

size_t PlanCommentEnd(std::string_view text, size_t at) {
  size_t end = text.find("*/", at);
  return end == text.npos ? end : end + 2;
}

bool HasKernel(std::string_view code_only) { return ContainsWord(code_only, "__global__"); }

std::string HostCodeSign(std::string_view source) { return HostCodeSign(source, CodeOnly(source)); }

std::string HostCodeSign(std::string_view source, std::string_view code) {
  if (code.find("<<<") != code.npos) return "it launches kernels with <<< >>>";
  for (const char* word : {"PYBIND11_MODULE", "TORCH_LIBRARY"}) {
    if (ContainsWord(code, word)) return std::string("it uses ") + word;
  }
  if (code.find("cuda") != code.npos) {
    for (const char* word : {"cudaMalloc", "cudaMemcpy", "cudaLaunchKernel"}) {
      if (ContainsWord(code, word)) return std::string("it uses ") + word;
    }
  }
  if (source.find("torch/extension.h") != source.npos ||
      (code.find("::Tensor") != code.npos &&
       (ContainsWord(code, "torch::Tensor") || ContainsWord(code, "at::Tensor")))) {
    return "it is a PyTorch extension";
  }
  if (source.find("load_inline") != source.npos || ContainsWord(source, "ModelNew") ||
      (source.find("import torch") != source.npos && source.find("class ") != source.npos)) {
    return "it is a Python module";
  }
  size_t main = code.find("int main");
  if (main != code.npos && code.find('(', main) != code.npos) return "it has a main()";
  return "";
}

namespace {

std::string UndoOnce(const std::string& text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kEscapes = {{{"&lt;", "<"},
                                                                                      {"&gt;", ">"},
                                                                                      {"&quot;", "\""},
                                                                                      {"&#34;", "\""},
                                                                                      {"&#39;", "'"},
                                                                                      {"&#x27;", "'"},
                                                                                      {"&nbsp;", " "},
                                                                                      {"&amp;", "&"}}};
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    bool replaced = false;
    if (text[i] == '&') {
      for (const auto& [escape, plain] : kEscapes) {
        if (text.compare(i, escape.size(), escape) != 0) continue;
        out += plain;
        i += escape.size();
        replaced = true;
        break;
      }
    }
    if (!replaced) out += text[i++];
  }
  return out;
}

}  // namespace

std::string UndoHtmlEscapes(std::string text) {
  for (int time = 0; time < 2; ++time) {
    if (text.find('<') != text.npos || text.find('&') == text.npos) break;
    text = UndoOnce(text);
  }
  return text;
}

}  // namespace warpsmith::gateway
