#include "llm_gateway/catalog/recipe.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <set>

#include "common/file.h"
#include "llm_gateway/config/yaml_reader.h"
#include "llm_gateway/replies/ideas.h"

namespace warpsmith::gateway {
namespace {

constexpr size_t kMaxTemplateBytes = 256u << 10;

bool IsIdentifier(const std::string& text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

// Loads one recipe.yaml. Names are gathered on the way: an expression or slot may use those that stand before it.
class RecipeLoader {
 public:
  explicit RecipeLoader(std::filesystem::path folder)
      : folder_(std::move(folder)), file_((folder_ / "recipe.yaml").string()) {}

  absl::StatusOr<Recipe> Load() {
    WARPSMITH_ASSIGN_OR_RETURN(std::string text, ReadFile(file_, 1u << 20));
    WARPSMITH_ASSIGN_OR_RETURN(YAML::Node document, ParseYaml(text, file_));
    YamlReader reader(file_, document, "");
    recipe_.name = folder_.filename().string();
    recipe_.family = reader.String("family", "", true);
    YAML::Node match = reader.Node("match");
    std::vector<YAML::Node> ideas = reader.List("ideas");
    if (!match.IsDefined()) reader.Fail("match", "is missing; say which tensors the recipe needs");
    if (ideas.empty()) reader.Fail("ideas", "is missing or empty");
    WARPSMITH_RETURN_IF_ERROR(reader.Finish());
    WARPSMITH_RETURN_IF_ERROR(ReadMatch(match));
    for (size_t i = 0; i < ideas.size(); ++i) WARPSMITH_RETURN_IF_ERROR(ReadIdea(ideas[i], i));
    return std::move(recipe_);
  }

 private:
  void Declare(YamlReader& reader, const YAML::Node& at, const std::string& place, const std::string& name) {
    if (!IsIdentifier(name)) reader.Fail(at, place, fmt::format("\"{}\" is not a name of letters, digits and _", name));
    if (!names_.insert(name).second)
      reader.Fail(at, place, fmt::format("\"{}\" is taken already; choose another name", name));
  }

  bool Known(const std::string& name) const {
    if (names_.count(name) != 0) return true;
    size_t dot = name.rfind('.');
    if (dot == name.npos || dot == 0 || !IsTensorProperty(name.substr(dot + 1))) return false;
    // Tensors may also be named by their own names, which only the problem knows.
    return names_.count(name.substr(0, dot)) == 0 || tensors_.count(name.substr(0, dot)) != 0;
  }

  absl::Status ReadMatch(const YAML::Node& node) {
    YamlReader reader(file_, node, "match");
    recipe_.operators_any = reader.Strings("operators_any");
    for (const auto& [name, value] : reader.Map("bind")) {
      Declare(reader, value, "bind." + name, name);
      tensors_.insert(name);
      WARPSMITH_RETURN_IF_ERROR(ReadBinding(name, value));
    }
    for (const auto& [name, value] : reader.Map("extract")) {
      Declare(reader, value, "extract." + name, name);
      YamlReader extract(file_, value, "match.extract." + name);
      Extraction extraction{name, nullptr, extract.String("default")};
      std::string pattern = extract.String("pattern", "", true);
      auto compiled = std::make_shared<re2::RE2>(pattern, re2::RE2::Quiet);
      if (!compiled->ok()) {
        extract.Fail("pattern", compiled->error() + "; RE2's syntax holds here");
      } else if (compiled->NumberOfCapturingGroups() < 1) {
        extract.Fail("pattern", "has no group; put ( ) around the value");
      }
      extraction.pattern = std::move(compiled);
      WARPSMITH_RETURN_IF_ERROR(extract.Finish());
      recipe_.extractions.push_back(std::move(extraction));
    }
    for (const auto& [name, value] : reader.Map("choose")) {
      WARPSMITH_RETURN_IF_ERROR(ReadChoice(name, value));
      Declare(reader, value, "choose." + name, name);
    }
    for (const auto& [name, value] : reader.Map("variables")) {
      RecipeExpression expression;
      WARPSMITH_RETURN_IF_ERROR(ReadExpression(reader, value, "variables." + name, false, expression));
      Declare(reader, value, "variables." + name, name);
      recipe_.variables.emplace_back(name, std::move(expression));
    }
    WARPSMITH_RETURN_IF_ERROR(ReadConditions(reader, recipe_.require));
    return reader.Finish();
  }

  absl::Status ReadBinding(const std::string& name, const YAML::Node& node) {
    static const std::map<std::string, v1::TensorRole> roles = {{"input", v1::TENSOR_ROLE_INPUT},
                                                                {"parameter", v1::TENSOR_ROLE_PARAMETER},
                                                                {"buffer", v1::TENSOR_ROLE_BUFFER},
                                                                {"attribute", v1::TENSOR_ROLE_ATTRIBUTE},
                                                                {"output", v1::TENSOR_ROLE_OUTPUT}};
    YamlReader reader(file_, node, "match.bind." + name);
    TensorBinding binding;
    binding.name = name;
    auto role = roles.find(reader.String("role", "", true));
    if (role == roles.end()) {
      reader.Fail("role", "must be input, parameter, buffer, attribute or output");
    } else {
      binding.role = role->second;
    }
    binding.index = static_cast<int>(reader.Integer("index", 0, 0, 1000));
    binding.suffix = reader.String("suffix");
    binding.optional = reader.Boolean("optional", false);
    binding.any_strides = reader.Boolean("any_strides", false);
    recipe_.bindings.push_back(binding);
    return reader.Finish();
  }

  absl::Status ReadChoice(const std::string& name, const YAML::Node& node) {
    YamlReader reader(file_, node, "match.choose." + name);
    Choice choice{name, reader.String("of", "", true), {}};
    if (!choice.of.empty() && !Known(choice.of)) {
      reader.Fail("of", fmt::format("nothing is called {} here", choice.of));
    }
    for (const auto& [key, value] : reader.Map("values")) {
      if (!value.IsScalar()) {
        reader.Fail(value, "values." + key, "must be one value");
        continue;
      }
      choice.values[key] = ToRecipeValue(value.Scalar());
    }
    if (choice.values.empty()) reader.Fail("values", "is missing or empty");
    recipe_.choices.push_back(std::move(choice));
    return reader.Finish();
  }

  absl::Status ReadExpression(YamlReader& reader, const YAML::Node& node, const std::string& place, bool comparison,
                              RecipeExpression& expression) {
    auto parsed = node.IsScalar() ? RecipeExpression::Parse(node.Scalar()) : InvalidArgument("an expression is due");
    absl::Status status = parsed.status();
    if (status.ok()) status = parsed->Check([this](const std::string& name) { return Known(name); }, comparison);
    if (!status.ok()) {
      reader.Fail(node, place, Message(status));
      return reader.Finish();
    }
    expression = *std::move(parsed);
    return absl::OkStatus();
  }

  absl::Status ReadConditions(YamlReader& reader, std::vector<RecipeExpression>& conditions) {
    for (const YAML::Node& node : reader.List("require")) {
      RecipeExpression expression;
      WARPSMITH_RETURN_IF_ERROR(ReadExpression(reader, node, "require", true, expression));
      conditions.push_back(std::move(expression));
    }
    return absl::OkStatus();
  }

  absl::Status ReadIdea(const YAML::Node& node, size_t index) {
    YamlReader reader(file_, node, fmt::format("ideas[{}]", index));
    RecipeIdea idea;
    idea.key = reader.String("key", "", true);
    if (!IsIdentifier(idea.key)) reader.Fail("key", "must be a name of letters, digits and _");
    for (const RecipeIdea& earlier : recipe_.ideas) {
      if (earlier.key == idea.key) reader.Fail("key", fmt::format("\"{}\" is taken by an earlier idea", idea.key));
    }
    idea.idea.set_catalog_key(recipe_.name + "/" + idea.key);
    idea.idea.set_origin("catalog");
    idea.idea.set_title(reader.String("title", "", true));
    idea.idea.set_category(reader.String("category", "", true));
    if (NormalCategory(idea.idea.category(), "") != idea.idea.category()) {
      reader.Fail("category",
                  "must be memory_access, async_latency, precision, compute, parallelism_occupancy or control_flow");
    }
    idea.idea.set_bottleneck(reader.String("bottleneck"));
    idea.idea.set_evidence(reader.String("evidence"));
    idea.idea.set_hypothesis(reader.String("hypothesis"));
    for (const std::string& step : reader.Strings("plan")) idea.idea.add_plan(step);
    idea.idea.set_expected_speedup(reader.Number("expected_speedup", 0, 0, 1e6));
    idea.idea.set_risk(reader.String("risk", "low"));
    if (idea.idea.risk() != "low" && idea.idea.risk() != "medium" && idea.idea.risk() != "high") {
      reader.Fail("risk", "must be low, medium or high");
    }
    idea.idea.set_changes_precision(reader.Boolean("changes_precision", false));
    ReadNeeds(reader, idea);
    idea.after = reader.Strings("after");
    for (const std::string& key : idea.after) {
      bool earlier =
          std::any_of(recipe_.ideas.begin(), recipe_.ideas.end(), [&](const auto& one) { return one.key == key; });
      if (!earlier) reader.Fail("after", fmt::format("\"{}\" is no idea that stands before this one", key));
    }
    std::set<std::string> setting_names = ReadSettings(reader, idea);
    std::set<std::string> outer = names_;
    names_.insert({"device_capability", "device_shared_bytes"});
    names_.insert(setting_names.begin(), setting_names.end());
    WARPSMITH_RETURN_IF_ERROR(ReadDerived(reader, idea));
    WARPSMITH_RETURN_IF_ERROR(ReadConditions(reader, idea.require));
    ReadTemplate(reader, idea);
    names_ = std::move(outer);
    WARPSMITH_RETURN_IF_ERROR(reader.Finish());
    recipe_.ideas.push_back(std::move(idea));
    return absl::OkStatus();
  }

  // Read once the settings' names are known; each may use those before it.
  absl::Status ReadDerived(YamlReader& reader, RecipeIdea& idea) {
    for (const auto& [name, value] : reader.Map("derive")) {
      RecipeExpression expression;
      WARPSMITH_RETURN_IF_ERROR(ReadExpression(reader, value, "derive." + name, false, expression));
      Declare(reader, value, "derive." + name, name);
      idea.derived.emplace_back(name, std::move(expression));
    }
    return absl::OkStatus();
  }

  void ReadNeeds(YamlReader& reader, RecipeIdea& idea) {
    idea.needs_gpu = reader.Boolean("needs_gpu", false);
    std::string needs = reader.String("needs");
    if (needs.empty()) return;
    std::string suffix;
    if (!re2::RE2::FullMatch(needs, "sm_([0-9]{2,3})(a?)", &idea.least_capability, &suffix))
      reader.Fail("needs", "must be an architecture such as sm_80, or sm_90a for that one alone");
    idea.only_this_capability = !suffix.empty();
  }

  std::set<std::string> ReadSettings(YamlReader& reader, RecipeIdea& idea) {
    std::set<std::string> names;
    std::vector<YAML::Node> list = reader.List("settings");
    if (list.size() < 2) reader.Fail("settings", "must list at least two, so that implementations differ");
    for (const YAML::Node& node : list) {
      RecipeValues values;
      if (!node.IsMap()) {
        reader.Fail(node, "settings", "each must be fields, as in {BLOCK: 128}");
        return names;
      }
      for (const auto& entry : node) {
        const std::string& name = entry.first.Scalar();
        if (!entry.second.IsScalar() || !IsIdentifier(name) || names_.count(name) != 0) {
          reader.Fail(entry.first, "settings", fmt::format("\"{}\" must be a new name with one value", name));
          return names;
        }
        values[name] = ToRecipeValue(entry.second.Scalar());
      }
      std::set<std::string> these;
      for (const auto& [name, value] : values) these.insert(name);
      if (!idea.settings.empty() && these != names) reader.Fail(node, "settings", "all must have the same names");
      if (std::find(idea.settings.begin(), idea.settings.end(), values) != idea.settings.end()) {
        reader.Fail(node, "settings", "one stands here twice");
      }
      names = std::move(these);
      idea.settings.push_back(std::move(values));
    }
    return names;
  }

  void ReadTemplate(YamlReader& reader, RecipeIdea& idea) {
    std::string name = reader.String("template", "", true);
    if (name.empty()) return;
    if (name.find('/') != name.npos || name[0] == '.') {
      reader.Fail("template", "must be the name of a file in the recipe's folder");
      return;
    }
    auto text = ReadFile(folder_ / name, kMaxTemplateBytes);
    if (!text.ok()) {
      reader.Fail("template", Message(text.status()));
      return;
    }
    auto parsed = RecipeTemplate::Parse(*text, (folder_ / name).string(),
                                        [this](const std::string& slot) { return Known(slot); });
    if (!parsed.ok()) {
      reader.Fail("template", Message(parsed.status()));
      return;
    }
    idea.source = *std::move(parsed);
  }

  std::filesystem::path folder_;
  std::string file_;
  Recipe recipe_;
  std::set<std::string> names_ = {"training_mode"};  // everything that can have a value
  std::set<std::string> tensors_;                    // those of them that are tensors
};

}  // namespace

bool IsTensorProperty(const std::string& name) {
  static const re2::RE2 pattern("numel|rank|dtype|name|dim_?[0-9]|stride[0-9]");
  return re2::RE2::FullMatch(name, pattern);
}

absl::StatusOr<Recipe> LoadRecipe(const std::filesystem::path& folder) { return RecipeLoader(folder).Load(); }

absl::StatusOr<std::vector<Recipe>> LoadRecipes(const std::filesystem::path& root) {
  std::error_code error;
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(root, error)) {
    if (std::filesystem::exists(entry.path() / "recipe.yaml", error)) folders.push_back(entry.path());
  }
  if (folders.empty())
    return NotFound(fmt::format("{}: no recipes there; each is a folder with a recipe.yaml", root.string()));
  std::sort(folders.begin(), folders.end());
  std::vector<Recipe> recipes;
  for (const auto& folder : folders) {
    WARPSMITH_ASSIGN_OR_RETURN(Recipe recipe, LoadRecipe(folder));
    recipes.push_back(std::move(recipe));
  }
  return recipes;
}

}  // namespace warpsmith::gateway
