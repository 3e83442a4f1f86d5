#include "llm_gateway/prompts/prompt_variant.h"

#include "common/file.h"

namespace warpsmith::gateway {

absl::StatusOr<PromptVariant> PromptVariant::Load(const std::filesystem::path& folder, const std::string& name) {
  struct File {
    const char* name;
    PromptTemplate PromptVariant::*part;
    std::set<std::string> slots;
  };
  const File files[] = {
      {"contract", &PromptVariant::contract, {}},
      {"ideas_guide", &PromptVariant::ideas_guide, {}},
      {"code_guide", &PromptVariant::code_guide, {}},
      {"repair_guide", &PromptVariant::repair_guide, {}},
      {"problem", &PromptVariant::problem, {"device", "problem", "precision"}},
      {"propose_ideas",
       &PromptVariant::propose_ideas,
       {"parent", "tried", "category_counts", "patterns", "notes", "count"}},
      {"propose_again", &PromptVariant::propose_again, {"kept", "too_close", "count"}},
      {"implement_idea",
       &PromptVariant::implement_idea,
       {"parent", "patterns", "earlier_turns", "notes", "idea", "siblings"}},
      {"repair", &PromptVariant::repair, {"idea", "failed", "failure", "earlier_turns", "notes", "attempt"}},
  };
  PromptVariant variant;
  variant.name = name;
  for (const File& file : files) {
    const std::filesystem::path path = folder / name / (std::string(file.name) + ".txt");
    WARPSMITH_ASSIGN_OR_RETURN(std::string text, ReadFile(path, 1u << 20));
    WARPSMITH_ASSIGN_OR_RETURN(variant.*file.part, PromptTemplate::Parse(text, path.string(), file.slots));
    if ((variant.*file.part).version().rfind(std::string(file.name) + "-", 0) != 0) {
      return InvalidArgument(path.string() + ":1: the version must be \"" + file.name + "-NUMBER\"");
    }
  }
  return variant;
}

}  // namespace warpsmith::gateway
