// HTML in pieces. Text goes in through Text and Block, attributes through Open: what a model wrote cannot become markup
// there, and characters that show nothing or turn the reading order (controls, bidi marks, zero-width ones) come out as
// "[U+202E]". Raw takes markup of ours alone.
// Threading: a plain value.
#ifndef WARPSMITH_CLI_REPORT_HTML_H_
#define WARPSMITH_CLI_REPORT_HTML_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace warpsmith::cli::report {

// For text and quoted attributes. Line ends and tabs become blanks; broken UTF-8 becomes U+FFFD.
std::string Escape(std::string_view text);
// The same, but line ends (as "\n") and tabs stay.
std::string EscapeBlock(std::string_view text);
// At most `characters` code points, then "…".
std::string Cut(std::string_view text, size_t characters);

using Attributes = std::initializer_list<std::pair<std::string_view, std::string_view>>;

class Html {
 public:
  Html& Raw(std::string_view markup);
  Html& Text(std::string_view text);
  Html& Block(std::string_view text);
  // Attributes with an empty value are left out.
  Html& Open(std::string_view tag, Attributes attributes = {});
  Html& Close(std::string_view tag);
  // An element with text alone.
  Html& Element(std::string_view tag, std::string_view text, Attributes attributes = {});
  Html& Add(const Html& other) { return Raw(other.text_); }

  bool empty() const { return text_.empty(); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace warpsmith::cli::report

#endif  // WARPSMITH_CLI_REPORT_HTML_H_
