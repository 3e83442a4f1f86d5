#include "common/json.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

namespace warpsmith {
namespace {

// Builds the value by the library's own DOM builder while watching keys: the library keeps the last of duplicates.
class StrictHandler final : public nlohmann::json_sax<Json> {
 public:
  explicit StrictHandler(Json& root) : builder_(root, false) {}

  bool null() override { return builder_.null(); }
  bool boolean(bool v) override { return builder_.boolean(v); }
  bool number_integer(number_integer_t v) override { return builder_.number_integer(v); }
  bool number_unsigned(number_unsigned_t v) override { return builder_.number_unsigned(v); }
  bool number_float(number_float_t v, const string_t& s) override { return builder_.number_float(v, s); }
  bool string(string_t& v) override { return builder_.string(v); }
  bool binary(binary_t& v) override { return builder_.binary(v); }
  bool start_object(std::size_t n) override {
    keys_.emplace_back();
    return builder_.start_object(n);
  }
  bool key(string_t& v) override {
    if (!keys_.back().insert(v).second) {
      error = fmt::format("the key \"{}\" stands twice in one object; keep one of them", v);
      return false;
    }
    return builder_.key(v);
  }
  bool end_object() override {
    keys_.pop_back();
    return builder_.end_object();
  }
  bool start_array(std::size_t n) override { return builder_.start_array(n); }
  bool end_array() override { return builder_.end_array(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& e) override {
    error = e.what();
    if (auto at = error.find("] "); at != std::string::npos) error = error.substr(at + 2);
    return false;
  }

  std::string error;

 private:
  nlohmann::detail::json_sax_dom_parser<Json> builder_;
  std::vector<std::set<std::string>> keys_;
};

// Brackets outside strings; the parser recurses, so depth is bounded before it runs.
int Depth(std::string_view text) {
  int depth = 0, deepest = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quoted) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      deepest = std::max(deepest, ++depth);
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return deepest;
}

}  // namespace

absl::StatusOr<Json> ParseStrictJson(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return InvalidArgument(fmt::format("JSON of {} bytes is over the limit of {}", text.size(), limits.max_bytes));
  }
  if (int depth = Depth(text); depth > limits.max_depth) {
    return InvalidArgument(fmt::format("JSON nests {} deep; the limit is {}", depth, limits.max_depth));
  }
  Json root;
  StrictHandler handler(root);
  if (!Json::sax_parse(text.begin(), text.end(), &handler)) {
    return InvalidArgument(handler.error.empty() ? "not valid JSON" : handler.error);
  }
  return root;
}

}  // namespace warpsmith
