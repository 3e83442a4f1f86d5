#include "llm_gateway/replies/code.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "llm_gateway/replies/fenced_blocks.h"
#include "llm_gateway/replies/lenient_json.h"
#include "llm_gateway/replies/outside_thinking.h"
#include "llm_gateway/replies/source_scan.h"
#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

constexpr size_t kMaxFileBytes = 1u << 20;  // of a candidate

// A stretch of the reply that may be a file, or a part of one.
struct Piece {
  std::string text;
  bool closed = false;  // its fence was closed, or it needs none
  bool has_plan = false;
  bool has_kernel = false;
  bool is_plan_json = false;
  std::string host_sign;
};

bool IsPlanJson(const std::string& text) {
  std::string_view trimmed = TrimSpace(text);
  if (trimmed.empty() || trimmed.front() != '{' || trimmed.back() != '}') return false;
  std::optional<Json> value = ParseLenientJson(trimmed);
  return value && value->is_object() && value->contains("steps");
}

Piece Describe(std::string text, bool closed) {
  Piece piece;
  piece.text = UndoHtmlEscapes(std::move(text));
  piece.closed = closed;
  piece.has_plan = !FindPlanComments(piece.text).empty();
  piece.has_kernel = HasKernel(CodeOnly(piece.text));
  piece.is_plan_json = !piece.has_plan && !piece.has_kernel && IsPlanJson(piece.text);
  piece.host_sign = HostCodeSign(piece.text);
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
void AddPieces(const std::string& text, bool closed, std::vector<Piece>& pieces) {
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

// A file outside any fence: from its plan comment to the last thing that ends code, whatever prose follows.
void AddUnfenced(const std::string& text, std::vector<Piece>& pieces) {
  std::string plain = UndoHtmlEscapes(text);
  std::vector<size_t> plans = FindPlanComments(plain);
  for (size_t i = 0; i < plans.size(); ++i) {
    std::string file = plain.substr(plans[i], i + 1 < plans.size() ? plans[i + 1] - plans[i] : plain.npos);
    size_t stray = file.find("\n```");  // the closing fence of a block whose opening is missing
    if (stray != file.npos) file.resize(stray + 1);
    Balance balance = CheckBalance(CodeOnly(file), file);
    if (balance.last_top_end > 0 && balance.even) file.resize(balance.last_top_end);
    pieces.push_back(Describe(std::move(file), false));
  }
}

// {"code": "/* warpsmith-plan …"}: the file as a string somewhere in a JSON value.
void AddFromJson(const Json& value, std::vector<Piece>& pieces, int depth = 0) {
  if (depth > 8) return;
  if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    if (!FindPlanComments(text).empty()) AddPieces(text, true, pieces);
  } else if (value.is_structured()) {
    for (const Json& item : value) AddFromJson(item, pieces, depth + 1);
  }
}

bool IsWhole(const Piece& piece, bool cut_by_limit) {
  if (piece.closed) return !piece.has_plan || piece.text.find("*/") != piece.text.npos;
  return !cut_by_limit && CheckBalance(CodeOnly(piece.text), piece.text).even;
}

bool NamesKernels(const Piece& plan) {
  size_t end = plan.text.find("*/");
  return plan.text.substr(0, end).find("\"kernel\"") != plan.text.npos;
}

CodeReply Refused(std::string status, std::string message) { return {std::move(status), "", std::move(message)}; }

CodeReply Accept(const std::string& file) {
  std::string source(TrimSpace(file));
  source += '\n';
  if (source.size() > kMaxFileBytes) return Refused("no_code", fmt::format("the file is over {} bytes", kMaxFileBytes));
  return {"ok", std::move(source), ""};
}

// The last whole file with a plan; a plan and kernels in blocks of their own count as one.
std::optional<CodeReply> FindFile(const std::vector<Piece>& pieces, bool cut_by_limit) {
  auto last = [&](auto fits) {
    auto found = std::find_if(pieces.rbegin(), pieces.rend(),
                              [&](const Piece& piece) { return IsWhole(piece, cut_by_limit) && fits(piece); });
    return found == pieces.rend() ? nullptr : &*found;
  };
  const Piece* whole =
      last([](const Piece& piece) { return piece.has_plan && (piece.has_kernel || !NamesKernels(piece)); });
  if (whole != nullptr) {
    if (!whole->host_sign.empty()) return Refused("host_code", "the file is host code: " + whole->host_sign);
    return Accept(whole->text);
  }
  const Piece* kernels =
      last([](const Piece& piece) { return piece.has_kernel && !piece.has_plan && piece.host_sign.empty(); });
  if (kernels == nullptr) return std::nullopt;
  if (const Piece* plan = last([](const Piece& piece) { return piece.has_plan; }))
    return Accept(plan->text + "\n" + kernels->text);
  auto json = std::find_if(pieces.rbegin(), pieces.rend(),
                           [](const Piece& piece) { return piece.closed && piece.is_plan_json; });
  if (json == pieces.rend()) return std::nullopt;
  return Accept(fmt::format("/* warpsmith-plan\n{}\n*/\n{}", TrimSpace(json->text), kernels->text));
}

bool LooksLikeDiff(std::string_view text) {
  int changed = 0;
  bool header = false;
  for (std::string_view line : SplitLines(text)) {
    header |= line.rfind("@@", 0) == 0 || line.rfind("--- ", 0) == 0 || line.rfind("<<<<<<< ", 0) == 0;
    changed += !line.empty() && (line[0] == '+' || line[0] == '-');
  }
  return header && changed > 0;
}

}  // namespace

CodeReply ReadCode(std::string_view reply, bool cut_by_limit) {
  SpokenText spoken = OutsideThinking(reply);
  std::string& text = spoken.text;
  if (text.rfind("\xEF\xBB\xBF", 0) == 0) text.erase(0, 3);
  text.erase(std::remove(text.begin(), text.end(), '\r'), text.end());

  std::vector<Piece> pieces;
  bool diff = false;
  for (const FencedBlock& block : FindFencedBlocks(text)) {
    if (block.language == "diff" || block.language == "patch" || LooksLikeDiff(block.content)) {
      diff = true;
      continue;
    }
    size_t before = pieces.size();
    if (block.closed && TrimSpace(block.content).rfind('{', 0) == 0) {
      if (std::optional<Json> value = ParseLenientJson(TrimSpace(block.content))) AddFromJson(*value, pieces);
    }
    if (pieces.size() == before) AddPieces(block.content, block.closed, pieces);
  }
  if (pieces.empty() && !diff) {
    std::string_view trimmed = TrimSpace(text);
    if (!trimmed.empty() && trimmed.front() == '{') {
      if (std::optional<Json> value = ParseLenientJson(trimmed)) AddFromJson(*value, pieces);
    }
  }
  bool any_plan = std::any_of(pieces.begin(), pieces.end(), [](const Piece& piece) { return piece.has_plan; });
  if (!any_plan && !diff) AddUnfenced(text, pieces);

  if (std::optional<CodeReply> found = FindFile(pieces, cut_by_limit)) return *std::move(found);

  auto any = [&](auto fits) { return std::any_of(pieces.begin(), pieces.end(), fits); };
  for (const Piece& piece : pieces) {
    if (!piece.host_sign.empty()) return Refused("host_code", "the reply holds host code: " + piece.host_sign);
  }
  if (cut_by_limit) return Refused("truncated", "the reply ended at its token limit before a file was whole");
  if (spoken.thinking_never_ended) return Refused("truncated", "the reply ended while the model was still thinking");
  if (any([](const Piece& piece) { return !piece.closed && (piece.has_plan || piece.has_kernel); })) {
    return Refused("truncated", "the file breaks off before its end");
  }
  if (any([](const Piece& piece) { return piece.has_kernel && !piece.has_plan; })) {
    return Refused("no_code",
                   "the CUDA code has no launch plan: a file begins with a /* warpsmith-plan { … } */ comment");
  }
  if (any([](const Piece& piece) { return piece.has_plan || piece.is_plan_json; })) {
    return Refused("no_code", "the reply holds a launch plan without the kernels that it names");
  }
  if (diff) return Refused("no_code", "the reply is a diff, not a whole file");
  std::string host = HostCodeSign(text);
  if (!host.empty()) return Refused("host_code", "the reply holds host code: " + host);
  return Refused("no_code", text.empty() ? "the reply is empty" : "the reply holds no code");
}

}  // namespace warpsmith::gateway
