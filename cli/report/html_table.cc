#include "cli/report/html_table.h"

#include <fmt/format.h>

#include <utility>

namespace warpsmith::cli::report {

HtmlTable::HtmlTable(std::string caption, std::string classes)
    : caption_(std::move(caption)), classes_(std::move(classes)) {}

HtmlTable& HtmlTable::Column(std::string title, Kind kind) {
  columns_.push_back({std::move(title), kind});
  return *this;
}

HtmlTable& HtmlTable::Cell(std::string_view text) {
  Html content;
  content.Text(text);
  return Cell(content);
}

HtmlTable& HtmlTable::Cell(const Html& content, std::string_view classes) {
  std::string all = cells_ < columns_.size() && columns_[cells_].kind == kNumber ? "n" : "";
  if (!classes.empty()) all += (all.empty() ? "" : " ") + std::string(classes);
  row_.Open("td", {{"class", all}}).Add(content).Close("td");
  ++cells_;
  return *this;
}

HtmlTable& HtmlTable::EndRow(std::string_view classes) {
  while (cells_ < columns_.size()) Cell("");
  body_.Open("tr", {{"class", classes}}).Add(row_).Close("tr").Raw("\n");
  row_ = Html();
  cells_ = 0;
  ++rows_;
  return *this;
}

Html HtmlTable::Finish() const {
  Html out;
  out.Open("div", {{"class", "scroll"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", caption_}});
  out.Open("table", {{"class", classes_}});
  out.Element("caption", caption_).Raw("<thead><tr>");
  for (const Heading& column : columns_) {
    out.Element("th", column.title, {{"scope", "col"}, {"class", column.kind == kNumber ? "n" : ""}});
  }
  return out.Raw("</tr></thead>\n<tbody>\n").Add(body_).Raw("</tbody></table></div>\n");
}

std::string Thousands(int64_t count) {
  std::string digits = std::to_string(count);
  const size_t sign = count < 0 ? 1 : 0;
  for (size_t at = digits.size(); at > sign + 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string CutCounted(std::string_view text, size_t characters) {
  std::string out = Cut(text, characters);
  if (out.size() == text.size() && out == text) return out;
  size_t left = 0;  // code points beyond the cut
  for (size_t i = out.size() - std::string_view("…").size(); i < text.size(); ++i) {
    left += (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
  }
  return out + fmt::format(" ({} more characters)", Thousands(static_cast<int64_t>(left)));
}

}  // namespace warpsmith::cli::report
