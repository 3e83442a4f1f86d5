#include "llm_gateway/replies/code_pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "llm_gateway/replies/fenced_blocks.h"
#include "llm_gateway/replies/lenient_json.h"
#include "llm_gateway/replies/source_scan.h"
#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

using Pieces = std::vector<CodePiece>;

// Whether the text is a plan without its comment.
bool IsPlanJson(std::string_view text) {
  std::string_view trimmed = TrimSpace(text);
  if (trimmed.empty() || trimmed.front() != '{' || trimmed.back() != '}') return false;
  std::optional<Json> value = ParseLenientJson(trimmed);
  return value && value->is_object() && value->contains("steps") && !value->at("steps").empty();
}

CodePiece Describe(std::string text, bool closed) {
  CodePiece piece;
  piece.text = UndoHtmlEscapes(std::move(text));
  piece.closed = closed;
  piece.has_plan = !FindPlanComments(piece.text).empty();
  const std::string code = CodeOnly(piece.text);
  piece.has_kernel = HasKernel(code);
  piece.is_plan_json = !piece.has_plan && !piece.has_kernel && IsPlanJson(piece.text);
  piece.host_sign = HostCodeSign(piece.text, code);
  return piece;
}

// The file that begins at its plan comment. What stands before it is moved behind it where it is code, and dropped
// where it is only a file name or a remark.
std::string PlanFirst(const std::string& text, size_t plan) {
  std::string before(TrimSpace(text.substr(0, plan)));
  std::string code = CodeOnly(before);
  bool is_code = code.find_first_of("#;{") != code.npos;
  if (!is_code) return text.substr(plan);
  size_t end = text.find("*/", plan);
  if (end == text.npos) return text.substr(plan);
  return text.substr(plan, end + 2 - plan) + "\n" + before + text.substr(end + 2);
}

// A block that holds several files, one after the other, is as many pieces.
void AddPieces(const std::string& text, bool closed, Pieces& pieces) {
  std::string plain = UndoHtmlEscapes(text);
  std::vector<size_t> plans = FindPlanComments(plain);
  if (plans.empty()) {
    pieces.push_back(Describe(std::move(plain), closed));
    return;
  }
  for (size_t i = 0; i < plans.size(); ++i) {
    bool last = i + 1 == plans.size();
    std::string file = i == 0 ? PlanFirst(plain.substr(0, last ? plain.npos : plans[1]), plans[0])
                              : plain.substr(plans[i], last ? plain.npos : plans[i + 1] - plans[i]);
    pieces.push_back(Describe(std::move(file), closed || !last));
  }
}

// The rest of a JSON string that begins in the middle; nullopt where its closing quote is missing.
std::optional<std::string> RestOfString(std::string_view text) {
  size_t end = 0;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  if (end >= text.size()) return std::nullopt;
  std::optional<Json> value = ParseLenientJson(fmt::format("\"{}\"", text.substr(0, end)));
  if (!value || !value->is_string()) return std::nullopt;
  return CleanText(value->get_ref<const std::string&>());
}

// Where "</name>" stands, which no code has outside a string.
size_t FindClosingTag(std::string_view text) {
  for (size_t at = text.find("</"); at != text.npos; at = text.find("</", at + 2)) {
    size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-:", at + 2);
    if (end != text.npos && end > at + 2 && text[end] == '>') return at;
  }
  return text.npos;
}

// A file outside any fence: from its plan comment to the tag that closes it, or to the last thing that ends code,
// whatever prose follows.
void AddUnfenced(const std::string& text, Pieces& pieces) {
  std::string plain = UndoHtmlEscapes(text);
  std::vector<size_t> plans = FindPlanComments(plain);
  for (size_t i = 0; i < plans.size(); ++i) {
    std::string file = plain.substr(plans[i], i + 1 < plans.size() ? plans[i + 1] - plans[i] : plain.npos);
    bool closed = false;
    if (file.find("\\n") < file.find('\n')) {  // within a JSON string that could not be read as JSON
      std::optional<std::string> rest = RestOfString(file);
      pieces.push_back(Describe(rest.value_or(file), rest.has_value()));
      pieces.back().cut = !rest.has_value();
      continue;
    }
    size_t stray = file.find("\n```");  // the closing fence of a block whose opening is missing
    if (stray != file.npos) file.resize(stray + 1);
    if (size_t tag = FindClosingTag(file); tag != file.npos) {
      file.resize(tag);
      size_t data_end = file.find("]]>");
      if (data_end != file.npos) file.resize(data_end);
      closed = true;
    }
    file = UndoHtmlEscapes(std::move(file));
    const std::string code = CodeOnly(file);
    Balance balance = CheckBalance(code, file);
    if (balance.even || balance.surplus) {  // otherwise it breaks off
      size_t end = HasKernel(code) ? balance.last_top_end : PlanCommentEnd(file, 0);
      if (end > 0) file.resize(std::min(end, file.size()));
    }
    CodePiece piece = Describe(std::move(file), closed);
    bool spoken_of = !piece.has_kernel && PlanCommentEnd(piece.text, 0) != text.npos && !HoldsPlan(piece.text);
    if (!spoken_of) pieces.push_back(std::move(piece));
  }
}

// {"code": "/* warpsmith-plan …"}: the file as a string somewhere in a JSON value, perhaps with its plan beside it.
void AddFromJson(const Json& value, Pieces& pieces, int depth = 0) {
  if (depth > 8) return;
  if (value.is_string()) {
    const std::string text = CleanText(value.get_ref<const std::string&>());
    std::vector<FencedBlock> blocks = FindFencedBlocks(text);
    if (blocks.empty()) blocks.push_back({"", text, true});
    for (const FencedBlock& block : blocks) {
      bool file = !FindPlanComments(block.content).empty() || HasKernel(CodeOnly(block.content));
      if (file) AddPieces(block.content, true, pieces);
    }
  } else if (value.is_object() && value.contains("steps")) {
    pieces.push_back(Describe(value.dump(-1, ' ', false, Json::error_handler_t::replace), true));
  } else if (value.is_structured()) {
    for (const Json& item : value) AddFromJson(item, pieces, depth + 1);
  }
}

// Changes to a file instead of a file: unified, as conflict markers, or as a patch command.
bool LooksLikeDiff(std::string_view text) {
  bool changed = false, hunk = false, from = false, to = false, ours = false, theirs = false, patch = false;
  for (std::string_view line : SplitLines(text)) {
    if (line.empty() || std::string_view("@-+<>*").find(line[0]) == std::string_view::npos) continue;
    auto begins = [line](std::string_view with) { return line.rfind(with, 0) == 0; };
    hunk |= begins("@@");
    from |= begins("--- ");
    to |= begins("+++ ");
    ours |= begins("<<<<<<<");
    theirs |= begins(">>>>>>>");
    patch |= begins("*** Begin Patch");
    changed |= line[0] == '+' || line[0] == '-';
  }
  return (ours && theirs) || (changed && (hunk || patch || (from && to)));
}

// A plan that stands in the text as JSON, where the kernels have a block of their own.
void AddPlanFromProse(const std::string& text, Pieces& pieces) {
  for (const Json& value : FindJsonValues(text)) {
    if (value.is_object() && value.contains("steps"))
      pieces.push_back(Describe(value.dump(-1, ' ', false, Json::error_handler_t::replace), true));
  }
}

// Blocks, those within a block of Markdown instead of it.
std::vector<FencedBlock> InnermostBlocks(std::string_view text, int depth = 0) {
  std::vector<FencedBlock> blocks;
  for (FencedBlock& block : FindFencedBlocks(text)) {
    std::vector<FencedBlock> inner;
    if (depth < 3) inner = InnermostBlocks(block.content, depth + 1);
    if (inner.empty()) inner.push_back(std::move(block));
    std::move(inner.begin(), inner.end(), std::back_inserter(blocks));
  }
  return blocks;
}

}  // namespace

std::string CleanText(std::string_view text) {
  if (PlainPrefix(text) == text.size() && text.find('\r') == text.npos) return std::string(text);
  std::string out;
  std::string valid = ValidText(text);
  out.reserve(valid.size());
  for (size_t i = 0; i < valid.size(); ++i) {
    const auto c = static_cast<unsigned char>(valid[i]);
    if (c < 0x80 && c != '\r') {
      out += valid[i];
    } else if (c == '\r') {
      if (i + 1 >= valid.size() || valid[i + 1] != '\n') out += '\n';
    } else if (valid.compare(i, 2, "\u00A0") == 0) {
      out += ' ';
      i += 1;
    } else if (valid.compare(i, 3, "\uFEFF") == 0 || valid.compare(i, 3, "\u200B") == 0) {
      i += 2;
    } else {
      out += valid[i];
    }
  }
  return out;
}

bool HoldsPlan(std::string_view text) {
  std::string_view comment = text.substr(0, PlanCommentEnd(text, 0));
  size_t start = comment.find('{'), end = comment.rfind('}');
  return start != comment.npos && end != comment.npos && start < end &&
         IsPlanJson(comment.substr(start, end + 1 - start));
}

CodePieces FindCodePieces(const std::string& text) {
  CodePieces found;
  Pieces& pieces = found.pieces;
  for (const FencedBlock& block : InnermostBlocks(text)) {
    if (block.language == "diff" || block.language == "patch" || LooksLikeDiff(block.content)) {
      found.diff = true;
      continue;
    }
    size_t before = pieces.size();
    if (block.closed && TrimSpace(block.content).rfind('{', 0) == 0 && !IsPlanJson(block.content)) {
      if (std::optional<Json> value = ParseLenientJson(TrimSpace(block.content))) AddFromJson(*value, pieces);
    }
    if (pieces.size() == before) AddPieces(block.content, block.closed, pieces);
  }
  found.diff |= pieces.empty() && LooksLikeDiff(text);
  if (pieces.empty() && !found.diff) {
    std::string_view trimmed = TrimSpace(text);
    if (!trimmed.empty() && trimmed.front() == '{') {
      if (std::optional<Json> value = ParseLenientJson(trimmed)) AddFromJson(*value, pieces);
    }
  }
  auto any = [&](auto fits) { return std::any_of(pieces.begin(), pieces.end(), fits); };
  if (!any([](const CodePiece& piece) { return piece.has_plan; }) && !found.diff) AddUnfenced(text, pieces);
  if (any([](const CodePiece& piece) { return piece.has_kernel; }) &&
      !any([](const CodePiece& piece) { return piece.has_plan || piece.is_plan_json; })) {
    AddPlanFromProse(text, pieces);
  }
  return found;
}

}  // namespace warpsmith::gateway
