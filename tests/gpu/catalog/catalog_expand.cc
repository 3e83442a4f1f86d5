// catalog_expand RECIPES PROBLEMS CAPABILITY OUT: every idea of every recipe that fits a problem, with every setting
// that fits the device, as a candidate file in OUT, and OUT/candidates.json that lists them.
// PROBLEMS: a JSON list of {"file", "problem": a v1.Problem}, as describe.py prints it. CAPABILITY: 89, 90; 0 for the
// emulated device. Exit status 1 with a message where something cannot be read or written.
#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>

#include <charconv>
#include <cstdio>
#include <filesystem>

#include "common/file.h"
#include "common/json.h"
#include "llm_gateway/catalog/recipe_match.h"

namespace warpsmith {
namespace {

std::string Setting(const gateway::RecipeIdea& idea, const gateway::RecipeValues& values) {
  std::string text;
  for (const auto& [name, value] : idea.settings.front()) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, gateway::ToText(values.at(name)));
  }
  return text;
}

absl::Status Expand(const std::vector<gateway::Recipe>& recipes, const Json& entry, const v1::DeviceDescription& device,
                    const std::filesystem::path& out, Json& listed) {
  v1::Problem problem;
  const std::string text = entry.at("problem").dump();
  if (auto status = google::protobuf::util::JsonStringToMessage(text, &problem); !status.ok()) {
    return InvalidArgument(std::string(status.message()));
  }
  for (const gateway::Recipe& recipe : recipes) {
    auto matched = gateway::MatchRecipe(recipe, problem);
    if (!matched.ok()) continue;
    for (const gateway::RecipeIdea& idea : recipe.ideas) {
      int index = 0;
      for (const gateway::RecipeValues& values : gateway::FittingSettings(idea, *matched, device)) {
        WARPSMITH_ASSIGN_OR_RETURN(std::string source, idea.source.Expand(values));
        const std::string file = fmt::format("{}.{}.{}.{}.cu", problem.name(), recipe.name, idea.key, index);
        WARPSMITH_RETURN_IF_ERROR(WriteFileAtomically(out / file, source));
        listed.push_back({{"file", (out / file).string()},
                          {"problem", entry.at("file")},
                          {"name", problem.name()},
                          {"recipe", recipe.name},
                          {"idea", idea.key},
                          {"index", index},
                          {"setting", Setting(idea, values)},
                          {"needs_gpu", idea.needs_gpu},
                          {"changes_precision", idea.idea.changes_precision()}});
        ++index;
      }
    }
  }
  return absl::OkStatus();
}

absl::Status Run(const std::filesystem::path& folder, const std::filesystem::path& problems, int capability,
                 const std::filesystem::path& out) {
  WARPSMITH_ASSIGN_OR_RETURN(std::vector<gateway::Recipe> recipes, gateway::LoadRecipes(folder));
  WARPSMITH_ASSIGN_OR_RETURN(std::string text, ReadFile(problems));
  JsonLimits limits;
  limits.max_bytes = 64u << 20;
  WARPSMITH_ASSIGN_OR_RETURN(Json list, ParseStrictJson(text, limits));
  v1::DeviceDescription device;
  device.set_emulated(capability == 0);
  device.set_compute_capability(capability);
  std::filesystem::create_directories(out);
  Json listed = Json::array();
  for (const Json& entry : list) WARPSMITH_RETURN_IF_ERROR(Expand(recipes, entry, device, out, listed));
  return WriteFileAtomically(out / "candidates.json", listed.dump(1) + "\n");
}

}  // namespace
}  // namespace warpsmith

int main(int argc, char** argv) {
  int capability = -1;
  const std::string_view number = argc == 5 ? argv[3] : "";
  std::from_chars(number.data(), number.data() + number.size(), capability);
  if (argc != 5 || capability < 0) {
    std::fputs("usage: catalog_expand RECIPES PROBLEMS.json CAPABILITY OUT\n", stderr);
    return 2;
  }
  const absl::Status status = warpsmith::Run(argv[1], argv[2], capability, argv[4]);
  if (!status.ok()) std::fprintf(stderr, "catalog_expand: %s\n", warpsmith::Message(status).c_str());
  return status.ok() ? 0 : 1;
}
