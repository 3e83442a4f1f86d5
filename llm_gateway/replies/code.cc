#include "llm_gateway/replies/code.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "llm_gateway/replies/code_pieces.h"
#include "llm_gateway/replies/outside_thinking.h"
#include "llm_gateway/replies/source_scan.h"
#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

constexpr size_t kMaxFileBytes = 1u << 20;  // of a candidate

bool IsWhole(const CodePiece& piece, bool cut_by_limit) {
  if (piece.cut) return false;
  if (piece.closed) return !piece.has_plan || piece.text.find("*/") != piece.text.npos;
  return !cut_by_limit && CheckBalance(CodeOnly(piece.text), piece.text).even;
}

// A plan that needs no kernel: one of copies and memsets.
bool NeedsNoKernel(const CodePiece& plan) {
  std::string_view text(plan.text);
  return text.substr(0, PlanCommentEnd(text, 0)).find("\"kernel\"") == text.npos && HoldsPlan(text);
}

// A word processor's quotes as JSON's, where the plan has no others.
std::string WithPlainQuotes(const std::string& file) {
  const size_t end = std::min(PlanCommentEnd(file, 0), file.size());
  if (std::string_view(file).substr(0, end).find('"') != file.npos) return file;
  std::string out;
  for (size_t i = 0; i < file.size();) {
    const bool quote = i < end && (file.compare(i, 3, "\u201C") == 0 || file.compare(i, 3, "\u201D") == 0 ||
                                   file.compare(i, 3, "\u201E") == 0);
    out += quote ? '"' : file[i];
    i += quote ? 3 : 1;
  }
  return out;
}

CodeReply Refused(std::string status, std::string message) { return {std::move(status), "", std::move(message)}; }

CodeReply Accept(std::string source, const std::string& host_sign) {
  if (source.size() > kMaxFileBytes) return Refused("no_code", fmt::format("the file is over {} bytes", kMaxFileBytes));
  if (!host_sign.empty()) return Refused("host_code", "the file is host code: " + host_sign);
  return {"ok", std::move(source), ""};
}

// Put together out of two blocks it may be what neither was.
CodeReply AcceptTogether(const std::string& file) {
  std::string source = WithPlainQuotes(std::string(TrimSpace(file)));
  source += '\n';
  const std::string host_sign = HostCodeSign(source);
  return Accept(std::move(source), host_sign);
}

CodeReply AcceptWhole(const CodePiece& piece) {
  const std::string_view file = TrimSpace(piece.text);
  std::string source = WithPlainQuotes(std::string(file));
  const bool as_it_was = source == file;
  source += '\n';
  const std::string host_sign = as_it_was ? piece.host_sign : HostCodeSign(source);
  return Accept(std::move(source), host_sign);
}

// The last whole file with a plan; a plan and kernels in blocks of their own count as one.
std::optional<CodeReply> FindFile(const std::vector<CodePiece>& pieces, bool cut_by_limit) {
  auto last = [&](auto fits) {
    auto found = std::find_if(pieces.rbegin(), pieces.rend(),
                              [&](const CodePiece& piece) { return IsWhole(piece, cut_by_limit) && fits(piece); });
    return found == pieces.rend() ? nullptr : &*found;
  };
  const CodePiece* whole =
      last([](const CodePiece& piece) { return piece.has_plan && (piece.has_kernel || NeedsNoKernel(piece)); });
  if (whole != nullptr) return AcceptWhole(*whole);
  const CodePiece* kernels =
      last([](const CodePiece& piece) { return piece.has_kernel && !piece.has_plan && piece.host_sign.empty(); });
  if (kernels == nullptr) return std::nullopt;
  if (const CodePiece* plan = last([](const CodePiece& piece) { return piece.has_plan; }))
    return AcceptTogether(plan->text + "\n" + kernels->text);
  auto json = std::find_if(pieces.rbegin(), pieces.rend(),
                           [](const CodePiece& piece) { return piece.closed && piece.is_plan_json; });
  if (json == pieces.rend()) return std::nullopt;
  return AcceptTogether(fmt::format("/* warpsmith-plan\n{}\n*/\n{}", TrimSpace(json->text), kernels->text));
}

}  // namespace

CodeReply ReadCode(std::string_view reply, bool cut_by_limit) {
  SpokenText spoken = OutsideThinking(reply);
  const std::string text = CleanText(spoken.text);

  const auto [pieces, diff] = FindCodePieces(text);
  auto any = [&pieces = pieces](auto fits) { return std::any_of(pieces.begin(), pieces.end(), fits); };

  if (std::optional<CodeReply> found = FindFile(pieces, cut_by_limit)) return *std::move(found);

  for (const CodePiece& piece : pieces) {
    if (!piece.host_sign.empty()) return Refused("host_code", "the reply holds host code: " + piece.host_sign);
  }
  if (cut_by_limit) return Refused("truncated", "the reply ended at its token limit before a file was whole");
  if (spoken.thinking_never_ended) return Refused("truncated", "the reply ended while the model was still thinking");
  if (any([](const CodePiece& piece) { return (piece.has_plan || piece.has_kernel) && !IsWhole(piece, false); })) {
    return Refused("truncated", "the file breaks off before its end");
  }
  if (any([](const CodePiece& piece) { return piece.has_kernel && !piece.has_plan; })) {
    return Refused("no_code",
                   "the CUDA code has no launch plan: a file begins with a /* warpsmith-plan { … } */ comment");
  }
  if (any([](const CodePiece& piece) { return piece.has_plan || piece.is_plan_json; })) {
    return Refused("no_code", "the reply holds a launch plan without the kernels that it names");
  }
  if (diff) return Refused("no_code", "the reply is a diff, not a whole file");
  std::string host = HostCodeSign(text);
  if (!host.empty()) return Refused("host_code", "the reply holds host code: " + host);
  return Refused("no_code", text.empty() ? "the reply is empty" : "the reply holds no code");
}

}  // namespace warpsmith::gateway
