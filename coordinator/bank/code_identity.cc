#include "coordinator/bank/code_identity.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>

#include "common/hash.h"
#include "common/json.h"

namespace warpsmith::bank {
namespace {

// The plan in a form in which layout does not count; the comment as it stands where it is no plan.
std::string PlanIdentity(std::string_view source) {
  constexpr std::string_view kWord = "warpsmith-plan";
  const size_t word = source.find(kWord);
  const size_t end = source.find("*/", word == std::string_view::npos ? 0 : word);
  if (word == std::string_view::npos || end == std::string_view::npos) return Sha256Hex(source);
  const std::string_view text = source.substr(word + kWord.size(), end - word - kWord.size());
  auto plan = ParseStrictJson(text);
  if (!plan.ok() || !plan->is_object()) return std::string(text);
  for (const char* field : {"options", "min_arch", "tune"}) plan->erase(field);
  return plan->dump();
}

// What stands before a revision's number, the number, and what follows.
std::tuple<std::string, size_t, std::string, std::string> Parts(const std::string& revision) {
  const auto digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  const auto begin = std::find_if(revision.begin(), revision.end(), digit);
  const auto end = std::find_if_not(begin, revision.end(), digit);
  std::string number(begin, end);
  number.erase(0, std::min(number.find_first_not_of('0'), number.size()));
  const size_t length = number.size();
  return {std::string(revision.begin(), begin), length, std::move(number), std::string(end, revision.end())};
}

}  // namespace

std::string ModuleIdentity(std::string_view source, const v1::Evaluation& evaluation) {
  const std::string& module =
      evaluation.cubin_sha256().empty() ? evaluation.compile().artifact_sha256() : evaluation.cubin_sha256();
  if (module.empty()) return "";
  std::string text = module + '\n' + PlanIdentity(source);
  const std::map<std::string, int64_t> tune(evaluation.tune().begin(), evaluation.tune().end());
  for (const auto& [name, value] : tune) text += '\n' + name + '=' + std::to_string(value);
  return Sha256Hex(text);
}

bool OlderRevision(const std::string& revision, const std::string& than) { return Parts(revision) < Parts(than); }

}  // namespace warpsmith::bank
