// Reading YAML maps strictly: every field is asked for by name and type, and what nobody asked for is an error. Used
// for gateway.yaml and for recipes. Threading: one thread. Errors: InvalidArgument "file:line: path.field: what is
// wrong; remedy", the first one kept.
#ifndef WARPSMITH_LLM_GATEWAY_CONFIG_YAML_READER_H_
#define WARPSMITH_LLM_GATEWAY_CONFIG_YAML_READER_H_

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace warpsmith::gateway {

// One YAML document out of text; syntax errors, anchors and aliases (exponential in size) are InvalidArgument.
absl::StatusOr<YAML::Node> ParseYaml(const std::string& text, const std::string& file);

class YamlReader {
 public:
  // `node` should be a map; `path` is its place in the document, "models[0]".
  YamlReader(std::string file, const YAML::Node& node, std::string path);

  bool Has(const std::string& key);
  std::string String(const std::string& key, std::string fallback = "", bool required = false);
  int64_t Integer(const std::string& key, int64_t fallback, int64_t least, int64_t most);
  double Number(const std::string& key, double fallback, double least, double most);
  std::optional<double> OptionalNumber(const std::string& key, double least, double most);
  bool Boolean(const std::string& key, bool fallback);
  std::vector<std::string> Strings(const std::string& key);  // a list; a single scalar counts as a list of one
  std::vector<std::pair<std::string, YAML::Node>> Map(const std::string& key);  // in the order of the file
  std::vector<YAML::Node> List(const std::string& key);
  YAML::Node Node(const std::string& key);  // undefined where it is not there

  void Fail(const YAML::Node& at, const std::string& key, std::string_view what);
  void Fail(const std::string& key, std::string_view what);
  void Adopt(const absl::Status& status);  // another reader's error, of fields below these
  // The first error, or fields that were never asked for.
  absl::Status Finish();
  std::string Place(const YAML::Node& at, const std::string& key) const;

 private:
  std::optional<std::string> Scalar(const std::string& key);

  std::string file_;
  YAML::Node node_;
  std::string path_;
  std::set<std::string> asked_;
  absl::Status status_;
};

}  // namespace warpsmith::gateway

#endif  // WARPSMITH_LLM_GATEWAY_CONFIG_YAML_READER_H_
