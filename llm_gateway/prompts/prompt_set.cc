#include "llm_gateway/prompts/prompt_set.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/file.h"
#include "common/hash.h"
#include "llm_gateway/prompts/describe.h"
#include "llm_gateway/prompts/describe_failure.h"
#include "llm_gateway/prompts/describe_history.h"
#include "llm_gateway/prompts/device_facts.h"
#include "llm_gateway/prompts/fenced.h"
#include "llm_gateway/prompts/idea_schema.h"
#include "llm_gateway/replies/text.h"

namespace warpsmith::gateway {
namespace {

constexpr char kDefault[] = "default";
constexpr size_t kMaxFailedSource = 200u << 10;
constexpr int kIdeaPatterns = 3;
constexpr int kCodePatterns = 1;

using Values = std::map<std::string, std::string>;

bool IsVariantName(const std::string& name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

// Parsing has checked that every slot is one of those that the callers below fill.
std::string Text(const PromptTemplate& part, const Values& values) { return ValidText(part.Render(values).value()); }

struct Draft {
  RenderedPrompt prompt;
  Sha256Stream digest;  // of its messages so far
};

Draft Start(PromptBeginnings& beginnings, const PromptVariant& variant, PromptKind kind,
            const v1::ProblemContext& context) {
  PromptBeginning beginning = beginnings.Find(variant, kind, context);
  Draft draft{{}, std::move(beginning.digest)};
  draft.prompt.variant = variant.name;
  draft.prompt.messages.reserve(3);
  draft.prompt.messages.push_back({"system", std::move(beginning.system), true});
  draft.prompt.messages.push_back({"user", std::move(beginning.problem), true});
  draft.prompt.version = std::move(beginning.version);
  return draft;
}

RenderedPrompt Finish(Draft draft, const std::string& version, std::string text) {
  draft.digest.Add(std::string_view("\0", 1));
  draft.digest.Add(text);
  draft.prompt.messages.push_back({"user", std::move(text), false});
  draft.prompt.version += "+" + version;
  draft.prompt.sha256 = draft.digest.Hex();
  return std::move(draft.prompt);
}

std::string QuestionText(const PromptVariant& variant, const v1::ProposeIdeasRequest& request) {
  return Text(variant.propose_ideas,
              {{"parent", DescribeParent(request.context(), request.parent(), request.has_parent())},
               {"tried", DescribeTried(request.tried(), request.parent().candidate_id(), request.tried_left_out())},
               {"category_counts", CountCategories(request.tried())},
               {"patterns", DescribePatterns(request.context().patterns(), kIdeaPatterns)},
               {"notes", DescribeNotes(request.context().operator_notes())},
               {"count", std::to_string(request.count())}});
}

Draft StartIdeas(PromptBeginnings& beginnings, const PromptVariant& variant, const v1::ProblemContext& context) {
  Draft draft = Start(beginnings, variant, PromptKind::kIdeas, context);
  draft.prompt.schema_name = kIdeaSchemaName;
  draft.prompt.schema = IdeaSchema();
  return draft;
}

}  // namespace

absl::StatusOr<PromptSet> PromptSet::Load(const std::filesystem::path& folder,
                                          const std::vector<std::string>& variants) {
  PromptSet set;
  set.names_ = variants.empty() ? std::vector<std::string>{kDefault} : variants;
  for (const std::string& name : set.names_) {
    if (!IsVariantName(name) || !std::filesystem::is_directory(folder / name)) {
      std::string known;
      for (const std::filesystem::path& entry : EntriesOf(folder)) {
        if (std::filesystem::is_directory(entry)) known += (known.empty() ? "" : ", ") + entry.filename().string();
      }
      return InvalidArgument(fmt::format("there is no folder \"{}\" in {}; there are: {}", OneLine(name, 100),
                                         folder.string(), known.empty() ? "none" : known));
    }
    if (std::count(set.names_.begin(), set.names_.end(), name) > 1) {
      return InvalidArgument(fmt::format("{} stands twice", name));
    }
    WARPSMITH_ASSIGN_OR_RETURN(PromptVariant variant, PromptVariant::Load(folder, name));
    set.variants_.push_back(std::move(variant));
  }
  return set;
}

const PromptVariant* PromptSet::Find(const std::string& name) const {
  const std::string wanted = name.empty() ? kDefault : name;
  auto found =
      std::find_if(variants_.begin(), variants_.end(), [&](const PromptVariant& one) { return one.name == wanted; });
  if (found != variants_.end()) return &*found;
  return name.empty() && !variants_.empty() ? &variants_[0] : nullptr;
}

absl::Status PromptSet::CheckVariant(const std::string& variant) const {
  if (Has(variant)) return absl::OkStatus();
  return InvalidArgument(fmt::format("call.prompt_variant: there is no prompt variant \"{}\"; there are: {}",
                                     OneLine(variant, 100), fmt::join(names_, ", ")));
}

absl::StatusOr<RenderedPrompt> PromptSet::ProposeIdeas(const v1::ProposeIdeasRequest& request) const {
  WARPSMITH_RETURN_IF_ERROR(CheckVariant(request.call().prompt_variant()));
  const PromptVariant& variant = *Find(request.call().prompt_variant());
  return Finish(StartIdeas(*beginnings_, variant, request.context()), variant.propose_ideas.version(),
                QuestionText(variant, request));
}

absl::StatusOr<RenderedPrompt> PromptSet::ProposeIdeasAgain(const v1::ProposeIdeasRequest& request,
                                                            const std::vector<v1::Idea>& kept,
                                                            const std::vector<SimilarPair>& too_close) const {
  WARPSMITH_RETURN_IF_ERROR(CheckVariant(request.call().prompt_variant()));
  const PromptVariant& variant = *Find(request.call().prompt_variant());
  const int missing = std::max(1, request.count() - static_cast<int>(kept.size()));
  return Finish(
      StartIdeas(*beginnings_, variant, request.context()),
      variant.propose_ideas.version() + "+" + variant.propose_again.version(),
      QuestionText(variant, request) + Text(variant.propose_again, {{"kept", DescribeKept(kept)},
                                                                    {"too_close", DescribeTooClose(too_close)},
                                                                    {"count", std::to_string(missing)}}));
}

absl::StatusOr<RenderedPrompt> PromptSet::ImplementIdea(const v1::ImplementIdeaRequest& request, int index) const {
  WARPSMITH_RETURN_IF_ERROR(CheckVariant(request.call().prompt_variant()));
  const PromptVariant& variant = *Find(request.call().prompt_variant());
  return Finish(
      Start(*beginnings_, variant, PromptKind::kCode, request.context()), variant.implement_idea.version(),
      Text(variant.implement_idea,
           {{"parent", DescribeParent(request.context(), request.parent(), request.has_parent())},
            {"patterns", DescribePatterns(request.context().patterns(), kCodePatterns, request.idea().category())},
            {"earlier_turns", DescribeEarlierTurns(request.earlier_turns())},
            {"notes", DescribeNotes(request.context().operator_notes())},
            {"idea", DescribeIdea(request.idea())},
            {"siblings", DescribeSiblings(index, request.count())}}));
}

absl::StatusOr<RenderedPrompt> PromptSet::Repair(const v1::RepairRequest& request) const {
  WARPSMITH_RETURN_IF_ERROR(CheckVariant(request.call().prompt_variant()));
  const PromptVariant& variant = *Find(request.call().prompt_variant());
  return Finish(
      Start(*beginnings_, variant, PromptKind::kRepair, request.context()), variant.repair.version(),
      Text(variant.repair, {{"idea", DescribeIdea(request.idea())},
                            {"failed", Fenced("cuda", ShortenedSource(request.failed().source(), kMaxFailedSource))},
                            {"failure", DescribeFailure(request.failed().evaluation())},
                            {"earlier_turns", DescribeEarlierTurns(request.earlier_turns())},
                            {"notes", DescribeNotes(request.context().operator_notes())},
                            {"attempt", std::to_string(std::max(1, request.attempt()))}}));
}

}  // namespace warpsmith::gateway
