#include "llm_gateway/providers/reply_node.h"

#include <simdjson.h>

#include <bit>
#include <cstdlib>
#include <memory>
#include <type_traits>

namespace warpsmith::gateway {
namespace {

using Element = simdjson::dom::element;

constexpr size_t kUsualBytes = 64u << 10;
constexpr size_t kMostKeptBytes = 1u << 20;  // a parser that has read more is let go
constexpr double kMostCount = 1e15;
constexpr size_t kMaxDepth = 65;  // 64 levels and the document

std::unique_ptr<simdjson::dom::parser> NewParser() {
  auto parser = std::make_unique<simdjson::dom::parser>();
  if (parser->allocate(kUsualBytes, kMaxDepth) != simdjson::SUCCESS) std::abort();  // out of memory
  return parser;
}

Element Of(const std::array<std::byte, 16>& bytes) {
  static_assert(sizeof(Element) == 16 && std::is_trivially_copyable_v<Element>);
  return std::bit_cast<Element>(bytes);
}

}  // namespace

template <typename Given>
ReplyNode::ReplyNode(const Given& element)
    : present_(true), element_(std::bit_cast<std::array<std::byte, 16>>(Element(element))) {}

ReplyNode ParseReplyNode(std::string_view text) {
  thread_local std::unique_ptr<simdjson::dom::parser> parser = NewParser();
  if (parser->capacity() > kMostKeptBytes) parser = NewParser();
  Element root;
  if (parser->parse(text.data(), text.size()).get(root) != simdjson::SUCCESS) return ReplyNode();
  return ReplyNode(root);
}

bool ReplyNode::is_object() const { return present_ && Of(element_).is_object(); }
bool ReplyNode::is_array() const { return present_ && Of(element_).is_array(); }
bool ReplyNode::is_text() const { return present_ && Of(element_).is_string(); }
bool ReplyNode::is_null() const { return present_ && Of(element_).is_null(); }

bool ReplyNode::is_true() const {
  bool value = false;
  return present_ && Of(element_).get(value) == simdjson::SUCCESS && value;
}

bool ReplyNode::empty() const {
  simdjson::dom::object object;
  if (!present_ || Of(element_).get(object) != simdjson::SUCCESS) return true;
  return !(object.begin() != object.end());
}

ReplyNode ReplyNode::operator[](const char* key) const {
  if (!is_object()) return ReplyNode();
  Element found;
  if (Of(element_).at_key(key).get(found) != simdjson::SUCCESS) return ReplyNode();
  return ReplyNode(found);
}

std::vector<ReplyNode> ReplyNode::items() const {
  std::vector<ReplyNode> nodes;
  simdjson::dom::array array;
  if (!present_ || Of(element_).get(array) != simdjson::SUCCESS) return nodes;
  for (const Element element : array) nodes.push_back(ReplyNode(element));
  return nodes;
}

std::string_view ReplyNode::text() const {
  std::string_view text;
  if (!present_ || Of(element_).get(text) != simdjson::SUCCESS) return {};
  return text;
}

std::optional<double> ReplyNode::number() const {
  double number = 0;
  if (!present_ || Of(element_).get(number) != simdjson::SUCCESS) return std::nullopt;
  return number;
}

std::string ReplyNode::TextAt(const char* key) const {
  const ReplyNode node = (*this)[key];
  if (node.is_text()) return std::string(node.text());
  if (!node.present_) return "";
  int64_t number = 0;
  if (Of(node.element_).get(number) == simdjson::SUCCESS) return std::to_string(number);
  uint64_t large = 0;
  return Of(node.element_).get(large) == simdjson::SUCCESS ? std::to_string(large) : "";
}

bool ReplyNode::HasCountAt(const char* key) const {
  const std::optional<double> number = (*this)[key].number();
  return number && *number >= 0 && *number < kMostCount;
}

int64_t ReplyNode::CountAt(const char* key) const {
  const std::optional<double> number = (*this)[key].number();
  return number && *number >= 0 && *number < kMostCount ? static_cast<int64_t>(*number) : 0;
}

Json ReplyNode::ToJson() const {
  if (!present_) return Json();
  Json json = Json::parse(simdjson::minify(Of(element_)), nullptr, false);
  return json.is_discarded() ? Json() : json;
}

bool IsValidText(std::string_view text) {
  return text.find('\0') == text.npos && simdjson::validate_utf8(text.data(), text.size());
}

}  // namespace warpsmith::gateway
