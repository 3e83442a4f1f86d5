#include "coordinator/store/database.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace warpsmith::store {
namespace {

template <typename T, typename Format>
std::string ArrayText(const std::vector<T>& values, Format format) {
  std::string text = "{";
  for (const T& value : values) {
    if (text.size() > 1) text += ',';
    text += format(value);
  }
  return text + "}";
}

std::string DoubleText(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return fmt::format("{}", value);
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return (c | 0x20) - 'a' + 10;
}

}  // namespace

Parameter::Parameter(int64_t value) : text_(fmt::format("{}", value)) {}
Parameter::Parameter(double value) : text_(DoubleText(value)) {}
Parameter::Parameter(Bytes value) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "\\x";
  text.reserve(2 + value.data.size() * 2);
  for (unsigned char byte : value.data) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  text_ = std::move(text);
}
Parameter::Parameter(const std::vector<int64_t>& values)
    : text_(ArrayText(values, [](int64_t value) { return fmt::format("{}", value); })) {}
Parameter::Parameter(const std::vector<int>& values)
    : text_(ArrayText(values, [](int value) { return fmt::format("{}", value); })) {}
Parameter::Parameter(const std::vector<double>& values) : text_(ArrayText(values, DoubleText)) {}
Parameter::Parameter(const std::vector<std::string>& values)
    : text_(ArrayText(values, [](const std::string& value) {
        std::string quoted = "\"";
        for (char c : value) {
          if (c == '"' || c == '\\') quoted += '\\';
          quoted += c;
        }
        return quoted + "\"";
      })) {}

Parameter NullIfEmpty(const std::string& value) { return value.empty() ? Parameter(std::nullopt) : Parameter(value); }

const std::optional<std::string>& Row::Value(std::string_view column) const {
  for (size_t tried = 0; tried < set_->columns.size(); ++tried) {
    const size_t at = (next_ + tried) % set_->columns.size();
    if (set_->columns[at] != column) continue;
    next_ = at + 1;
    return set_->rows[row_][at];
  }
  spdlog::critical("a statement does not return the column {}", column);
  std::abort();
}

bool Row::Null(std::string_view column) const { return !Value(column).has_value(); }
std::string Row::Text(std::string_view column) const { return Value(column).value_or(""); }
bool Row::Bool(std::string_view column) const { return Value(column).value_or("f") == "t"; }
int64_t Row::Int(std::string_view column) const {
  const std::string text = Text(column);
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}
double Row::Double(std::string_view column) const {
  const std::string text = Text(column);
  return text.empty() ? 0 : std::strtod(text.c_str(), nullptr);
}
std::string Row::Blob(std::string_view column) const {
  const std::optional<std::string>& text = Value(column);
  std::string bytes;
  if (!text || text->size() < 2) return bytes;
  bytes.reserve(text->size() / 2 - 1);
  for (size_t i = 2; i + 1 < text->size(); i += 2) {
    bytes += static_cast<char>(HexDigit((*text)[i]) << 4 | HexDigit((*text)[i + 1]));
  }
  return bytes;
}
std::vector<int> Row::Ints(std::string_view column) const {
  const std::string text = Text(column);
  std::vector<int> values;
  const char* end = text.data() + text.size();
  for (const char* at = text.data(); at < end; ++at) {
    int value = 0;
    auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc()) continue;
    values.push_back(value);
    at = next;
  }
  return values;
}

}  // namespace warpsmith::store
