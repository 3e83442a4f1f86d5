#include "llm_gateway/config/yaml_reader.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace warpsmith::gateway {
namespace {

constexpr size_t kMaxYamlBytes = 1u << 20;
constexpr int kMaxDepth = 16;

absl::Status CheckNode(const YAML::Node& node, const std::string& file, int depth) {
  int line = node.Mark().line + 1;
  if (depth > kMaxDepth)
    return InvalidArgument(fmt::format("{}:{}: nested more than {} levels deep", file, line, kMaxDepth));
  if (node.IsMap()) {
    std::set<std::string> seen;
    for (const auto& entry : node) {
      if (!entry.first.IsScalar())
        return InvalidArgument(fmt::format("{}:{}: a field's name must be plain text", file, line));
      if (!seen.insert(entry.first.Scalar()).second) {
        return InvalidArgument(fmt::format("{}:{}: the field {} stands here twice; keep one", file,
                                           entry.first.Mark().line + 1, entry.first.Scalar()));
      }
      WARPSMITH_RETURN_IF_ERROR(CheckNode(entry.second, file, depth + 1));
    }
  } else if (node.IsSequence()) {
    for (const auto& item : node) WARPSMITH_RETURN_IF_ERROR(CheckNode(item, file, depth + 1));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<YAML::Node> ParseYaml(const std::string& text, const std::string& file) {
  if (text.size() > kMaxYamlBytes) return InvalidArgument(fmt::format("{}: over {} bytes", file, kMaxYamlBytes));
  // yaml-cpp's parser recurses once a bracket: depth is bounded before it runs.
  int depth = 0, deepest = 0;
  for (char c : text) {
    if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
    if ((c == ']' || c == '}') && depth > 0) --depth;
  }
  if (deepest > 200) return InvalidArgument(fmt::format("{}: brackets nested {} deep", file, deepest));
  try {
    YAML::Node node = YAML::Load(text);
    WARPSMITH_RETURN_IF_ERROR(CheckNode(node, file, 0));
    return node;
  } catch (const YAML::Exception& error) {
    return InvalidArgument(fmt::format("{}:{}: not YAML: {}", file, error.mark.line + 1, error.msg));
  }
}

YamlReader::YamlReader(std::string file, const YAML::Node& node, std::string path)
    : file_(std::move(file)), node_(node), path_(std::move(path)) {
  if (!node_.IsMap()) {
    status_ = InvalidArgument(fmt::format("{}:{}: {}: fields (name: value) are due here", file_, node_.Mark().line + 1,
                                          path_.empty() ? "the document" : path_));
  }
}

std::string YamlReader::Place(const YAML::Node& at, const std::string& key) const {
  const char* dot = path_.empty() || key.empty() ? "" : ".";
  int line = at.IsDefined() ? at.Mark().line + 1 : node_.Mark().line + 1;
  return fmt::format("{}:{}: {}{}{}", file_, line, path_, dot, key);
}

void YamlReader::Fail(const YAML::Node& at, const std::string& key, std::string_view what) {
  if (status_.ok()) status_ = InvalidArgument(fmt::format("{}: {}", Place(at, key), what));
}
void YamlReader::Fail(const std::string& key, std::string_view what) { Fail(Node(key), key, what); }
void YamlReader::Adopt(const absl::Status& status) {
  if (status_.ok()) status_ = status;
}

YAML::Node YamlReader::Node(const std::string& key) {
  asked_.insert(key);
  if (!node_.IsMap()) return YAML::Node(YAML::NodeType::Undefined);
  const YAML::Node& constant = node_;  // operator[] of a non-const node would add the key
  return constant[key];
}

bool YamlReader::Has(const std::string& key) {
  YAML::Node node = Node(key);
  return node.IsDefined() && !node.IsNull();
}

std::optional<std::string> YamlReader::Scalar(const std::string& key) {
  if (!Has(key)) return std::nullopt;
  YAML::Node node = Node(key);
  if (!node.IsScalar()) {
    Fail(node, key, "one value is due here, not a list or fields");
    return std::nullopt;
  }
  return node.Scalar();
}

std::string YamlReader::String(const std::string& key, std::string fallback, bool required) {
  std::optional<std::string> text = Scalar(key);
  if (!text || text->empty()) {
    if (required) Fail(key, "is missing; add it");
    return fallback;
  }
  return *text;
}

double YamlReader::Number(const std::string& key, double fallback, double least, double most) {
  std::optional<std::string> text = Scalar(key);
  if (!text) return fallback;
  char* end = nullptr;
  double value = std::strtod(text->c_str(), &end);
  if (text->empty() || *end != 0 || !std::isfinite(value) || value < least || value > most) {
    Fail(key, fmt::format("\"{}\" is not a number from {:g} to {:g}", *text, least, most));
    return fallback;
  }
  return value;
}

std::optional<double> YamlReader::OptionalNumber(const std::string& key, double least, double most) {
  if (!Has(key)) return std::nullopt;
  return Number(key, least, least, most);
}

int64_t YamlReader::Integer(const std::string& key, int64_t fallback, int64_t least, int64_t most) {
  double value = Number(key, static_cast<double>(fallback), static_cast<double>(least), static_cast<double>(most));
  if (value != std::floor(value)) {
    Fail(key, "a whole number is due here");
    return fallback;
  }
  return static_cast<int64_t>(value);
}

bool YamlReader::Boolean(const std::string& key, bool fallback) {
  std::optional<std::string> text = Scalar(key);
  if (!text) return fallback;
  if (*text == "true" || *text == "yes" || *text == "on") return true;
  if (*text == "false" || *text == "no" || *text == "off") return false;
  Fail(key, fmt::format("\"{}\" is neither true nor false", *text));
  return fallback;
}

std::vector<std::string> YamlReader::Strings(const std::string& key) {
  std::vector<std::string> values;
  YAML::Node node = Node(key);
  if (!node.IsDefined() || node.IsNull()) return values;
  if (node.IsScalar()) return {node.Scalar()};
  for (const YAML::Node& item : List(key)) {
    if (item.IsScalar()) {
      values.push_back(item.Scalar());
    } else {
      Fail(item, key, "a list of plain values is due here");
    }
  }
  return values;
}

std::vector<YAML::Node> YamlReader::List(const std::string& key) {
  std::vector<YAML::Node> items;
  YAML::Node node = Node(key);
  if (!node.IsDefined() || node.IsNull()) return items;
  if (!node.IsSequence()) {
    Fail(node, key, "a list is due here");
    return items;
  }
  for (const auto& item : node) items.push_back(item);
  return items;
}

std::vector<std::pair<std::string, YAML::Node>> YamlReader::Map(const std::string& key) {
  std::vector<std::pair<std::string, YAML::Node>> entries;
  YAML::Node node = Node(key);
  if (!node.IsDefined() || node.IsNull()) return entries;
  if (!node.IsMap()) {
    Fail(node, key, "fields (name: value) are due here");
    return entries;
  }
  for (const auto& entry : node) entries.emplace_back(entry.first.Scalar(), entry.second);
  return entries;
}

absl::Status YamlReader::Finish() {
  if (!status_.ok() || !node_.IsMap()) return status_;
  for (const auto& entry : node_) {
    const std::string& key = entry.first.Scalar();
    if (asked_.count(key) != 0) continue;
    std::string known;
    for (const std::string& name : asked_) known += (known.empty() ? "" : ", ") + name;
    Fail(entry.first, key, fmt::format("no such field; known here: {}", known));
    break;
  }
  return status_;
}

}  // namespace warpsmith::gateway
